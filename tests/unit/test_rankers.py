from datetime import timedelta

import pytest
from builders import NOW, a_candidate
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.policy import FusedPolicy, RrfPolicy
from graphmem.recall.rankers.fused import fused
from graphmem.recall.rankers.rrf import rrf


def test_rrf_scores_the_four_memories_of_002():
    candidates = [
        a_candidate("a", importance=0, text=1),
        a_candidate("b", importance=60, text=2, contested=True),
        a_candidate("c", importance=100, confidence=0.5, text=3, contested=True),
        a_candidate("d", importance=100, text=4, updated_at=NOW - timedelta(days=90)),
    ]

    scored = rrf(candidates, RrfPolicy(k=1), now=NOW)

    assert [("a", 0.5), ("b", 0.426667), ("c", 0.2), ("d", 0.1)] == [
        (entry.candidate.uid, round(entry.score, 6)) for entry in scored
    ]


def test_a_memory_from_the_future_is_not_younger_than_new():
    future = a_candidate(text=1, updated_at=NOW + timedelta(days=5))

    assert 1.0 == rrf([future], RrfPolicy(), now=NOW)[0].factors["recency"]


def test_equal_scores_are_ordered_by_uid():
    scored = fused([a_candidate("b", text=1), a_candidate("a", text=1)], FusedPolicy())

    assert ["a", "b"] == [entry.candidate.uid for entry in scored]


def test_the_first_place_in_both_arms_scores_one():
    assert pytest.approx(1.0) == fused([a_candidate(vector=1, text=1)], FusedPolicy())[0].score


def test_words_weigh_more_than_meaning():
    by_words, by_meaning = fused([a_candidate("a", vector=1), a_candidate("b", text=1)], FusedPolicy())

    assert "b" == by_words.candidate.uid
    assert pytest.approx(1.5) == by_words.score / by_meaning.score


def test_contradiction_and_low_confidence_weigh_lightly():
    plain = fused([a_candidate(text=1)], FusedPolicy())[0].score

    assert pytest.approx(0.95 * plain) == fused([a_candidate(text=1, contested=True)], FusedPolicy())[0].score
    assert pytest.approx(0.95 * plain) == fused([a_candidate(text=1, confidence=0.5)], FusedPolicy())[0].score


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(1, 100)), min_size=1, max_size=20, unique_by=lambda r: r[0]))
def test_an_unrelated_candidate_does_not_reorder_the_others(ranks):
    candidates = [a_candidate(f"c{vector:03}", vector=vector, text=text) for vector, text in ranks]
    other = a_candidate("zzz", vector=500)

    order = [entry.candidate.uid for entry in fused(candidates, FusedPolicy())]
    with_other = [entry.candidate.uid for entry in fused([other, *candidates], FusedPolicy())]

    assert order == [uid for uid in with_other if uid != "zzz"]


@given(st.floats(0, 4000), st.floats(0, 4000))
def test_age_never_raises_a_score(days, more):
    def score(age):
        return rrf([a_candidate(text=1, updated_at=NOW - timedelta(days=age))], RrfPolicy(), now=NOW)[0].score

    assert score(days) >= score(days + more)


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1), st.booleans())
def test_every_fused_score_lies_between_zero_and_one(vector, text, confidence, contested):
    candidate = a_candidate(vector=vector, text=text, confidence=confidence, contested=contested)

    assert 0 <= fused([candidate], FusedPolicy())[0].score <= 1 + 1e-9
