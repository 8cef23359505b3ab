"""Memories of a career corpus: what it should have, and what a revision changes of them."""

from datetime import UTC, datetime

import pytest
from corpora import (
    CORPORA,
    a_certification,
    a_corpus,
    a_project,
    an_education,
    an_experience,
    documents,
    without,
)
from hypothesis import given

from graphmem.corpus.facts import corpus_memories, declared_entities
from graphmem.corpus.memory_changes import memory_changes
from graphmem.model.corpus import PresentMemory
from graphmem.model.memory import MemoryType
from graphmem.model.policy.corpus import CorpusPolicy

POLICY = CorpusPolicy()
EXPERIENCE_FILE = "corpus_experience_exp_1.json"


def memories(policy=POLICY, **changes):
    corpus = a_corpus(**changes)
    return corpus_memories(corpus, documents(corpus), policy)


def said(found, path=None):
    return [each.content for each in found if path in {None, each.path}]


def only(found, content):
    (one,) = (each for each in found if each.content == content)
    return one


def day(year, month=1):
    return datetime(year, month, 1, tzinfo=UTC)


def test_a_corpus_is_told_by_memories_of_all_its_sections():
    assert [
        "Name: Ada Lovelace",
        "Location: London",
        "Engineer at Acme in London, from 2019 to 2021-03. Tools: Neo4j. Domains: energy.",
        "Built the engine",
        "Halved the cost",
        "Project Apollo (lead). Stack: Python.",
        "Shipped",
        "Technical skill: Python",
        "Certification Graph Data by Neo4j. Status: active.",
        "BSc at Cambridge. Graduation: 2014.",
    ] == said(memories())


@pytest.mark.parametrize(
    ("content", "type_"),
    [
        ("Name: Ada Lovelace", MemoryType.IDENTITY),
        ("Technical skill: Python", MemoryType.IDENTITY),
        ("Built the engine", MemoryType.FACT),
        ("Project Apollo (lead). Stack: Python.", MemoryType.FACT),
        ("Certification Graph Data by Neo4j. Status: active.", MemoryType.FACT),
        ("BSc at Cambridge. Graduation: 2014.", MemoryType.FACT),
    ],
)
def test_who_somebody_is_and_can_do_is_identity_and_the_rest_are_facts(content, type_):
    assert type_ is only(memories(), content).type


def test_an_experience_holds_while_its_dates_say_and_so_do_its_parts():
    for content in ("Built the engine", "Halved the cost"):
        part = only(memories(), content)
        assert (day(2019), day(2021, 4)) == (part.valid_from, part.valid_until)
        assert f"{EXPERIENCE_FILE}#experience" == part.part_of
    present = memories(experience=[an_experience(start_date="Mar 2020", end_date="present")])
    unread = memories(experience=[an_experience(start_date="long ago", end_date=None)])
    assert (day(2020, 3), None) == (present[2].valid_from, present[2].valid_until)
    assert (None, None) == (unread[2].valid_from, unread[2].valid_until)


def test_what_has_no_dates_is_open():
    for found in memories():
        if found.path != EXPERIENCE_FILE:
            assert (None, None) == (found.valid_from, found.valid_until)


def test_outcomes_and_notes_of_a_project_are_parts_of_it():
    found = memories(projects=[a_project(notes="Fun", outcomes=["Shipped", " ", "Sold"])])
    parts = [each.content for each in found if each.path == "corpus_project_proj_1.json"]

    assert ["Project Apollo (lead). Stack: Python.", "Shipped", "Sold", "Fun"] == parts
    assert "corpus_project_proj_1.json#project" == only(found, "Sold").part_of


def test_mail_and_phone_are_told_only_where_the_policy_says_so():
    profile = {"full_name": "Ada", "email": "ada@example.org", "phone": "123"}

    assert ["Name: Ada"] == said(memories(profile=profile), "corpus_profile.json")
    assert ["Name: Ada", "Email: ada@example.org", "Phone: 123"] == said(
        memories(CorpusPolicy(contact_memories=True), profile=profile), "corpus_profile.json"
    )


def test_links_and_notes_of_the_profile_are_told():
    links = [{"name": "GitHub", "url": "https://github.com/ada"}]
    profile = {"full_name": "Ada", "links": links, "notes": "Likes tea"}

    assert ["Name: Ada", "Notes: Likes tea", "GitHub: https://github.com/ada"] == said(
        memories(profile=profile), "corpus_profile.json"
    )


def test_a_key_is_the_path_and_field_that_a_memory_stands_in():
    found = only(memories(), "BSc at Cambridge. Graduation: 2014.")

    assert "corpus_education.json#edu_1" == found.key
    assert {"path": "corpus_education.json", "field": "edu_1", "digest": found.digest} == (
        found.native
    )


def test_entries_of_lists_keep_their_keys_wherever_they_stand():
    before = memories(experience=[an_experience(bullets=["A", "B"])])
    after = memories(experience=[an_experience(bullets=["C", "B", "A"])])

    assert only(before, "A").key == only(after, "A").key
    assert only(before, "B").digest == only(after, "B").digest


def test_an_entry_that_is_there_twice_is_one_memory():
    found = memories(experience=[an_experience(bullets=["A", "A"], outcomes=["A"])])

    assert 2 == said(found).count("A")
    assert len(found) == len({each.key for each in found})


def entities(found, content):
    return [each.key for each in only(found, content).entities]


def test_employers_institutions_projects_and_tools_are_declared():
    found = memories(skills=a_corpus()["skills"] | {"platforms": ["Linux"], "methods": ["Scrum"]})

    assert ["org:acme", "tool:neo4j"] == entities(
        found, "Engineer at Acme in London, from 2019 to 2021-03. Tools: Neo4j. Domains: energy."
    )
    assert ["org:acme"] == entities(found, "Built the engine")
    assert ["project:apollo", "tool:python"] == entities(
        found, "Project Apollo (lead). Stack: Python."
    )
    assert ["tool:linux"] == entities(found, "Platform: Linux")
    assert [] == entities(found, "Method: Scrum")
    assert [
        *("org:acme", "org:cambridge", "org:neo4j", "project:apollo"),
        *("tool:linux", "tool:neo4j", "tool:python"),
    ] == [each.key for each in declared_entities(found)]


def test_names_that_differ_by_signs_are_different_tools():
    found = memories(skills=a_corpus()["skills"] | {"technical": ["C", "C++", "C#"]})

    assert {"tool:c", "tool:c__plus__plus", "tool:c__sharp"} <= {
        each.key for each in declared_entities(found)
    }


@pytest.mark.parametrize("name", ["", "  ", "...", "x" * 5_000])
def test_a_name_that_can_be_no_key_declares_nothing(name):
    found = memories(experience=[an_experience(employer=name, tools=[], bullets=["A"])])

    assert () == only(found, "A").entities


@pytest.mark.parametrize(("count", "kept"), [(15, 16), (16, 16), (40, 16)])
def test_a_memory_mentions_16_entities_at_most(count, kept):
    tools = [f"tool {number}" for number in range(count)]

    assert kept == len(memories(experience=[an_experience(tools=tools)])[2].entities)


def test_a_text_that_is_too_long_is_shortened_in_its_memory_alone():
    long = "word " * 40
    limit = CorpusPolicy(content_chars=100)
    exact = CorpusPolicy(content_chars=len(long.strip()))
    found = memories(limit, experience=[an_experience(bullets=[long.strip()])])
    whole = memories(exact, experience=[an_experience(bullets=[long.strip()])])

    assert len(said(found, EXPERIENCE_FILE)[1]) <= 100
    assert said(found, EXPERIENCE_FILE)[1].endswith("word…")
    assert long.strip() == said(whole, EXPERIENCE_FILE)[1]


def test_scaffold_and_blanks_are_no_memories():
    empty = {"technical": [], "platforms": [" "], "methods": [], "domains": []}
    found = memories(
        profile={"full_name": "Ada", "location": " "},
        experience=[],
        projects=[a_project(name="", role=" ", stack=[])],
        skills=empty,
        certifications=[a_certification(name=" ")],
        education=[an_education(degree="", institution="")],
    )

    assert ["Name: Ada"] == said(found)


@pytest.mark.parametrize(
    ("changes", "content"),
    [
        ({"location": ""}, "Engineer at Acme, from 2019 to 2021-03."),
        ({"employer": ""}, "Engineer in London, from 2019 to 2021-03."),
        ({"end_date": None}, "Engineer at Acme in London, from 2019 to present."),
        ({"end_date": ""}, "Engineer at Acme in London, from 2019."),
        ({"start_date": "", "end_date": None}, "Engineer at Acme in London."),
        ({"title": "", "location": ""}, "at Acme, from 2019 to 2021-03."),
        ({"title": "", "employer": "", "location": ""}, "from 2019 to 2021-03."),
        ({"start_date": "", "end_date": "2020"}, "Engineer at Acme in London, until 2020."),
    ],
)
def test_an_experience_is_told_by_what_there_is(changes, content):
    bare = {"tools": [], "domain_tags": [], "bullets": [], "outcomes": []}

    assert [content] == said(
        memories(experience=[an_experience(**(bare | changes))]), EXPERIENCE_FILE
    )


def test_certifications_and_education_are_told_by_what_there_is():
    found = memories(
        certifications=[a_certification(issue_date="Mar 2020", notes="Hard!", status="")],
        education=[an_education(field_of_study="Maths", graduation_year="")],
    )

    assert "Certification Graph Data by Neo4j. Issued Mar 2020. Hard!" in said(found)
    assert "BSc in Maths at Cambridge." in said(found)


def test_an_item_of_the_one_file_of_earlier_times_needs_no_id():
    corpus = a_corpus(
        experience=[without(an_experience(), "id")], education=[without(an_education(), "id")]
    )
    found = corpus_memories(corpus, {}, POLICY)

    assert len(found) == len({each.key for each in found})
    assert "career_corpus.json" == only(found, "Built the engine").path


def present(found, **changes):
    return [
        PresentMemory(key=each.key, uid=f"m-{number}", digest=each.digest, **changes)
        for number, each in enumerate(found)
    ]


@given(CORPORA)
def test_the_same_content_writes_nothing(corpus):
    found = corpus_memories(corpus, documents(corpus), POLICY)

    changes = memory_changes(found, present(found))

    assert changes.is_empty
    assert len(found) == len(changes.same)


@given(CORPORA, CORPORA)
def test_changes_lead_from_any_corpus_to_any_other(one, other):
    before = corpus_memories(one, documents(one), POLICY)
    after = corpus_memories(other, documents(other), POLICY)
    there = present(before)

    found = memory_changes(after, there)

    left = {each.uid: each for each in there if each.uid not in found.removed}
    keys = {left[uid].key: uid for uid in left}
    assert {each.key for each in after} == keys.keys() | {each.key for each in found.new}
    assert {uid for uid, _ in found.changed} | set(found.same) == set(left)


def test_a_changed_item_is_revised_and_its_parts_stay():
    before = memories()
    after = memories(experience=[an_experience(title="Chief")])

    found = memory_changes(after, present(before))

    ((uid, chief),) = found.changed
    assert ("m-2", True) == (uid, chief.content.startswith("Chief at Acme"))
    assert ((), ()) == (found.new, found.removed)


def test_another_interval_alone_revises_the_item_and_its_parts():
    after = memories(experience=[an_experience(end_date="2021")])

    assert ["m-2", "m-3", "m-4"] == [
        uid for uid, _ in memory_changes(after, present(memories())).changed
    ]


def test_a_removed_item_takes_its_memories_along():
    found = memory_changes(memories(experience=[]), present(memories()))

    assert ("m-2", "m-3", "m-4") == found.removed
    assert (10 - 3) == len(found.same)


def test_what_was_retracted_stays_away_until_its_item_changes():
    there = present(memories(), is_retracted=True)

    assert memory_changes(memories(), there).is_empty
    changed = memory_changes(memories(experience=[an_experience(title="Chief")]), there).changed
    assert ["m-2"] == [uid for uid, _ in changed]


def test_what_was_retracted_is_not_removed_again():
    assert () == memory_changes((), present(memories(), is_retracted=True)).removed
