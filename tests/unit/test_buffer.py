"""Buffer: when the turns of a session are extracted."""

from dataclasses import replace
from datetime import timedelta

import pytest
from builders import ADA, NOW
from hypothesis import given
from hypothesis import strategies as st

from graphmem.lifecycle.buffer import (
    FULL_TURNS,
    TURN_READ_CHARS,
    Because,
    Choice,
    arrived,
    decision,
    emptied,
    guard_of,
    is_cron,
    is_idle,
)
from graphmem.lifecycle.signals import Level
from graphmem.model.conversation import Turn, TurnRole, words_digest
from graphmem.model.extraction import Buffer
from graphmem.model.policy import LifecycleConfig

SMART = LifecycleConfig()
EMPTY = Buffer(space=ADA, session="chat-1")


def a_turn(content: str = "0123456789", role: TurnRole = TurnRole.USER) -> Turn:
    return Turn(
        uid="t",
        space=ADA,
        conversation_id="chat-1",
        number=1,
        role=role,
        content=content,
        digest=words_digest(content),
        at=NOW,
        recorded_at=NOW,
        changed_at=NOW,
    )


def a_buffer(*contents: str, role: TurnRole = TurnRole.USER, **changes: object) -> Buffer:
    buffer = replace(EMPTY, **changes)
    for content in contents:
        buffer = arrived(buffer, a_turn(content, role), NOW)
    return buffer


def choice(buffer: Buffer, level: Level = Level.NONE, policy=SMART, now=NOW):
    found = decision(buffer, level, policy, now)
    return found.choice, found.reason


FIVE = ("0123456789",) * 5


def test_a_high_signal_is_extracted_now_whatever_its_length():
    assert (Choice.EXTRACT_NOW, Because.HIGH_SIGNAL) == choice(a_buffer("fyi"), Level.HIGH)


@pytest.mark.parametrize("level", [Level.MEDIUM, Level.LOW, Level.NONE])
def test_any_other_signal_waits(level):
    assert (Choice.KEEP, Because.BUFFERING) == choice(a_buffer("0123456789"), level)


def test_four_turns_wait_and_five_are_a_batch():
    assert (Choice.KEEP, Because.BUFFERING) == choice(a_buffer(*FIVE[:4]))
    assert (Choice.EXTRACT_BATCH, Because.TURNS) == choice(a_buffer(*FIVE))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (15 * 60, (Choice.KEEP, Because.BUFFERING)),
        (15 * 60 + 1, (Choice.EXTRACT_BATCH, Because.MINUTES)),
    ],
)
def test_fifteen_minutes_since_the_last_extraction_keep_and_more_are_a_batch(seconds, expected):
    buffer = a_buffer("a" * 40, last_extraction_at=NOW - timedelta(seconds=seconds))

    assert expected == choice(buffer)


def test_before_the_first_extraction_time_decides_nothing():
    assert (Choice.KEEP, Because.BUFFERING) == choice(a_buffer("a" * 40, first_at=NOW))


@pytest.mark.parametrize(
    ("mode", "level", "ago", "contents", "expected"),
    [
        ("every_n", Level.HIGH, 60, FIVE[:4], (Choice.KEEP, Because.BUFFERING)),
        ("every_n", Level.NONE, 60, FIVE, (Choice.EXTRACT_BATCH, Because.TURNS)),
        ("time_based", Level.HIGH, 1, FIVE, (Choice.KEEP, Because.BUFFERING)),
        ("time_based", Level.NONE, 16, FIVE, (Choice.EXTRACT_BATCH, Because.MINUTES)),
        ("time_based", Level.NONE, None, FIVE, (Choice.EXTRACT_BATCH, Because.TURNS)),
        ("time_based", Level.NONE, None, FIVE[:4], (Choice.KEEP, Because.BUFFERING)),
    ],
)
def test_the_modes_decide_by_number_or_by_time(mode, level, ago, contents, expected):
    last = None if ago is None else NOW - timedelta(minutes=ago)
    buffer = a_buffer(*contents, last_extraction_at=last)

    assert expected == choice(buffer, level, LifecycleConfig(trigger_mode=mode))


def test_a_batch_of_39_characters_is_too_short_and_40_are_enough():
    assert (Choice.KEEP, Because.TOO_SHORT) == choice(a_buffer(*("12345678",) * 4, "1234567"))
    assert Choice.EXTRACT_BATCH is choice(a_buffer(*("12345678",) * 5))[0]


def test_a_batch_needs_a_turn_of_a_user():
    buffer = a_buffer(*FIVE, role=TurnRole.ASSISTANT)

    assert (Choice.KEEP, Because.NO_USER_TURN) == choice(buffer)


@pytest.mark.parametrize(("seconds", "guard"), [(300, Because.SAME_TURNS), (301, None)])
def test_the_same_turns_are_no_batch_within_five_minutes(seconds, guard):
    before = emptied(a_buffer(*FIVE), NOW)
    again = a_buffer(
        *FIVE, last_extraction_at=before.last_extraction_at, last_digest=before.last_digest
    )

    assert guard is guard_of(again, NOW + timedelta(seconds=seconds))


def test_other_turns_are_a_batch_at_once():
    before = emptied(a_buffer(*FIVE), NOW)
    other = a_buffer(
        *FIVE[:4], "9876543210", last_extraction_at=NOW, last_digest=before.last_digest
    )

    assert guard_of(other, NOW) is None


def test_a_full_buffer_is_a_batch_for_the_rules_whatever_guards_say():
    contents = ("",) * (FULL_TURNS - 1)
    found = decision(a_buffer(*contents, "", role=TurnRole.ASSISTANT), Level.NONE, SMART, NOW)

    assert (Choice.EXTRACT_BATCH, Because.FULL, True) == (
        found.choice,
        found.reason,
        found.is_guarded,
    )
    assert Choice.KEEP is choice(a_buffer(*contents, role=TurnRole.ASSISTANT))[0]


@pytest.mark.parametrize("length", [TURN_READ_CHARS, TURN_READ_CHARS + 1])
def test_no_more_than_4000_characters_of_a_turn_count(length):
    assert TURN_READ_CHARS == a_buffer("a" * length).characters


def test_an_emptied_buffer_counts_its_extractions():
    buffer = emptied(emptied(a_buffer("x"), NOW), NOW)

    assert (0, 2, NOW) == (buffer.turns, buffer.extractions, buffer.last_extraction_at)


def test_a_buffer_is_idle_after_more_than_fifteen_minutes():
    buffer = a_buffer("x")

    assert not is_idle(buffer, SMART, NOW + timedelta(minutes=15))
    assert is_idle(buffer, SMART, NOW + timedelta(minutes=15, seconds=1))
    assert not is_idle(EMPTY, SMART, NOW + timedelta(days=1))


def test_scheduled_work_is_known_by_its_name():
    assert is_cron("agent:cron:daily")
    assert not is_cron("cron-daily")


@given(st.lists(st.sampled_from(Level), max_size=30))
def test_every_turn_ends_in_one_extraction_or_waits(levels):
    buffer, extracted = EMPTY, 0
    for level in levels:
        buffer = arrived(buffer, a_turn("a" * 40), NOW)
        if decision(buffer, level, SMART, NOW).extracts:
            extracted, buffer = extracted + buffer.turns, emptied(buffer, NOW)

    assert len(levels) == extracted + buffer.turns
    assert buffer.turns < SMART.buffer_max_turns or buffer.digest == buffer.last_digest
