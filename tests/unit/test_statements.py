"""Statements: what facts are known by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.statements import stated, stated_of, statement_form, statement_hash


def test_the_hash_is_that_of_003():
    assert statement_hash("User prefers Dark-Mode!").startswith("058e6f30768bdcc4")
    assert statement_hash("User prefers Dark-Mode!") == statement_hash("user  prefers dark mode")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C#", "C++"),
        ("C", "C++"),
        ("5% off", "5 off"),
        ("-3 degrees", "3 degrees"),
        ("I \u2764 tea", "I tea"),
        ("caf\u00e9", "caf"),
        ("\u65e5\u672c", "\u4e2d\u56fd"),
    ],
)
def test_signs_and_letters_that_count_make_another_statement(one, other):
    assert statement_hash(one) != statement_hash(other)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("# heading", "heading"),
        ("a-3", "a 3"),
        ("x_y", "x y"),
        ("\u00c4rger, \u00dcber!", "\u00e4rger \u00fcber"),
        ("...", ""),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_punctuation_divides_words(text, form):
    assert form == statement_form(text)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_ascii_letters_and_digits_stay_as_in_003(text):
    kept = "".join(char for char in statement_form(text) if char.isalnum())

    assert kept == "".join(char for char in text.lower() if char.isalnum())


def test_a_correction_states_the_same_of_the_same_subject():
    before = stated_of("I live in Lyon.", "Ada")

    assert before is not None
    assert before == stated_of("Actually, I live in Rome, not Lyon.", "Ada")
    assert before == stated_of("Ada lives in Rome.", None)
    assert before != stated_of("I live in Lyon.", "Bob")
    assert before != stated_of("I work at Siemens.", "Ada")


def test_the_value_is_without_what_it_sets_right():
    said = stated("No, my birthday is June 3, not July 3.")

    assert said is not None
    assert ("june", "3") == said.value


def test_a_long_text_states_no_single_value():
    assert stated("I live in Lyon. " * 30) is None
