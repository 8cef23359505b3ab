"""The pure parts of the benchmarks: metrics, and how the data sets are read."""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the benchmarks are not installed

from benchmarks.cases import spread
from benchmarks.locomo import load_locomo
from benchmarks.metrics import (
    all_found,
    any_found,
    first_sessions,
    mean,
    percentile,
    reciprocal_rank_fusion,
    turn_hit,
    turn_recall,
)

RANKED = [("a", "x"), ("b",), ("c",)]


def test_turn_recall_counts_every_turn_of_a_result() -> None:
    assert turn_recall(RANKED, {"x", "b", "z", "c"}, 2) == 0.5
    assert turn_recall(RANKED, {"x", "b", "z", "c"}, 3) == 0.75


def test_turn_hit_needs_one_gold_turn_within_k() -> None:
    assert turn_hit(RANKED, {"c", "z"}, 2) == 0.0
    assert turn_hit(RANKED, {"c", "z"}, 3) == 1.0


def test_sessions_are_counted_once_in_order_of_first_sight() -> None:
    sessions = {"a": "s1", "x": "s9", "b": "s1", "c": "s2"}
    assert first_sessions(RANKED, sessions, 5) == ("s1", "s2")
    assert first_sessions(RANKED, sessions, 1) == ("s1",)


def test_any_and_all() -> None:
    assert any_found(("s1", "s2"), {"s2", "s3"}) == 1.0
    assert all_found(("s1", "s2"), {"s2", "s3"}) == 0.0
    assert all_found(("s1", "s2", "s3"), {"s2", "s3"}) == 1.0


def test_mean_and_percentile_of_nothing_are_no_number() -> None:
    assert math.isnan(mean([]))
    assert math.isnan(percentile([], 0.5))


def test_percentile_interpolates() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert percentile([1.0, 2.0, 3.0], 1.0) == 3.0


def test_fusion_prefers_what_both_rankings_have() -> None:
    assert reciprocal_rank_fusion([["a", "b"], ["c", "b"]], k=60) == ["b", "a", "c"]


def test_spread_takes_evenly() -> None:
    assert spread(range(10), 3) == [0, 3, 6]
    assert spread(range(3), None) == [0, 1, 2]


def test_locomo_mends_evidence_and_leaves_out_what_cannot_be_scored(tmp_path: Path) -> None:
    folder = tmp_path / "locomo"
    folder.mkdir()
    turns = [
        {"speaker": "Jo", "dia_id": "D1:1", "text": "Hi."},
        {"speaker": "Al", "dia_id": "D1:2", "text": "Yes."},
    ]
    asked = [
        {"question": "Q0", "evidence": ["D1:1; D1:2"], "category": 1},
        {"question": "Q1", "evidence": [], "category": 3},
        {"question": "Q2", "evidence": ["D1:1"], "category": 5},
        {"question": "Q3", "evidence": ["D1:2"], "category": 4},
    ]
    conversation = {
        "session_1": turns,
        "session_1_date_time": "7:48 pm on 21 May, 2023",
        "speaker_a": "Jo",
    }
    sample = {"sample_id": "conv-1", "conversation": conversation, "qa": asked}
    fix = {"sample_id": "conv-1", "qa": 0, "evidence": ["D1:1", "D1:2"]}
    (folder / "locomo_dev5.json").write_text(json.dumps([sample]), "utf-8")
    (folder / "evidence_fixes_dev5.json").write_text(json.dumps([fix]), "utf-8")
    (case,) = load_locomo(tmp_path)
    assert {question.text: set(question.gold_turns) for question in case.questions} == {
        "Q0": {"D1:1", "D1:2"},
        "Q3": {"D1:2"},
    }
    assert case.turns[0].occurred_at.isoformat() == "2023-05-21T19:48:00+00:00"
    assert case.turns[1].text == "Al: Yes."
