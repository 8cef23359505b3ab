"""Metrics: pure functions over ranked results.

A result is a group of turn ids: texts that were said several times are one memory and stand for all
of them.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)
Group = Sequence[str]


def turn_recall(ranked: Sequence[Group], gold: AbstractSet[str], k: int) -> float:
    """The share of the gold turns among the first k results."""
    return len(gold & _among(ranked, k)) / len(gold)


def turn_hit(ranked: Sequence[Group], gold: AbstractSet[str], k: int) -> float:
    """1 when any gold turn is among the first k results."""
    return float(not gold.isdisjoint(_among(ranked, k)))


def first_sessions(ranked: Sequence[Group], sessions: Mapping[str, str], k: int) -> tuple[str, ...]:
    """The first k distinct sessions, in order of their first result.

    A group counts for the session of its first turn.
    """
    return tuple(dict.fromkeys(sessions[group[0]] for group in ranked))[:k]


def any_found(found: Iterable[str], gold: AbstractSet[str]) -> float:
    """1 when any of the gold is found."""
    return float(not gold.isdisjoint(found))


def all_found(found: Iterable[str], gold: AbstractSet[str]) -> float:
    """1 when all of the gold is found."""
    return float(gold <= set(found))


def mean(values: Sequence[float]) -> float:
    """The mean; nan of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies, interpolated; nan of nothing."""
    if not values:
        return math.nan
    ordered = sorted(values)
    rank = share * (len(ordered) - 1)
    low = math.floor(rank)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Item]], *, k: int = 60) -> list[Item]:
    """All items of some rankings by the sum of 1 / (k + rank).

    Equal sums keep the order of first sight.
    """
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda item: -scores[item])


def _among(ranked: Sequence[Group], k: int) -> set[str]:
    return {turn for group in ranked[:k] for turn in group}
