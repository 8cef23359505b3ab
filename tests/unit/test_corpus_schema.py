"""The schema of a career corpus (000, 1.3): the same verdicts as the given one, and the bounds."""

import copy
import json
import random
from pathlib import Path

import pytest
from corpora import (
    CORPORA,
    JSON,
    a_certification,
    a_corpus,
    a_project,
    an_education,
    an_experience,
    without,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from graphmem.corpus.documents import canonical_json
from graphmem.corpus.schema import (
    _FORMATS,
    Problem,
    corpus_problems,
    is_moment,
    schema_problems,
    size_problems,
)
from graphmem.model.policy.corpus import CorpusPolicy

GIVEN = Path(__file__).parents[3] / "shared/data/career_corpus/career_corpus.schema.json"
POLICY = CorpusPolicy()


def given_validator():
    if not GIVEN.is_file():
        pytest.skip("The given schema lies in shared/data/career_corpus, which is not here.")
    return Draft202012Validator(json.loads(GIVEN.read_text("utf-8")), format_checker=_FORMATS)


def paths(problems):
    return [problem.path for problem in problems]


def full():
    """A corpus with every field that one can have."""
    return a_corpus(
        profile={
            "full_name": "Ada",
            "location": "London",
            "email": "ada@example.org",
            "phone": "1",
            "links": [{"name": "GitHub", "url": "https://github.com/ada"}],
            "notes": "Likes tea",
        },
        experience=[an_experience(notes=None)],
        projects=[a_project(description="An engine", notes="n")],
        skills=a_corpus()["skills"] | {"notes": "n"},
        certifications=[a_certification(issue_date="2020", notes="n")],
        education=[an_education(field_of_study="Maths", notes="n")],
        metadata=a_corpus()["metadata"]
        | {"onboarding_complete": True, "onboarding_completed_utc": "2026-02-01T08:00:00Z"},
    )


def places(value, place=()):
    """All places in a value, each as the way there."""
    yield place
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for name, each in inner:
        yield from places(each, (*place, name))


def changed(corpus, place, change):
    """A copy of a corpus in which one place is another."""
    corpus = copy.deepcopy(corpus)
    if not place:
        return change(corpus)
    parent = corpus
    for name in place[:-1]:
        parent = parent[name]
    parent[place[-1]] = change(parent[place[-1]])
    return corpus


OTHERS = (None, True, 3, 3.5, 2020.0, "", "text", [], [1], [""], {}, {"x": 1})
PLACES = list(places(full()))


def removed(corpus, place):
    corpus = copy.deepcopy(corpus)
    parent = corpus
    for name in place[:-1]:
        parent = parent[name]
    del parent[place[-1]]
    return corpus


def defects(place):
    """A corpus with one thing wrong at a place: missing, of another type, empty, one too many."""
    if place:
        yield removed(full(), place)
    for other in OTHERS:
        yield changed(full(), place, lambda _, other=other: other)

    def with_more(value):
        return value | {"surplus": 1} if isinstance(value, dict) else value

    yield changed(full(), place, with_more)


def test_a_corpus_with_every_field_has_no_problems():
    assert () == schema_problems(full()) == corpus_problems(full(), POLICY)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)) or "whole")
def test_both_schemas_say_the_same_of_every_single_defect(place):
    validator = given_validator()

    for corpus in defects(place):
        assert validator.is_valid(corpus) == (not schema_problems(corpus)), corpus


def spoilt(corpus, dice):
    """A corpus with up to two places that are another, or not there."""
    for _ in range(dice.randint(0, 2)):
        ways = list(places(corpus))
        place = dice.choice(ways)
        if place and dice.random() < 0.3:
            corpus = removed(corpus, place)
        else:
            other = dice.choice(OTHERS)
            corpus = changed(corpus, place, lambda _, other=other: other)
        if not isinstance(corpus, dict):
            break
    return corpus


@settings(max_examples=100)
@given(CORPORA, st.integers(0, 2**32))
def test_both_schemas_say_the_same_of_2000_documents(corpus, seed):
    validator, dice = given_validator(), random.Random(seed)  # noqa: S311 - no secret

    for _ in range(20):
        document = spoilt(corpus, dice)
        assert validator.is_valid(document) == (not schema_problems(document))


@given(JSON)
def test_any_json_has_a_verdict(value):
    problems = corpus_problems(value, POLICY)

    assert problems
    assert all(each.path and each.message.endswith(".") for each in problems)


def test_all_problems_are_said_at_once_with_their_paths():
    corpus = full() | {"surplus": 1}
    corpus["profile"] |= {"full_name": "", "links": [{"name": "GitHub"}]}
    corpus["experience"][0] |= {"bullets": "one", "end_date": 3}
    corpus["education"] = [without(an_education(), "degree")]
    corpus["metadata"] |= {"source": "chat", "last_updated_utc": "yesterday"}

    assert [
        "education.0.degree",
        "experience.0.bullets",
        "experience.0.end_date",
        "metadata.last_updated_utc",
        "metadata.source",
        "profile.full_name",
        "profile.links.0.url",
        "surplus",
    ] == paths(schema_problems(corpus))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema_version": "1.0"}, ("schema_version", "Must be three numbers with dots")),
        ({"projects": {}}, ("projects", "Must be a list.")),
        ({"education": [3]}, ("education.0", "Must be an object.")),
        ({"profile": {"full_name": "A", "notes": 1}}, ("profile.notes", "Must be a text or null.")),
        ({"x": 1}, ("x", "Is no field of a corpus.")),
    ],
)
def test_a_problem_says_what_a_value_must_be(change, problem):
    (found,) = schema_problems(a_corpus(**change))

    assert problem[0] == found.path
    assert found.message.startswith(problem[1])


def test_problems_keep_their_paths_beside_items_that_were_sound_before():
    sound = [an_experience(f"sound_{number}") for number in range(3)]
    assert () == corpus_problems(a_corpus(experience=sound), POLICY)

    broken = a_corpus(experience=[*sound, an_experience("broken", title=1)])

    assert ["experience.3.title"] == paths(corpus_problems(broken, POLICY))
    assert () == corpus_problems(a_corpus(experience=sound), POLICY)
    again = a_corpus(experience=[*sound, sound[1]])
    assert ["experience.3.id"] == paths(corpus_problems(again, POLICY))


def test_what_is_no_object_is_a_problem_of_the_whole():
    assert (Problem(path="corpus", message="Must be an object."),) == schema_problems([])


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T09:30:00Z",
        "2026-03-01t09:30:00z",
        "2026-03-01T09:30:00.123456789Z",
        "2024-02-29T00:00:00+05:30",
        "2026-03-01T23:59:59-23:59",
    ],
)
def test_a_time_has_a_day_an_hour_and_a_zone(text):
    assert is_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01",
        "2026-03-01T09:30:00",
        "2026-03-01 09:30:00Z",
        "2026-02-29T09:30:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T09:60:00Z",
        "2026-03-01T09:30Z",
        "2026-03-01T09:30:00+24:00",
        "2026-03-01T09:30:00+00:60",
        "٢٠٢٦-03-01T09:30:00Z",
        "2026-03-01T09:30:00Z\n",
        "",
    ],
)
def test_what_is_no_time_is_refused(text):
    assert not is_moment(text)
    assert ("metadata.last_updated_utc",) == tuple(
        paths(
            schema_problems(a_corpus(metadata={"last_updated_utc": text, "source": "onboarding"}))
        )
    )


@pytest.mark.parametrize("version", ["1.0.0\n", "1.0", "v1.0.0", "1.0.0.0", "\u0661.0.0", ""])
def test_a_version_has_three_numbers(version):
    assert ["schema_version"] == paths(schema_problems(a_corpus(schema_version=version)))


def test_500_items_of_a_list_are_taken_and_501_are_too_many():
    many = [an_experience(f"exp_{number}") for number in range(501)]

    assert () == corpus_problems(a_corpus(experience=many[:500]), POLICY)
    assert ["experience"] == paths(corpus_problems(a_corpus(experience=many), POLICY))


def test_the_bound_holds_for_lists_inside_items_too():
    bullets = ["b"] * 501

    found = corpus_problems(a_corpus(experience=[an_experience(bullets=bullets)]), POLICY)

    assert [Problem(path="experience.0.bullets", message="Has more than 500 items.")] == list(found)


def with_bytes(size):
    """A corpus whose experience takes so many bytes in canonical JSON."""
    bare = len(canonical_json(an_experience(title="")))
    return a_corpus(experience=[an_experience(title="x" * (size - bare))])


def test_a_document_of_256_kilobytes_is_taken_and_a_byte_more_is_too_large():
    assert () == corpus_problems(with_bytes(262_144), POLICY)
    assert ["experience.0"] == paths(corpus_problems(with_bytes(262_145), POLICY))


def test_a_corpus_is_bounded_as_a_whole():
    corpus = a_corpus()
    size = sum(
        len(canonical_json(part))
        for name, value in corpus.items()
        for part in (value if name in {"experience", "projects"} else [value])
    )

    assert () == size_problems(corpus, CorpusPolicy(corpus_bytes=size))
    assert ["corpus"] == paths(size_problems(corpus, CorpusPolicy(corpus_bytes=size - 1)))


def test_bytes_count_not_letters():
    corpus = a_corpus(profile={"full_name": "é" * 1_000})

    assert ["profile"] == paths(size_problems(corpus, CorpusPolicy(document_bytes=1_500)))


def test_a_value_that_is_nested_too_deeply_is_only_that():
    deep = []
    for _ in range(2_000):
        deep = [deep]

    assert ["corpus"] == paths(corpus_problems(a_corpus(profile=deep), POLICY))


def test_two_items_of_one_id_are_a_problem_of_the_second():
    twins = [a_project("one"), a_project("two"), a_project("one")]

    assert ["projects.2.id"] == paths(corpus_problems(a_corpus(projects=twins), POLICY))
    assert () == corpus_problems(
        a_corpus(projects=[a_project("one")], experience=[an_experience("one")]), POLICY
    )


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_text_that_no_store_can_hold_is_a_problem(text):
    corpus = a_corpus(profile={"full_name": text})

    assert ["profile.full_name"] == paths(corpus_problems(corpus, POLICY))
