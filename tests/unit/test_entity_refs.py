"""The normal forms of 001: keys, refs, importance, labels and memory keys."""

import math

import pytest

from graphmem.companion.entity_refs import (
    importance_of,
    is_ref,
    label_of,
    memory_key,
    ref_of,
    refs_of,
    subtype_of,
    united_refs,
)
from graphmem.model.companion import EntityKind, FactKind, FactType, NewFact, Subtype


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Dr. Jane O'Brien", "person:dr_jane_o_brien"),
        ("My App (v2)", "person:my_app_v2"),
        ("v2.0.1", "person:v2_0_1"),
        ("one - two - three", "person:one_two_three"),
        ("Ümit Şahin", "person:ümit_şahin"),
        ("...", None),
        ("a\x00", None),
    ],
)
def test_a_name_makes_the_key_of_the_source(name, key):
    assert key == ref_of(EntityKind.PERSON, name)


@pytest.mark.parametrize(
    ("value", "importance"),
    [
        (0, 0),
        (1.4, 1),
        (1.6, 2),
        (2.5, 3),
        (3, 3),
        (-1, 1),
        (3.2, 1),
        (4, 1),
        ("2", 1),
        (True, 1),
        (None, 1),
        (math.nan, 1),
        (math.inf, 1),
    ],
)
def test_an_importance_is_rounded_half_up_and_anything_else_is_standard(value, importance):
    assert importance == importance_of(value)


def test_five_of_ten_refs_are_kept_in_their_order():
    refs = [f"person:p{number}" for number in range(10)]

    assert tuple(refs[:5]) == refs_of(refs, {})


def test_what_is_no_key_is_dropped_and_a_variant_is_what_it_means():
    values = ["person:makesh", 7, None, "ada", "tool:vim", "person:", "person:A b", "org:acme"]

    assert ("person:mukesh", "org:acme") == refs_of(
        ["person:mukesh", *values], {"person:makesh": "person:mukesh"}
    )


def test_refs_are_united_in_their_order_and_five_stay():
    assert ("a", "b", "c", "d", "e") == united_refs(["a", "b"], ["b", "c", "d", "e", "f"])


@pytest.mark.parametrize("text", ["place:austin_texas", "project:c__plus__plus", "org:東京"])
def test_a_key_in_its_normal_form_is_one(text):
    assert is_ref(text)


def test_unknown_values_of_a_subtype_are_dropped_field_by_field():
    assert Subtype(fact_type=FactType.HABIT) == subtype_of({"entityType": "x", "factType": "habit"})
    assert Subtype(entity_type=EntityKind.ORG) == subtype_of({"entity_type": "org"})
    assert not subtype_of({"entityType": ["person"], "factType": 1})
    assert not subtype_of("person")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("  John  Doe ", "John Doe"),
        ("x" * 100, "x" * 100),
        ("x" * 101, None),
        (" ", None),
        (7, None),
    ],
)
def test_a_label_has_1_to_100_characters(value, label):
    assert label == label_of(value)


def test_a_memory_is_known_by_its_type_subtype_and_first_ref():
    fact = NewFact(
        kind=FactKind.PEOPLE,
        content="John is my cofounder.",
        subtype=Subtype(entity_type=EntityKind.PERSON, fact_type=FactType.RELATIONSHIP),
        entity_refs=("person:john_doe", "org:acme"),
    )

    assert "people|person|john_doe|relationship" == memory_key(fact)


def test_a_memory_without_refs_is_known_by_what_it_says():
    fact = NewFact(kind=FactKind.PROFILE, content="  Lives in  Austin, (Texas)! " + "x" * 200)
    said = "lives in austin texas " + "x" * 200

    assert f"profile|none|content:{said[:120]}|fact" == memory_key(fact)
