"""``rrf``: reciprocal rank fusion with the modifiers of the typed graph (002, Retrieval)."""

from collections.abc import Iterable
from datetime import datetime
from math import prod

from graphmem.model.policy import RrfPolicy
from graphmem.recall.candidates import Candidate, Scored, in_total_order, reciprocal_ranks

_SECONDS_PER_DAY = 86_400


def rrf(candidates: Iterable[Candidate], policy: RrfPolicy, *, now: datetime) -> list[Scored]:
    """Score candidates and order them; the scale is 0 to 4 / (k + 1)."""
    return in_total_order([_score(candidate, policy, now) for candidate in candidates])


def _score(candidate: Candidate, policy: RrfPolicy, now: datetime) -> Scored:
    age_days = max(0.0, (now - candidate.updated_at).total_seconds() / _SECONDS_PER_DAY)
    arms = reciprocal_ranks(candidate, policy.k)
    modifiers = {
        "importance": 1 + candidate.importance / 100,
        "confidence": candidate.confidence,
        "recency": 1 / (1 + age_days / policy.age_days),
        "contradiction": policy.contradiction if candidate.contested else 1.0,
    }
    score = sum(arms.values()) * prod(modifiers.values())
    return Scored(candidate=candidate, score=score, factors=arms | modifiers)
