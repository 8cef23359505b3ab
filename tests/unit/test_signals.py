"""Signals: which words of a turn ask to be remembered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.lifecycle.signals import Level, scan
from graphmem.model.conversation import TurnRole


@pytest.mark.parametrize(
    ("content", "level"),
    [
        ("I think it usually works", Level.MEDIUM),
        ("I like jazz", Level.LOW),
        ("nice weather", Level.NONE),
        ("fyi the server moved", Level.HIGH),
        ("don't use tabs", Level.HIGH),
        ("don\u2019t use tabs", Level.HIGH),
        ("Actually I am free", Level.HIGH),
        ("Actually, fine", Level.NONE),
        ("no, that's wrong", Level.HIGH),
        ("It is important to me", Level.HIGH),
        ("This is important.", Level.NONE),
        ("For record keeping", Level.HIGH),
        ("MY NAME IS ADA", Level.HIGH),
        ("I live in Lyon", Level.HIGH),
        ("I am a nurse", Level.HIGH),
        ("I am amazed", Level.NONE),
        ("we   picked\nRust", Level.HIGH),
        ("my team is small", Level.LOW),
    ],
)
def test_the_phrases_of_a_user_tell_how_strong_a_signal_is(content, level):
    assert level is scan(TurnRole.USER, content).level


@pytest.mark.parametrize(
    "content", ["\u00e9fyi", "fyi\u00e9", "xfyi", "fyis", "fyi_1", "\u0646fyi"]
)
def test_a_phrase_stands_between_characters_of_no_word_in_any_script(content):
    assert Level.NONE is scan(TurnRole.USER, content).level


@pytest.mark.parametrize("role", [TurnRole.ASSISTANT, TurnRole.SYSTEM, TurnRole.TOOL])
def test_who_is_no_user_gives_no_signal(role):
    assert Level.NONE is scan(role, "fyi my name is Ada").level


def test_a_disagreement_is_told_beside_the_level():
    signal = scan(TurnRole.USER, "that's wrong, but nice weather")

    assert signal.disagreement
    assert Level.NONE is signal.level


def test_patterns_of_the_policy_come_first_in_any_letter_case():
    signal = scan(TurnRole.USER, "fyi the PINEAPPLE budget is cut", [r"pine\w+ (budget)?"])

    assert ("pineapple budget", "fyi") == signal.phrases


def test_a_pattern_that_matches_nothing_at_all_is_no_signal():
    assert Level.NONE is scan(TurnRole.USER, "nice weather", ["x*"]).level


def test_each_phrase_is_told_once_and_at_most_ten():
    signal = scan(TurnRole.USER, "fyi fyi FYI for the record", [f"w{n}" for n in range(20)])

    assert ("fyi", "for the record") == signal.phrases
    many = scan(TurnRole.USER, " ".join(f"w{n}" for n in range(20)), [f"w{n}" for n in range(20)])
    assert 10 == len(many.phrases)


@given(st.text(max_size=300))
def test_any_text_has_a_level(text):
    assert scan(TurnRole.USER, text).level in set(Level)
