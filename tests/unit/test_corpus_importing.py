"""Files of a career corpus that come from outside: what is taken, and what is refused by name."""

import json

import pytest
from corpora import (
    CORPORA,
    NOW,
    a_corpus,
    an_education,
    an_experience,
    documents,
    hex_ids,
    without,
)
from hypothesis import given

from graphmem.corpus.importing import (
    GivenRevision,
    check_history,
    corpus_of,
    documents_of,
    files_of,
)
from graphmem.corpus.schema import depth_problem
from graphmem.errors import InvalidInput
from graphmem.model.policy.corpus import CorpusPolicy

POLICY = CorpusPolicy()


def texts(corpus=None):
    return {path: each.text for path, each in documents(corpus).items()}


def refused(call, *args):
    with pytest.raises(InvalidInput) as refusal:
        call(*args)
    return list(refusal.value.fields)


@given(CORPORA)
def test_files_of_any_corpus_are_taken_as_they_are(corpus):
    files = files_of(texts(corpus), POLICY)

    assert documents(corpus) == files
    assert corpus == corpus_of(files)


@pytest.mark.parametrize(
    "path",
    [
        *("../x.json", "a/../../b", "/etc/x", "a\\b", "", "a\nb", "~/x", "a//b", "a/", "./a"),
        *(".git/config", "a/.GIT/hooks/x", ".gitignore", "GIT~1/config", "é" * 128, "a/\u200b.git"),
    ],
)
def test_a_file_that_could_lie_outside_its_folder_is_refused(path):
    assert [f"files.{path}"] == refused(files_of, {path: "{}"}, POLICY)


@pytest.mark.parametrize("path", ["README.md", "docs/notes.txt", "a.b/c", "é.json"])
def test_other_files_are_taken_along(path):
    assert "hi" == files_of({path: "hi"}, POLICY)[path].text


def test_text_that_no_store_can_hold_is_refused():
    assert ["files.a"] == refused(files_of, {"a": "x\x00", "b": "y"}, POLICY)


def test_a_file_of_the_largest_size_is_taken_and_a_byte_more_is_refused():
    small = CorpusPolicy(document_bytes=4, corpus_bytes=6)

    assert files_of({"a": "éé"}, small)
    assert ["files.a"] == refused(files_of, {"a": "ééx"}, small)
    assert files_of({"a": "éé", "b": "é"}, small)
    assert ["files"] == refused(files_of, {"a": "éé", "b": "éx"}, small)


def test_what_is_broken_is_taken_into_a_repository_and_named_for_a_draft():
    broken = texts() | {"corpus_skills.json": "[]", "corpus_profile.json": "{"}
    files = files_of(without(broken, "corpus_experience_exp_1.json"), POLICY)

    assert [
        "files.corpus_experience_exp_1.json",
        "files.corpus_profile.json",
        "files.corpus_skills.json",
    ] == refused(corpus_of, files)


def test_files_without_a_corpus_are_no_draft():
    assert ["files"] == refused(corpus_of, files_of({"README.md": "hi"}, POLICY))


def test_a_corpus_in_one_file_is_taken():
    files = files_of({"career_corpus.json": json.dumps(a_corpus())}, POLICY)

    assert a_corpus() == corpus_of(files)


def test_the_form_of_a_corpus_is_looked_at_later():
    odd = a_corpus(profile={"surplus": 1})

    assert odd == corpus_of(files_of(texts(odd), POLICY))


def test_a_draft_takes_no_value_that_is_nested_too_deeply():
    deep = {}
    for _ in range(40):
        deep = {"a": deep}

    assert "corpus" == depth_problem(deep).path
    assert depth_problem(a_corpus()) is None


def test_a_file_cannot_be_the_folder_of_another():
    assert ["files.a"] == refused(files_of, {"a": "x", "a/b": "y", "ab": "z"}, POLICY)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"experience": [an_experience("a"), an_experience("a")]}, "experience.1.id"),
        ({"experience": ["text"]}, "experience.0"),
        ({"projects": {"a": 1}}, "projects"),
        ({"hobbies": ["chess"]}, "hobbies"),
        ({"education": [an_education(5)]}, "education.0.id"),
        ({"profile": {"\ud800": 1}}, "profile.\ud800"),
        ({"profile": {"full_name": float("inf")}}, "profile.full_name"),
    ],
)
def test_a_corpus_that_documents_cannot_hold_is_refused_by_its_places(changes, path):
    with pytest.raises(InvalidInput) as refusal:
        documents_of(a_corpus(**changes), POLICY, new_id=hex_ids(), now=NOW)

    assert [path] == list(refusal.value.fields)


def test_a_corpus_that_is_not_valid_is_held_by_documents_all_the_same():
    odd = a_corpus(profile={"surplus": 1}, skills=[])

    assert odd == corpus_of(documents_of(odd, POLICY, new_id=hex_ids(), now=NOW))


def test_no_revision_of_a_history_leaves_out_the_corpus():
    bare, full = (GivenRevision(files=files) for files in ({}, documents()))

    check_history([bare, full, full])
    assert ["commits.3"] == refused(check_history, [bare, full, bare])
    assert ["commits"] == refused(check_history, [])
