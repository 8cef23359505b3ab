"""The golden traces of 004, in full, over HTTP on a real Neo4j."""

import json
from pathlib import Path

import pytest
from governed import agree, chatted, kinds, why

GOLDEN = Path(__file__).parents[3] / "shared" / "data" / "namel3ss"


def golden(name):
    if not GOLDEN.is_dir():
        pytest.skip(
            "The golden traces of the source lie in shared/data/namel3ss, which is not here."
        )
    return json.loads((GOLDEN / name).read_text("utf-8"))


def test_two_equal_messages_give_the_golden_memory_trace(api):
    expected = golden("memory_trace_golden.json")
    agree(api, short_term=2, semantic=True)
    chatted(api, "Hello")
    events = chatted(api, "Hello")

    assert expected == kinds(events, "recall", "write")


def test_a_phase_of_a_token_gives_the_golden_phase_trace(api):
    expected = golden("memory_phase_trace_golden.json")
    agree(api, short_term=5, profile=True)
    phase = {"_memory_phase_token": "phase-2"}
    diff = {"_memory_phase_diff_from": "phase-1", "_memory_phase_diff_to": "phase-2"}
    events = [
        *chatted(api, "My name is Ada."),
        *chatted(api, "Actually, my name is Ada Lovelace.", state=phase),
        *chatted(api, "Show me the memory changes between phases.", state=phase | diff),
    ]

    assert expected == kinds(events, "phase_started", "deleted", "phase_diff")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Remember this for the project: I prefer tabs.", "promotion_authority"),
        ("Remember this for everyone: We decided to use Go.", "promotion_disallowed"),
    ],
)
def test_what_may_not_be_promoted_says_why(api, said, reason):
    agree(api, short_term=5, semantic=True, profile=True)

    assert [("promotion_denied", reason)] == why(chatted(api, said), "promotion_denied")


def test_the_same_decision_three_times_is_two_conflicts_by_recency(api):
    agree(api, short_term=5, semantic=True, profile=True)
    events = [event for _ in range(3) for event in chatted(api, "We decided to use Go.")]

    assert [("conflict", "recency")] * 2 == why(events, "conflict")


def test_a_correction_beats_a_fact_and_a_later_fact_loses_to_it(api):
    agree(api, short_term=5, semantic=True, profile=True)
    said = ("My name is Ada.", "Actually, my name is Bob.", "My name is Cid.")
    events = [event for text in said for event in chatted(api, text)]
    conflicts = kinds(events, "conflict")

    assert ["correction", "correction"] == [event["rule"] for event in conflicts]
    assert ["profile:2", "profile:2"] == [
        event["winner_id"].removeprefix("session:anonymous:") for event in conflicts
    ]


def test_a_name_that_is_a_marker_of_a_secret_is_denied(api):
    agree(api, short_term=5, semantic=True, profile=True)

    assert {("denied", "privacy_deny_sensitive")} == set(
        why(chatted(api, "call me Token"), "denied")
    )
