"""Rules engine: what is read of turns without any model."""

from pathlib import Path

import pytest
from builders import ADA, NOW

from graphmem.lifecycle.categories import category_of
from graphmem.lifecycle.entity_matching import MatchedBy, match, named_key
from graphmem.lifecycle.rules_engine import read
from graphmem.model.conversation import TurnRole
from graphmem.model.entity import Entity
from graphmem.model.extraction import Category, Heard, Named
from graphmem.text.confidence import confidence_of
from graphmem.text.named_things import candidate_names

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "sentences"


def heard(content: str, role: TurnRole = TurnRole.USER, actor: str | None = "Ada") -> Heard:
    return Heard(uid="t-1", role=role, content=content, at=NOW, actor=actor)


def categories(name: str) -> list[Category | None]:
    return [category_of(line) for line in (SENTENCES / name).read_text("utf-8").splitlines()]


def test_85_of_100_sentences_have_the_right_category():
    found = [(each, got) for each in Category for got in categories(f"{each}.txt")]

    assert 300 == len(found)
    assert 0.85 <= sum(each is got for each, got in found) / 300


def test_at_most_5_of_100_sentences_of_small_talk_are_facts():
    found = categories("small_talk.txt")

    assert 100 == len(found)
    assert 5 >= sum(each is not None for each in found)


def test_each_sentence_of_a_user_is_a_fact_of_its_turn():
    found = read([heard("I work at Siemens. Thanks a lot! I prefer tea over coffee.")], {})

    assert [
        (Category.RELATIONSHIP, "I work at Siemens.", ("t-1",)),
        (Category.PREFERENCE, "I prefer tea over coffee.", ("t-1",)),
    ] == [(each.category, each.content, each.turns) for each in found.statements]


@pytest.mark.parametrize("role", [TurnRole.ASSISTANT, TurnRole.SYSTEM, TurnRole.TOOL])
def test_what_others_say_never_becomes_a_fact_of_the_user(role):
    assert () == read([heard("I work at Siemens.", role)], {}).statements


@pytest.mark.parametrize(
    ("sentence", "confidence"),
    [
        ("I live in Lyon.", 0.95),
        ("The server has 64 GB of memory.", 0.8),
        ("I think I prefer tea.", 0.6),
        ("Maybe we should try Redis someday.", 0.35),
    ],
)
def test_confidence_follows_from_the_wording(sentence, confidence):
    assert confidence == confidence_of(sentence)


def test_names_get_their_kinds_from_the_words_around_them():
    found = read([heard("I work at Siemens and I live in Lyon. My sister Nora uses Figma.")], {})

    assert {
        ("Siemens", "company"),
        ("Lyon", "place"),
        ("Nora", "person"),
        ("Figma", "tool"),
        ("Ada", "person"),
    } == {(each.name, each.type) for each in found.entities}


def test_relationships_are_read_from_verbs_and_from_kin():
    found = read([heard("My sister Nora is married to Tom Baker. I work at Siemens.")], {})

    assert [
        ("Nora", "married_to", "Tom Baker"),
        ("Nora", "sister_of", "Ada"),
        ("Ada", "works_at", "Siemens"),
    ] == [(each.source.name, each.label, each.target.name) for each in found.relationships]


def test_a_speaker_without_a_name_stands_in_no_relationship():
    assert () == read([heard("I work at Siemens.", actor=None)], {}).relationships


def test_a_known_name_is_found_however_it_is_spelled():
    found = read([heard("i always order at acme corp these days")], {"acme corp": "company"})

    assert [Named(name="acme corp", type="company")] == list(found.statements[0].entities)


def test_weekdays_languages_and_first_words_are_no_names():
    found = read([heard("Yesterday we hiked up there. I speak French on Mondays.")], {})

    assert () == found.entities


def test_hashtags_are_tags():
    assert ("work",) == read([heard("I always start early #Work")], {}).statements[0].tags


def test_candidate_names_are_the_texts_of_up_to_four_words():
    assert ["Acme", "Corp", "Acme Corp"] == candidate_names("Acme Corp")


def an_entity(key: str, label: str, *aliases: str) -> Entity:
    return Entity(key=key, space=ADA.key, label=label, aliases=aliases)


@pytest.mark.parametrize(
    ("name", "known", "how"),
    [
        ("Jane Doe", an_entity("person:jane_doe", "Jane Doe"), MatchedBy.EQUAL),
        ("JaneDoe", an_entity("person:jane_doe", "Jane Doe"), MatchedBy.WITHOUT_SEPARATORS),
        ("Janey", an_entity("person:jane_doe", "Jane Doe", "janey"), MatchedBy.ALIAS),
        ("Anja", an_entity("person:anna", "Anna"), MatchedBy.NEW),
        ("Jane", an_entity("place:jane", "Jane"), MatchedBy.NEW),
    ],
)
def test_equal_names_and_aliases_of_one_type_match(name, known, how):
    found = match(Named(name=name, type="person"), [known], {}, is_near=False)

    assert found is not None
    assert how is found.matched_by


@pytest.mark.parametrize(
    ("name", "others", "how"),
    [
        ("Jon Smith", ["John Smith"], MatchedBy.NEARLY_EQUAL),
        ("Katharina Schm", ["Katharina Schmidt"], MatchedBy.CONTAINED),
        ("Anja", ["Anna", "Anya"], MatchedBy.NEW),
        ("C++", ["C"], MatchedBy.NEW),
    ],
)
def test_near_names_match_only_where_the_policy_says_so_and_one_is_near(name, others, how):
    known = [an_entity(f"person:{other.lower().replace(' ', '_')}", other) for other in others]
    near = match(Named(name=name, type="person"), known, {}, is_near=True)
    plain = match(Named(name=name, type="person"), known, {}, is_near=False)

    assert near is not None
    assert plain is not None
    assert (how, MatchedBy.NEW) == (near.matched_by, plain.matched_by)


def test_keys_have_the_form_of_003():
    assert "person-jane-doe" == named_key("person-jane-doe", "person")
    assert "company-acme-inc" == named_key("Acme, Inc.", "company")
