"""Normalisation of a career corpus (000, 1.3), its summary, and what notes may not say."""

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
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.normalise import (
    ambiguous_fields,
    counts,
    detected_sections,
    links_without_url,
    normalised,
    site_name,
    summary,
)
from graphmem.corpus.notes_policy import notes_problems, spoken_of
from graphmem.corpus.schema import schema_problems
from graphmem.model.corpus import Section


def links(*given, **options):
    return normalised({"profile": {"links": list(given)}}, **options)["profile"]["links"]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("Blog: ada.example.org", {"name": "Blog", "url": "ada.example.org"}),
        ("Blog: https://ada.org/x", {"name": "Blog", "url": "https://ada.org/x"}),
        ("https://github.com/ada", {"name": "GitHub", "url": "https://github.com/ada"}),
        ("HTTP://linkedin.com/in/a", {"name": "LinkedIn", "url": "HTTP://linkedin.com/in/a"}),
        (
            "https://stackoverflow.com/users/1",
            {"name": "Stack Overflow", "url": "https://stackoverflow.com/users/1"},
        ),
        ("https://ada.org", {"name": "Website", "url": "https://ada.org"}),
        ("github.com/ada", {"name": "GitHub", "url": "github.com/ada"}),
        (" : x", {"name": "Website", "url": ": x"}),
    ],
)
def test_a_link_that_is_a_text_becomes_a_name_with_an_address(text, link):
    assert [link] == links(text)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ({"name": "Me", "link": "x.org"}, {"name": "Me", "url": "x.org"}),
        ({"name": "Me", "url": "", "link": "x.org"}, {"name": "Me", "url": "x.org"}),
        ({"name": "Me", "url": "y.org", "link": "x.org"}, {"name": "Me", "url": "y.org"}),
        (
            {"url": "https://www.github.com/a"},
            {"name": "GitHub", "url": "https://www.github.com/a"},
        ),
        ({"name": " ", "url": "x.org"}, {"name": "Website", "url": "x.org"}),
    ],
)
def test_a_link_is_read_as_url_and_named_by_its_host(link, expected):
    assert [expected] == links(link)


@pytest.mark.parametrize("link", ["", "  ", {}, {"name": "Me"}, {"name": "Me", "url": " "}])
def test_a_link_without_an_address_is_dropped(link):
    assert ["Website"] == [each["name"] for each in links(link, "x.org")]


def test_a_draft_keeps_a_link_that_has_a_name_alone_so_that_the_schema_names_it():
    assert [{"name": "Me"}] == links({"name": "Me"}, {}, "", drops_links=False)
    assert ["profile.links.1.url"] == [
        each.path
        for each in links_without_url({"profile": {"links": ["x.org", {"name": "Me"}, {}]}})
    ]


@pytest.mark.parametrize("link", [3, None, ["x"], {"name": 3, "url": "x", "more": 1}])
def test_a_link_of_no_known_form_stays_for_the_schema(link):
    corpus = a_corpus(profile={"full_name": "Ada", "links": [link]})

    assert schema_problems(normalised(corpus))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://gist.github.com/a", "GitHub"),
        ("https://notgithub.com", "Website"),
        ("https://github.com.evil.org", "Website"),
        ("http://[broken", "Website"),
    ],
)
def test_a_site_is_known_by_its_host_alone(url, name):
    assert name == site_name(url)


def test_blank_notes_become_null_and_others_stay():
    found = normalised(
        a_corpus(
            profile={"full_name": "Ada", "notes": " "},
            experience=[an_experience(notes=""), an_experience("exp_2", notes="Led")],
            skills=a_corpus()["skills"] | {"notes": "\n"},
        )
    )

    assert found["profile"]["notes"] is None
    assert [None, "Led"] == [each["notes"] for each in found["experience"]]
    assert found["skills"]["notes"] is None
    assert "notes" not in found["projects"][0]


@pytest.mark.parametrize(
    ("profile", "notes", "expected"),
    [
        ({"notes": "Tea"}, "Coffee", {"notes": "Tea | Coffee"}),
        ({"notes": " "}, "Coffee", {"notes": "Coffee"}),
        ({}, "Coffee", {"notes": "Coffee"}),
        ({"notes": "Tea"}, " ", {"notes": "Tea"}),
        ({"notes": "Tea"}, None, {"notes": "Tea"}),
    ],
)
def test_notes_of_the_whole_are_put_behind_those_of_the_profile(profile, notes, expected):
    assert {"profile": expected} == normalised({"profile": profile, "notes": notes})


def test_notes_of_the_whole_make_a_profile_where_there_is_none():
    assert {"profile": {"notes": "Tea"}} == normalised({"notes": "Tea"})


@pytest.mark.parametrize("document", [{"notes": 3}, {"profile": 3, "notes": "Tea"}])
def test_notes_that_cannot_be_joined_stay_for_the_schema(document):
    assert document == normalised(document)


def test_metadata_has_no_notes():
    assert {"metadata": {"source": "onboarding"}} == normalised(
        {"metadata": {"source": "onboarding", "notes": "x"}}
    )


@given(st.one_of(CORPORA, st.dictionaries(st.text(max_size=5), JSON, max_size=4)))
def test_what_is_normalised_stays_as_it_is(document):
    once = normalised(document)

    assert once == normalised(once)


@given(CORPORA)
def test_a_valid_corpus_is_valid_once_it_is_normalised(corpus):
    assert () == schema_problems(normalised(corpus))


def test_a_summary_counts_items_and_technical_skills():
    corpus = a_corpus(experience=[an_experience(), an_experience("exp_2")], education=[])

    assert {
        "experience": 2,
        "projects": 1,
        "certifications": 1,
        "education": 0,
        "skills.technical": 1,
    } == counts(corpus)
    assert 0 == sum(counts({"skills": 3, "projects": "x"}).values())


def test_sections_are_detected_where_they_say_something():
    corpus = a_corpus(projects=[], skills={"technical": [" "]}, education=[{"degree": ""}])

    assert (
        Section.PROFILE,
        Section.EXPERIENCE,
        Section.CERTIFICATIONS,
        Section.METADATA,
    ) == detected_sections(corpus)


def test_a_person_has_to_look_at_what_is_not_clear():
    document = a_corpus(
        profile={"full_name": "Ada", "links": [{"name": "Me"}], "mail": "x"},
        experience=[an_experience(start_date="Spring 2019", end_date="present", employer="")],
        projects=[a_project(name=" ")],
        certifications=[a_certification(issue_date="last year")],
        education=[an_education(graduation_year="soon", degree=None)],
        hobbies=[],
    )

    assert (
        "certifications.0.issue_date",
        "education.0.degree",
        "education.0.graduation_year",
        "experience.0.employer",
        "experience.0.start_date",
        "hobbies",
        "profile.links.0.url",
        "profile.mail",
        "projects.0.name",
    ) == ambiguous_fields(document)
    assert () == ambiguous_fields(a_corpus())


def test_a_summary_holds_the_document_in_its_one_form():
    found = summary({"profile": {"full_name": "Ada", "links": ["x.org"]}, "notes": "Tea"})

    assert {
        "profile": {
            "full_name": "Ada",
            "links": [{"name": "Website", "url": "x.org"}],
            "notes": "Tea",
        }
    } == found.document
    assert (Section.PROFILE,) == found.detected_sections


WORDS = (
    "source upload uploaded onboarding persisted committed branch commit sha blob tree ref".split()
)


@pytest.mark.parametrize("word", [*WORDS, "current chat", "from chat", "manual import"])
def test_notes_may_not_speak_of_how_a_corpus_is_kept(word):
    assert word == spoken_of(f"Told ({word.upper()})!")
    assert spoken_of(f"Told x{word}") is None
    assert spoken_of(f"Told {word}s") is None


def test_two_words_count_over_any_blanks():
    assert "current chat" == spoken_of("from the current\n chat")
    assert spoken_of("current, chat") is None


@pytest.mark.parametrize(
    "notes", ["Sourced locally", "Committee work", "Reforested trees", "Resources", "référence", ""]
)
def test_other_words_are_content(notes):
    assert spoken_of(notes) is None


def test_every_note_is_looked_at_and_named_by_its_path():
    corpus = a_corpus(
        profile={"full_name": "Ada", "notes": "from the upload"},
        experience=[an_experience(), an_experience("exp_2", notes="commit 3")],
        projects=[a_project(notes="a tree")],
        skills=a_corpus()["skills"] | {"notes": "sha"},
        certifications=[a_certification(notes="ref")],
        education=[an_education(notes="blob")],
    )

    assert {
        "profile.notes",
        "experience.1.notes",
        "projects.0.notes",
        "skills.notes",
        "certifications.0.notes",
        "education.0.notes",
    } == {problem.path for problem in notes_problems(corpus)}
    assert 'Notes hold content only, not "upload".' == notes_problems(corpus)[0].message


def test_words_outside_of_notes_are_content():
    assert () == notes_problems(a_corpus(experience=[an_experience(bullets=["Commit to a tree"])]))
    assert () == notes_problems(a_corpus(experience=[without(an_experience(notes=3), "id")]))
