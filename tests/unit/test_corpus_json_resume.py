"""The form of a career corpus that other tools read."""

import json

import pytest
from corpora import (
    CORPORA,
    a_certification,
    a_corpus,
    a_project,
    an_education,
    an_experience,
)
from hypothesis import given

from graphmem.corpus.json_resume import json_resume


def test_a_corpus_is_a_json_resume():
    corpus = a_corpus(
        profile={
            "full_name": "Ada Lovelace",
            "location": "London",
            "email": "ada@example.org",
            "phone": "123",
            "links": [{"name": "GitHub", "url": "https://github.com/ada"}],
            "notes": "Likes tea",
        },
        experience=[an_experience(notes="Good", start_date="Mar 2019", end_date="2021-03")],
        projects=[a_project(description="An engine")],
        certifications=[a_certification(issue_date="2020")],
        education=[an_education(field_of_study="Maths")],
    )

    found = json_resume(corpus)

    assert {
        "name": "Ada Lovelace",
        "email": "ada@example.org",
        "phone": "123",
        "summary": "Likes tea",
        "location": {"address": "London"},
        "profiles": [{"network": "GitHub", "url": "https://github.com/ada"}],
    } == found["basics"]
    assert [
        {
            "name": "Acme",
            "position": "Engineer",
            "location": "London",
            "startDate": "2019-03",
            "endDate": "2021-03",
            "summary": "Good",
            "highlights": ["Built the engine", "Halved the cost"],
            "keywords": ["Neo4j", "energy"],
        }
    ] == found["work"]
    assert [
        {
            "name": "Apollo",
            "description": "An engine",
            "roles": ["lead"],
            "keywords": ["Python"],
            "highlights": ["Shipped"],
        }
    ] == found["projects"]
    assert [{"name": "Technical", "keywords": ["Python"]}] == found["skills"]
    assert [{"name": "Graph Data", "issuer": "Neo4j", "date": "2020"}] == found["certificates"]
    assert [
        {"institution": "Cambridge", "studyType": "BSc", "area": "Maths", "endDate": "2014"}
    ] == found["education"]
    assert {"version": "v1.0.0", "lastModified": "2026-02-01T08:00:00Z"} == found["meta"]


@pytest.mark.parametrize("end", [None, "present", "soon"])
def test_what_goes_on_or_is_not_read_has_no_end(end):
    (work,) = json_resume(a_corpus(experience=[an_experience(end_date=end)]))["work"]

    assert "endDate" not in work
    assert "2019" == work["startDate"]


def test_blanks_are_left_out():
    found = json_resume(a_corpus(profile={"full_name": "Ada", "location": " "}))

    assert {"name": "Ada"} == found["basics"]


@given(CORPORA)
def test_any_corpus_has_such_a_form(corpus):
    assert json.loads(json.dumps(json_resume(corpus)))["basics"]["name"]
