import pytest

from graphmem.model.entity import (
    Likeness,
    digits_differ,
    entity_key,
    label_from_key,
    likeness,
)
from graphmem.model.names import slug


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Jane O'Brien", "dr_jane_o_brien"),
        ("My App (v2)", "my_app_v2"),
        ("v2.0.1", "v2_0_1"),
        ("one - two - three", "one_two_three"),
        ("...", ""),
        ("Łódź", "łódź"),
        ("東京", "東京"),
    ],
)
def test_slug_keeps_letters_and_digits_of_every_script(text, expected):
    assert expected == slug(text)


def test_a_key_is_normalised():
    assert "person:john_doe" == entity_key("person:John Doe")


@pytest.mark.parametrize("text", ["john", "person:", "person:  ", "person:...", "Robot:r2", ""])
def test_a_key_without_type_or_name_is_refused(text):
    with pytest.raises(ValueError, match="Must be type:name"):
        entity_key(text)


def test_a_label_is_made_from_the_key():
    assert "John Doe" == label_from_key("person:john_doe")


def test_overrides_map_a_variant_to_what_is_meant():
    overrides = {"person:makesh": "person:mukesh"}

    assert "person:mukesh" == entity_key("person:Makesh", overrides)
    assert "person:makesh_b" == entity_key("person:Makesh B", overrides)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("person:john", "person:john", Likeness.EQUAL),
        ("person:john_doe", "person:johndoe", Likeness.EQUAL_WITHOUT_SEPARATORS),
        ("person:jonathan", "person:jonath", Likeness.CONTAINED),
        ("org:acme", "org:acmeco", Likeness.CONTAINED),
        ("org:acme", "org:acme_company", Likeness.UNLIKE),
        ("org:abc", "org:abcd", Likeness.UNLIKE),
        ("person:mukesh", "person:makesh", Likeness.NEARLY_EQUAL),
        ("person:mukesh", "person:makish", Likeness.NEARLY_EQUAL),
        ("person:mukesh", "person:makisa", Likeness.UNLIKE),
        ("person:ann", "person:ana", Likeness.UNLIKE),
    ],
)
def test_likeness_of_two_names(one, other, expected):
    assert (expected, expected) == (likeness(one, other), likeness(other, one))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a:boeing_737", "a:boeing_747", True),
        ("a:v1", "a:v", True),
        ("a:v1_2", "a:v_12", False),
        ("a:x", "a:y", False),
    ],
)
def test_different_digits_are_seen(one, other, expected):
    assert expected == digits_differ(one, other)
