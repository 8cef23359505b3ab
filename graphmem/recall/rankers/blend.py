"""``blend``: similarity, recency and the frequency of entities (001, Retrieval)."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from statistics import fmean

from graphmem.model.policy import BlendPolicy
from graphmem.recall.candidates import Candidate, Scored, in_total_order


def blend(candidates: Iterable[Candidate], policy: BlendPolicy, *, now: datetime) -> list[Scored]:
    """Score candidates from 0 to 1 and order them.

    The score is 0.4 similarity + 0.3 recency + 0.3 frequency, each from 0 to 1: similarity is the
    cosine, recency halves every 14 days since the memory was created, and frequency compares the
    entities of the memory with the one that most of these candidates mention.
    """
    pool = list(candidates)
    counts = Counter(key for candidate in pool for key in _refs(candidate, policy))
    return in_total_order([_score(candidate, policy, counts, now) for candidate in pool])


def _score(
    candidate: Candidate, policy: BlendPolicy, counts: Counter[str], now: datetime
) -> Scored:
    factors = {
        "similarity": candidate.cosine,
        "recency": 0.5 ** (candidate.age_days(now) / policy.half_life_days),
        "frequency": _frequency(_refs(candidate, policy), counts),
    }
    score = (
        policy.similarity_weight * factors["similarity"]
        + policy.recency_weight * factors["recency"]
        + policy.frequency_weight * factors["frequency"]
    )
    return Scored(candidate=candidate, score=score, factors=factors)


def _refs(candidate: Candidate, policy: BlendPolicy) -> list[str]:
    return list(dict.fromkeys(candidate.entities))[: policy.entities_used]


def _frequency(refs: list[str], counts: Counter[str]) -> float:
    """The mean count of these entities, as a part of the highest count; 0 without entities."""
    return fmean(counts[key] for key in refs) / max(counts.values()) if refs else 0.0
