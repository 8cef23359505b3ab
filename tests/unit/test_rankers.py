from datetime import timedelta

import pytest
from builders import NOW, a_candidate
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.policy import BlendPolicy, FusedPolicy, LifecyclePolicy, RrfPolicy
from graphmem.recall.candidates import Arm
from graphmem.recall.rankers.blend import blend
from graphmem.recall.rankers.fused import fused
from graphmem.recall.rankers.lifecycle import lifecycle
from graphmem.recall.rankers.rrf import rrf

JOHN, GOOGLE, SARAH = "person:john", "org:google", "person:sarah"


def near(cosine):
    return Arm(rank=1, score=(1 + cosine) / 2)


def worded(bm25):
    return Arm(rank=1, score=bm25)


def days_ago(days):
    return NOW - timedelta(days=days)


def blended(*candidates, policy=None):
    return {
        entry.candidate.uid: entry for entry in blend(candidates, policy or BlendPolicy(), now=NOW)
    }


def cycled(*candidates, query="tea"):
    return {
        entry.candidate.uid: entry
        for entry in lifecycle(candidates, LifecyclePolicy(), now=NOW, query=query)
    }


def factor(name, **changes):
    return cycled(a_candidate(**changes))["a"].factors[name]


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
    by_words, by_meaning = fused(
        [a_candidate("a", vector=1), a_candidate("b", text=1)], FusedPolicy()
    )

    assert "b" == by_words.candidate.uid
    assert pytest.approx(1.5) == by_words.score / by_meaning.score


def test_contradiction_and_low_confidence_weigh_lightly():
    plain = fused([a_candidate(text=1)], FusedPolicy())[0].score

    assert (
        pytest.approx(0.95 * plain)
        == fused([a_candidate(text=1, contested=True)], FusedPolicy())[0].score
    )
    assert (
        pytest.approx(0.95 * plain)
        == fused([a_candidate(text=1, confidence=0.5)], FusedPolicy())[0].score
    )


def test_a_fact_whose_turn_is_found_counts_a_quarter():
    plain = fused([a_candidate(text=1)], FusedPolicy())[0].score
    behind = fused([a_candidate(text=1, is_in_turn=True)], FusedPolicy())[0]

    assert pytest.approx(0.25 * plain) == behind.score
    assert 0.25 == behind.factors["in_turn"]


def test_a_fact_whose_turn_is_found_takes_no_rank_from_others():
    alone = fused(
        [a_candidate("a", text=1, vector=2), a_candidate("b", text=2, vector=1)], FusedPolicy()
    )
    among = fused(
        [
            a_candidate("a", text=1, vector=3),
            a_candidate("fact", text=2, vector=1, is_in_turn=True),
            a_candidate("b", text=3, vector=2),
        ],
        FusedPolicy(),
    )

    assert [(each.candidate.uid, each.score) for each in alone] == [
        (each.candidate.uid, each.score) for each in among[:2]
    ]
    assert "fact" == among[2].candidate.uid


@given(
    st.lists(
        st.tuples(st.integers(1, 100), st.integers(1, 100)),
        min_size=1,
        max_size=20,
        unique_by=lambda r: r[0],
    )
)
def test_an_unrelated_candidate_does_not_reorder_the_others(ranks):
    candidates = [a_candidate(f"c{vector:03}", vector=vector, text=text) for vector, text in ranks]
    other = a_candidate("zzz", vector=500)

    order = [entry.candidate.uid for entry in fused(candidates, FusedPolicy())]
    with_other = [entry.candidate.uid for entry in fused([other, *candidates], FusedPolicy())]

    assert order == [uid for uid in with_other if uid != "zzz"]


@given(st.floats(0, 4000), st.floats(0, 4000))
def test_age_never_raises_a_score(days, more):
    def score(age):
        return rrf(
            [a_candidate(text=1, updated_at=NOW - timedelta(days=age))], RrfPolicy(), now=NOW
        )[0].score

    assert score(days) >= score(days + more)


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1), st.booleans())
def test_every_fused_score_lies_between_zero_and_one(vector, text, confidence, contested):
    candidate = a_candidate(vector=vector, text=text, confidence=confidence, contested=contested)

    assert 0 <= fused([candidate], FusedPolicy())[0].score <= 1 + 1e-9


def test_blend_scores_the_four_memories_of_001():
    scored = blend(
        [
            a_candidate("a", vector=near(0.5), created_at=NOW, entities=(JOHN, GOOGLE)),
            a_candidate("b", vector=near(0.9), created_at=days_ago(14), entities=(JOHN,)),
            a_candidate("c", vector=near(0.95), created_at=days_ago(28)),
            a_candidate("d", vector=near(0.4), created_at=days_ago(1), entities=(SARAH,)),
        ],
        BlendPolicy(),
        now=NOW,
    )

    assert [("b", 0.81), ("a", 0.725), ("d", 0.595509), ("c", 0.455)] == [
        (entry.candidate.uid, round(entry.score, 6)) for entry in scored
    ]


def test_blend_names_its_three_factors():
    entry = blended(a_candidate(vector=near(0.5), created_at=days_ago(14), entities=(JOHN,)))["a"]

    assert pytest.approx({"similarity": 0.5, "recency": 0.5, "frequency": 1.0}) == entry.factors


@pytest.mark.parametrize(
    ("cosine", "similarity"), [(-1, 0), (-0.001, 0), (0, 0), (0.001, 0.001), (1, 1)]
)
def test_similarity_is_the_cosine_but_never_negative(cosine, similarity):
    assert (
        pytest.approx(similarity)
        == blended(a_candidate(vector=near(cosine)))["a"].factors["similarity"]
    )


def test_blend_gives_no_similarity_without_a_vector():
    assert 0.0 == blended(a_candidate(text=1))["a"].factors["similarity"]


def test_only_the_first_five_entities_of_a_memory_count():
    crowd = tuple(f"person:p{number}" for number in range(6))
    scored = blended(
        a_candidate("a", entities=crowd),
        a_candidate("b", entities=(crowd[4],)),
        a_candidate("c", entities=(crowd[5],)),
    )

    assert pytest.approx({"a": (4 * 1 + 2) / 5 / 2, "b": 1.0, "c": 0.5}) == {
        uid: entry.factors["frequency"] for uid, entry in scored.items()
    }


def test_an_entity_named_twice_in_one_memory_counts_once():
    scored = blended(a_candidate("a", entities=(JOHN, JOHN)), a_candidate("b", entities=(SARAH,)))

    assert 1.0 == scored["b"].factors["frequency"]


def test_the_age_of_a_memory_without_a_time_of_creation_runs_from_its_last_change():
    assert (
        pytest.approx(0.5) == blended(a_candidate(updated_at=days_ago(14)))["a"].factors["recency"]
    )


def test_a_later_change_does_not_make_a_memory_young():
    changed = a_candidate(created_at=days_ago(14), updated_at=NOW)

    assert pytest.approx(0.5) == blended(changed)["a"].factors["recency"]


def test_no_candidates_have_no_scores():
    assert [] == blend([], BlendPolicy(), now=NOW)
    assert [] == lifecycle([], LifecyclePolicy(), now=NOW, query="tea")


@given(
    st.lists(
        st.tuples(
            st.floats(-1, 1),
            st.floats(0, 4000),
            st.lists(st.sampled_from([JOHN, GOOGLE, SARAH]), max_size=7),
        ),
        max_size=10,
    )
)
def test_every_blend_score_and_factor_lies_between_zero_and_one(rows):
    candidates = [
        a_candidate(
            f"c{number}", vector=near(cosine), created_at=days_ago(age), entities=tuple(entities)
        )
        for number, (cosine, age, entities) in enumerate(rows)
    ]

    for entry in blended(*candidates).values():
        assert all(0 <= value <= 1 + 1e-9 for value in (entry.score, *entry.factors.values()))


@given(st.floats(-100, 4000), st.floats(0, 4000))
def test_age_raises_neither_a_blend_nor_a_lifecycle_score(days, more):
    younger, older = (a_candidate(text=1, created_at=days_ago(age)) for age in (days, days + more))

    assert blended(younger)["a"].score >= blended(older)["a"].score
    assert cycled(younger)["a"].score >= cycled(older)["a"].score


def test_lifecycle_adds_every_factor_to_similarity_and_recency():
    entry = cycled(
        a_candidate(
            vector=near(0.5),
            created_at=days_ago(7),
            importance=80,
            recall_count=3,
            feedback_up=1,
            negative_hits=1,
            content="Deploy the docs.",
        ),
        query="release the docs",
    )["a"]

    assert pytest.approx(
        {
            "similarity": 0.5,
            "recency": 0.5,
            "access": 0.1,
            "importance": 0.1,
            "feedback": 0.05,
            "negative": -0.05,
            "intent": 0.12 * 0.7,
        }
    ) == dict(entry.factors)
    assert pytest.approx(0.8 * 0.5 + 0.2 * 0.5 + 0.1 + 0.1 + 0.05 - 0.05 + 0.084) == entry.score


def test_lifecycle_takes_the_better_of_meaning_and_words():
    scored = cycled(
        a_candidate("a", vector=near(0.9), text=worded(4.0)),
        a_candidate("b", vector=near(0.2), text=worded(6.0)),
        a_candidate("c", text=worded(8.0)),
        a_candidate("d"),
    )

    assert pytest.approx({"a": 0.9, "b": 0.75, "c": 1.0, "d": 0.0}) == {
        uid: entry.factors["similarity"] for uid, entry in scored.items()
    }


def test_text_scores_of_nothing_are_no_similarity():
    assert 0.0 == factor("similarity", text=worded(0.0))


def test_lifecycle_halves_recency_in_seven_days():
    assert 1.0 == factor("recency", created_at=days_ago(-1))
    assert pytest.approx(0.5) == factor("recency", created_at=days_ago(7))
    assert pytest.approx(0.25) == factor("recency", created_at=days_ago(14))


@pytest.mark.parametrize(("recalls", "lift"), [(0, 0), (1, 0.1), (1000, 0.1)])
def test_the_lift_of_a_recalled_memory_ends_at_a_tenth(recalls, lift):
    assert lift == factor("access", recall_count=recalls)


def test_recalls_lift_nothing_where_they_are_not_to():
    policy = LifecyclePolicy(boost_access_count=False)
    (scored,) = lifecycle([a_candidate(recall_count=9)], policy, now=NOW, query="tea")

    assert 0.0 == scored.factors["access"]


def test_the_lift_grows_with_the_logarithm_of_the_recalls_below_its_end():
    policy = LifecyclePolicy(access_max=1.0)
    scored = lifecycle([a_candidate(recall_count=9)], policy, now=NOW, query="tea")

    assert pytest.approx(1 / 3) == scored[0].factors["access"]


@pytest.mark.parametrize(
    ("importance", "change"), [(0, -0.1), (39, -0.0025), (40, 0), (41, 0.0025), (100, 0.15)]
)
def test_importance_lifts_above_forty_and_lowers_below(importance, change):
    assert pytest.approx(change) == factor("importance", importance=importance)


@pytest.mark.parametrize(
    ("ups", "downs", "change"),
    [
        (0, 0, 0),
        (1, 0, 0.05),
        (2, 0, 0.1),
        (3, 0, 0.15),
        (4, 0, 0.15),
        (0, 1, -0.1),
        (0, 2, -0.2),
        (0, 3, -0.3),
        (0, 4, -0.3),
        (4, 4, -0.15),
    ],
)
def test_three_answers_each_way_count(ups, downs, change):
    assert pytest.approx(change) == factor("feedback", feedback_up=ups, feedback_down=downs)


@pytest.mark.parametrize(
    ("hits", "change"),
    [(0, 0), (1, -0.05), (4, -0.2), (5, -0.25), (6, -0.25), (9, -0.25), (10, -0.25), (11, -0.25)],
)
def test_wrong_answers_cost_a_quarter_at_most(hits, change):
    assert pytest.approx(change) == factor("negative", negative_hits=hits)


def test_factors_that_do_nothing_are_shown_as_a_plain_zero():
    entry = cycled(a_candidate(importance=40))["a"]

    assert {"0.0"} == {str(value) for name, value in entry.factors.items() if name != "recency"}


@pytest.mark.parametrize(("hits", "change"), [(9, -0.45), (10, -0.5), (11, -0.5)])
def test_ten_wrong_answers_count_where_the_policy_allows_more_than_a_quarter(hits, change):
    policy = LifecyclePolicy(negative_max=1.0)
    scored = lifecycle([a_candidate(negative_hits=hits)], policy, now=NOW, query="tea")

    assert pytest.approx(change) == scored[0].factors["negative"]


def test_a_memory_with_the_intent_of_the_cue_comes_first():
    scored = cycled(
        a_candidate("a", content="Ada likes tea."),
        a_candidate("b", content="We ship on Friday."),
        query="deploy it",
    )

    assert ["b", "a"] == list(scored)
    assert pytest.approx(0.06) == scored["b"].score - scored["a"].score


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 100), st.integers(0, 9)), max_size=10))
def test_a_lifecycle_score_is_the_sum_of_its_factors_and_the_order_is_total(rows):
    candidates = [
        a_candidate(f"c{number}", vector=near(cosine), importance=importance, recall_count=recalls)
        for number, (cosine, importance, recalls) in enumerate(rows)
    ]
    scored = list(cycled(*candidates).values())

    for entry in scored:
        added = sum(
            value for name, value in entry.factors.items() if name not in {"similarity", "recency"}
        )
        base = 0.8 * entry.factors["similarity"] + 0.2 * entry.factors["recency"]
        assert pytest.approx(base + added) == entry.score
    assert scored == list(cycled(*reversed(candidates)).values())
