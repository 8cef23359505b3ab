"""Pulls of a career corpus (000, 1.5): what is taken, and that an edited draft is kept."""

import json
from dataclasses import replace

import pytest
from corpora import a_corpus, a_file, a_head, a_project, documents, without

from graphmem.corpus.documents import LEGACY, MANIFEST
from graphmem.corpus.pull import decide_pull, kept_name, pull_before_write
from graphmem.corpus.push_result import PushCode
from graphmem.model.corpus import CorpusDraft, Head

EXPERIENCE_FILE = "corpus_experience_exp_1.json"
CLEAN = CorpusDraft(session="default", revision=1, corpus=a_corpus())
EDITED = CorpusDraft(session="default", revision=1, corpus=a_corpus(projects=[]))
NEWER = a_head(2, a_corpus(projects=[a_project(role="dev")]))


def pull(head, draft=CLEAN, **options):
    values = {"base": documents(), "sessions": {"default"}} | options
    return decide_pull(head, draft, **values)


def test_without_a_repository_there_is_nothing_to_pull():
    found = pull(None)

    assert (False, "api_404", PushCode.MEMORY_REPO_NOT_FOUND) == (
        found.ok,
        found.reason,
        found.error_code,
    )


def test_a_repository_without_a_corpus_changes_nothing():
    found = pull(Head(revision=3, documents={"README.md": a_file("README.md", "hi")}))

    assert (True, False, "remote_missing") == (found.ok, found.changed, found.reason)


def test_a_manifest_that_was_seen_changes_nothing_unless_it_is_forced():
    same = pull(a_head())
    forced = pull(a_head(), force=True)

    assert (True, False, "sha_unchanged") == (same.ok, same.changed, same.reason)
    assert (True, True, "pulled") == (forced.ok, forced.changed, forced.reason)


def test_a_newer_revision_takes_the_place_of_a_draft_without_edits():
    found = pull(NEWER)

    assert ("pulled", True, None) == (found.reason, found.changed, found.kept_as)
    assert "dev" == found.corpus["projects"][0]["role"]


@pytest.mark.parametrize(("head", "force"), [(NEWER, False), (a_head(), True)])
def test_an_edited_draft_is_kept_under_a_name_of_its_own(head, force):
    assert "default.kept-1" == pull(head, EDITED, force=force).kept_as


def test_a_first_pull_takes_what_is_there():
    found = pull(a_head(), None, base={})

    assert (a_corpus(), None) == (found.corpus, found.kept_as)


def test_what_is_there_is_taken_without_validating():
    odd = a_corpus(profile={"surplus": 1})

    assert odd == pull(a_head(2, odd)).corpus


def test_a_file_that_is_missing_is_transport_corruption():
    files = without(documents(), EXPERIENCE_FILE)

    found = pull(Head(revision=2, documents=files), force=True)

    assert (False, f"split_file_missing:{EXPERIENCE_FILE}", PushCode.TRANSPORT_CORRUPTION) == (
        found.ok,
        found.reason,
        found.error_code,
    )


def test_a_document_that_is_no_json_is_an_invalid_corpus():
    found = pull(a_head(2, **{MANIFEST: a_file(MANIFEST, "{")}))

    assert (PushCode.CORPUS_INVALID, f"not_json:{MANIFEST}") == (found.error_code, found.reason)


def test_a_corpus_in_one_file_is_pulled():
    legacy = a_file(LEGACY, json.dumps(a_corpus()))
    head = Head(revision=1, documents={LEGACY: legacy})

    assert a_corpus() == pull(head).corpus
    assert "sha_unchanged" == pull(head, base={LEGACY: legacy}).reason


@pytest.mark.parametrize(
    ("session", "sessions", "name"),
    [
        ("default", ["default"], "default.kept-1"),
        ("default", ["default", "default.kept-1", "default.kept-2"], "default.kept-3"),
        ("default", ["default", "default.kept-2"], "default.kept-1"),
        ("default.kept-1", ["default.kept-1"], "default.kept-2"),
        ("a", [], "a.kept-1"),
    ],
)
def test_a_kept_draft_has_the_next_free_name(session, sessions, name):
    assert name == kept_name(session, sessions)


@pytest.mark.parametrize(
    ("draft", "head"),
    [
        (CLEAN, a_head()),
        (EDITED, a_head()),
        (EDITED, NEWER),
        (CLEAN, replace(a_head(), revision=7)),
        (CLEAN, Head()),
    ],
    ids=[
        "of the head",
        "edited",
        "edited, stale",
        "of one that says the same",
        "of an unproved one",
    ],
)
def test_the_pull_before_a_write_is_left_out_where_the_draft_is_fresh(draft, head):
    found = pull_before_write(draft, a_head(), head)

    assert (True, False, "skipped_prewrite_pull_local_fresh") == (
        found.ok,
        found.changed,
        found.reason,
    )


def test_a_write_pulls_first_where_nothing_is_loaded_or_a_clean_draft_is_stale():
    empty = CorpusDraft(session="default", revision=0)

    assert pull_before_write(None, a_head(), a_head()) is None
    assert pull_before_write(CLEAN, a_head(), NEWER) is None
    assert pull_before_write(empty, Head(), a_head()) is None


def test_a_long_name_of_a_session_is_cut_so_that_a_kept_draft_can_be_asked_for():
    name = kept_name("s" * 128, ["s" * 128])

    assert (128, True) == (len(name), name.endswith("s.kept-1"))
    assert f"{'s' * 121}.kept-2" == kept_name("s" * 128, [name])
