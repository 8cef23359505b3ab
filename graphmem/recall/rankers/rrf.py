"""``rrf``: reciprocal rank fusion with the modifiers of the typed graph (002, Retrieval)."""

from collections.abc import Iterable
from datetime import datetime

from graphmem.model.policy import RrfPolicy
from graphmem.recall.candidates import Candidate, Scored, in_total_order

_SECONDS_PER_DAY = 86_400


def rrf(candidates: Iterable[Candidate], policy: RrfPolicy, *, now: datetime) -> list[Scored]:
    """Score candidates and order them; the scale is 0 to 4 / (k + 1)."""
    return in_total_order([_score(candidate, policy, now) for candidate in candidates])


def _score(candidate: Candidate, policy: RrfPolicy, now: datetime) -> Scored:
    age_days = max(0.0, (now - candidate.updated_at).total_seconds() / _SECONDS_PER_DAY)
    arms = {
        "vector": 1 / (policy.k + candidate.vector.rank) if candidate.vector else 0.0,
        "text": 1 / (policy.k + candidate.text.rank) if candidate.text else 0.0,
    }
    if candidate.graph:
        arms["graph"] = 1 / (policy.k + candidate.graph.rank)
    factors = arms | {
        "importance": 1 + candidate.importance / 100,
        "confidence": candidate.confidence,
        "recency": 1 / (1 + age_days / policy.age_days),
        "contradiction": policy.contradiction if candidate.contested else 1.0,
    }
    score = sum(arms.values())
    for name in ("importance", "confidence", "recency", "contradiction"):
        score *= factors[name]
    return Scored(candidate=candidate, score=score, factors=factors)
