"""Approvals and onboarding of a career corpus (000, 1.6)."""

import json
from datetime import timedelta
from time import perf_counter

import pytest
from corpora import CORPORA, NOW, a_corpus, a_project, an_experience, without
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.approvals import (
    all_approved,
    approval_of,
    changed_sections,
    is_dirty,
    section_hash,
    section_hashes,
    section_standings,
    standing,
)
from graphmem.corpus.onboarding import (
    Topic,
    gaps,
    missing,
    next_topic,
    onboarding,
    preview,
    receipt,
    scaffold_for,
)
from graphmem.corpus.scaffold import scaffold_of
from graphmem.corpus.schema import schema_problems
from graphmem.errors import Conflict
from graphmem.model.corpus import SET_BY_SERVICE, Basis, Section

SECTIONS = list(Section)
CONTENT = SECTIONS[:-1]


def with_scaffold(corpus, kept, head):
    return {**corpus, **scaffold_for(corpus, kept, head)}


def yes(corpus, *sections, approved=True, at=NOW):
    return tuple(
        approval_of(
            corpus,
            section,
            shown=section_hash(corpus, section),
            basis=Basis.CURRENT_CHAT,
            approved=approved,
            now=at,
        )
        for section in sections or Section
    )


def test_an_approval_is_of_exactly_the_content_that_was_shown():
    corpus = a_corpus()
    shown = section_hash(corpus, Section.PROFILE)
    edited = a_corpus(profile={"full_name": "Grace"})

    with pytest.raises(Conflict):
        approval_of(
            edited,
            Section.PROFILE,
            shown=shown,
            basis=Basis.UPLOADED_FILE,
            approved=True,
            now=NOW,
        )


def test_a_later_edit_voids_the_approval_of_its_section_alone():
    approvals = yes(a_corpus())
    edited = a_corpus(projects=[a_project(role="dev")])

    assert set(SECTIONS) == set(standing(approvals, a_corpus()))
    assert set(SECTIONS) - {Section.PROJECTS} == set(standing(approvals, edited))


def test_an_approval_can_be_withdrawn_and_given_again():
    corpus = a_corpus()
    given_ = yes(corpus, Section.SKILLS)
    withdrawn = yes(corpus, Section.SKILLS, approved=False, at=NOW + timedelta(seconds=1))
    again = yes(corpus, Section.SKILLS, at=NOW + timedelta(seconds=2))

    assert {} == standing((*given_, *withdrawn), corpus)
    assert {Section.SKILLS: again[0]} == standing((*given_, *withdrawn, *again), corpus)


def test_a_clock_that_goes_wrong_undoes_no_withdrawal():
    given_ = yes(a_corpus(), Section.SKILLS, at=NOW + timedelta(days=1))
    withdrawn = yes(a_corpus(), Section.SKILLS, approved=False)

    assert {} == standing((*given_, *withdrawn), a_corpus())


def test_an_approval_of_what_is_absent_or_empty_counts_for_its_scaffold():
    bare = {"profile": a_corpus()["profile"], "skills": {}, "projects": None}

    found = standing(yes(bare, *Section), with_scaffold(bare, (), None))

    assert set(Section) == set(found)


def test_an_approval_of_an_absent_profile_counts_for_no_profile():
    assert Section.PROFILE not in standing(yes({}, *Section), a_corpus())


@pytest.mark.parametrize("line", ["a" + "-" * 1_000_000 + "b", "-" * 1_000_000, "# " * 500_000])
def test_a_receipt_of_a_long_line_takes_no_longer_than_its_length(line):
    begun = perf_counter()

    assert () == receipt("cv.txt", line).sections_detected
    assert perf_counter() - begun < 2  # a second grew to minutes where it grew with the square


def test_an_approval_of_another_content_does_not_count():
    assert {} == standing(yes(a_corpus(skills={}), Section.SKILLS), a_corpus())


def test_a_draft_says_of_each_section_its_hash_and_since_when_that_is_approved():
    found = section_standings(yes(a_corpus(), Section.SKILLS), a_corpus())

    assert list(Section) == list(found)
    assert section_hashes(a_corpus()) == {key: each.content_sha256 for key, each in found.items()}
    assert {Section.SKILLS: NOW} == {
        key: each.approved_at for key, each in found.items() if each.approved
    }


def test_approvals_add_up_until_all_seven_are_there():
    corpus = a_corpus()

    assert not all_approved(yes(corpus, *SECTIONS[1:]), corpus)
    assert all_approved((*yes(corpus, *SECTIONS[1:]), *yes(corpus, SECTIONS[0])), corpus)


@pytest.mark.parametrize("name", SET_BY_SERVICE)
def test_what_the_service_sets_in_metadata_voids_no_approval(name):
    corpus = a_corpus(metadata=a_corpus()["metadata"] | {name: "another"})

    assert section_hashes(a_corpus()) == section_hashes(corpus)
    assert section_hash(corpus, Section.METADATA) == section_hash({}, Section.METADATA)


def test_anything_else_in_metadata_does():
    corpus = a_corpus(metadata=a_corpus()["metadata"] | {"notes": "x"})

    assert section_hash(a_corpus(), Section.METADATA) != section_hash(corpus, Section.METADATA)


def test_sections_change_where_they_say_something_else_and_blanks_say_nothing():
    assert (Section.PROJECTS,) == changed_sections(a_corpus(), a_corpus(projects=[]))
    assert () == changed_sections(a_corpus(projects=[]), without(a_corpus(), "projects"))
    assert (Section.EXPERIENCE,) == changed_sections(
        a_corpus(experience=[an_experience("a"), an_experience("b")]),
        a_corpus(experience=[an_experience("b"), an_experience("a")]),
    )


def test_a_draft_is_dirty_where_it_says_something_else_than_what_is_there():
    assert not is_dirty(a_corpus(), a_corpus())
    assert is_dirty(a_corpus(), a_corpus(projects=[]))
    assert is_dirty(a_corpus(), a_corpus(schema_version="2.0.0"))
    assert not is_dirty(a_corpus(), without(a_corpus(), "schema_version"))
    assert not is_dirty(None, {"schema_version": "1.0.0", "projects": []})
    assert is_dirty(None, {"profile": {"full_name": "Ada"}})


@given(CORPORA)
def test_no_corpus_differs_from_itself(corpus):
    assert not is_dirty(corpus, json.loads(json.dumps(corpus)))


def test_a_receipt_of_a_document_tells_what_is_in_it_before_anything_is_judged():
    found = receipt("cv.json", a_corpus(projects=[], education=[{}]))

    assert ("cv.json", True) == (found.source, found.read_confirmed)
    assert {
        Section.PROFILE,
        Section.EXPERIENCE,
        Section.SKILLS,
        Section.CERTIFICATIONS,
        Section.METADATA,
    } == set(found.sections_detected)
    assert (Section.PROJECTS, Section.EDUCATION) == found.gaps_detected


def test_a_receipt_of_a_text_tells_its_headings():
    text = "# About me\nI like engines.\n\nWORK EXPERIENCE:\n- Acme\n\n**Technical skills**\nGo"

    found = receipt("cv.md", text)

    assert (Section.PROFILE, Section.EXPERIENCE, Section.SKILLS) == found.sections_detected
    assert (Section.PROJECTS, Section.CERTIFICATIONS, Section.EDUCATION) == found.gaps_detected


def test_words_inside_of_sentences_are_no_headings():
    assert () == receipt("x", "My education was long, and experience short.").sections_detected


def test_a_text_that_is_json_is_read_as_a_document():
    assert (Section.PROFILE,) == receipt(
        "x", json.dumps({"profile": {"full_name": "Ada"}})
    ).sections_detected


@pytest.mark.parametrize("content", ["", "  ", {}])
def test_nothing_to_read_is_not_confirmed(content):
    assert not receipt("x", content).read_confirmed


def test_the_interview_goes_from_the_profile_to_measurable_outcomes():
    corpus = a_corpus(experience=[an_experience(outcomes=[])])
    approved, asked = [], []
    while topic := next_topic(corpus, approved):
        asked.append(topic)
        approved.append(Section.METADATA if topic is Topic.MEASURABLE_OUTCOMES else Section(topic))

    assert [
        *("profile", "experience", "projects", "skills", "certifications", "education"),
        "measurable_outcomes",
    ] == asked


def test_outcomes_are_not_asked_for_where_all_are_told():
    assert Topic.METADATA is next_topic(a_corpus(), CONTENT)
    assert next_topic(a_corpus(), SECTIONS) is None


def test_the_next_section_is_shown_with_the_hash_that_its_approval_takes():
    found = onboarding(a_corpus(), {Section.PROFILE})

    assert Topic.EXPERIENCE is found.next_section
    assert section_hash(a_corpus(), Section.EXPERIENCE) == found.content_sha256
    assert ((), ()) == (found.missing, tuple(path for path in found.gaps if "skills" not in path))


def test_outcomes_have_no_hash_and_the_end_has_nothing_to_show():
    corpus = a_corpus(projects=[a_project(outcomes=[" "])])
    outcomes, end = onboarding(corpus, CONTENT), onboarding(corpus, SECTIONS)

    assert ("measurable_outcomes", None) == (outcomes.next_section, outcomes.content_sha256)
    assert "Measurable outcomes\nNo outcomes yet: projects.0.outcomes" == outcomes.preview
    assert (None, "", None) == (end.next_section, end.preview, end.content_sha256)


def test_gaps_are_the_blank_fields_of_sections_that_say_something():
    corpus = a_corpus(
        profile={"location": "London"},
        experience=[an_experience(title=" ", end_date=None, outcomes=[])],
        projects=[],
        skills={"technical": ["Go"]},
    )

    assert (
        "profile.full_name",
        "experience.0.title",
        "experience.0.outcomes",
        "skills.platforms",
        "skills.methods",
        "skills.domains",
    ) == gaps(corpus)


def test_a_section_is_missing_until_it_says_something_or_its_emptiness_is_approved():
    corpus = a_corpus(projects=[], education=[])

    assert (Section.PROJECTS, Section.EDUCATION) == missing(corpus, ())
    assert (Section.EDUCATION,) == missing(corpus, {Section.PROJECTS})


def test_a_preview_is_plain_text_without_ids():
    corpus = a_corpus(
        profile={
            "full_name": "Ada\nLovelace",
            "links": [{"name": "GitHub", "url": "https://github.com/ada"}],
            "notes": None,
        }
    )

    assert (
        "Profile\n"
        "Full name: Ada Lovelace\n"
        "Links:\n"
        "  1. Name: GitHub\n"
        "     Url: https://github.com/ada"
    ) == preview(corpus, Topic.PROFILE)
    assert (
        "Experience\n"
        "1. Employer: Acme\n"
        "   Title: Engineer\n"
        "   Start date: 2019\n"
        "   End date: 2021-03\n"
        "   Location: London\n"
        "   Bullets:\n"
        "     - Built the engine\n"
        "   Tools:\n"
        "     - Neo4j\n"
        "   Outcomes:\n"
        "     - Halved the cost\n"
        "   Domain tags:\n"
        "     - energy"
    ) == preview(corpus, Topic.EXPERIENCE)


@pytest.mark.parametrize("content", [None, [], [{}], "x", [3, "y"], {"a": [[]]}])
def test_a_preview_of_anything_is_a_text(content):
    assert preview({"projects": content}, Topic.PROJECTS).startswith("Projects\n")


def test_an_empty_section_says_so():
    assert "Projects\nNothing yet." == preview({}, Topic.PROJECTS)


def test_a_partial_corpus_with_scaffold_is_valid():
    partial = with_scaffold(
        {name: a_corpus()[name] for name in ("schema_version", "profile", "metadata")},
        {Section.PROFILE},
        None,
    )

    assert () == schema_problems(partial)
    assert [] == partial["experience"]


def test_sections_that_are_not_kept_are_scaffold_until_the_head_says_something():
    corpus = a_corpus()
    first = with_scaffold(corpus, {Section.PROFILE, Section.SKILLS}, None)
    later = with_scaffold(corpus, {Section.PROFILE}, a_corpus(projects=[]))

    assert corpus["skills"] == first["skills"]
    assert ([], [], []) == (first["experience"], first["certifications"], first["education"])
    assert ([], corpus["experience"]) == (later["projects"], later["experience"])


@pytest.mark.parametrize("section", [Section.PROFILE, Section.METADATA])
def test_a_profile_and_metadata_have_no_scaffold(section):
    with pytest.raises(KeyError):
        scaffold_of(section)


@given(CORPORA, st.sets(st.sampled_from(SECTIONS)))
def test_scaffold_keeps_any_valid_corpus_valid(corpus, kept):
    assert () == schema_problems(with_scaffold(corpus, kept, None))
