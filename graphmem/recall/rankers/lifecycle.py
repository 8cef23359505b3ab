"""``lifecycle``: similarity and recency, and what is known of a memory (003, Recall)."""

from collections.abc import Iterable
from datetime import datetime
from math import log10

from graphmem.model.policy import LifecyclePolicy
from graphmem.recall.candidates import Candidate, Scored, in_total_order
from graphmem.recall.intent import Intent, intent_match, intent_of, noted_intent


def lifecycle(
    candidates: Iterable[Candidate], policy: LifecyclePolicy, *, now: datetime, query: str
) -> list[Scored]:
    """Score candidates and order them.

    The score is 0.8 similarity + 0.2 recency, both from 0 to 1, plus what the other factors add to
    it; it can fall below 0. Similarity is the better of the cosine and the text score. Text scores
    are BM25, which has no upper end, so a text score counts as its part of the best one among these
    candidates. Recency halves every 7 days since the memory was created.
    """
    pool = list(candidates)
    best_text = max((candidate.text.score for candidate in pool if candidate.text), default=0.0)
    wanted = intent_of(query)
    return in_total_order([_score(candidate, policy, now, best_text, wanted) for candidate in pool])


def _score(
    candidate: Candidate, policy: LifecyclePolicy, now: datetime, best_text: float, wanted: Intent
) -> Scored:
    by_text = candidate.text.score / best_text if candidate.text and best_text > 0 else 0.0
    importance = candidate.importance / 100 - policy.importance_neutral
    blended = {
        "similarity": max(candidate.cosine, by_text),
        "recency": 0.5 ** (candidate.age_days(now) / policy.half_life_days),
    }
    added = {
        "access": _access(candidate, policy),
        "importance": policy.importance_weight * importance,
        "feedback": _feedback(candidate, policy),
        "negative": _negative(candidate, policy),
        "intent": policy.intent_routing_boost * _intent_match(candidate, policy, wanted),
    }
    share = policy.recency_weight
    base = (1 - share) * blended["similarity"] + share * blended["recency"]
    return Scored(candidate=candidate, score=base + sum(added.values()), factors=blended | added)


def _intent_match(candidate: Candidate, policy: LifecyclePolicy, wanted: Intent) -> float:
    """How well a candidate is after what a cue is after; one that is after nothing matches none."""
    return intent_match(wanted, _intent(candidate), policy) if wanted != Intent() else 0.0


def _intent(candidate: Candidate) -> Intent:
    """What a candidate is after: as it was noted when it was stored, else by its words."""
    if candidate.intent is not None:
        return noted_intent(candidate.intent)
    return intent_of(candidate.content)


def _access(candidate: Candidate, policy: LifecyclePolicy) -> float:
    """What recalls before add: up to 0.1."""
    if not policy.boost_access_count:
        return 0.0
    return min(log10(candidate.recall_count + 1) / policy.access_divisor, policy.access_max)


def _feedback(candidate: Candidate, policy: LifecyclePolicy) -> float:
    """What answers about the memory add: up to 0.15, down to -0.30."""
    ups = min(candidate.feedback_up, policy.feedback_max)
    downs = min(candidate.feedback_down, policy.feedback_max)
    return ups * policy.feedback_up - downs * policy.feedback_down


def _negative(candidate: Candidate, policy: LifecyclePolicy) -> float:
    """What being a known wrong answer takes away: down to -0.25."""
    hits = min(candidate.negative_hits, policy.negative_hits_max)
    return -min(hits * policy.negative_hit, policy.negative_max) if hits else 0.0
