"""Candidates: memories under consideration, with their place in each arm and what rankers look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """The place of a candidate in one arm: its rank from 1, and the arm's own score.

    The vector score is (1 + cosine) / 2, the text score is BM25.
    """

    rank: int
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A memory under consideration. ``contested``: an unresolved contradiction touches it."""

    key: str
    uid: str
    importance: int
    confidence: float
    updated_at: datetime
    contested: bool = False
    vector: Arm | None = None
    text: Arm | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A candidate with its score and the factors that made it."""

    candidate: Candidate
    score: float
    factors: Mapping[str, float]


def in_total_order(scored: list[Scored]) -> list[Scored]:
    """Best first: by score rounded to six places, then uid, so that the order never flickers."""
    return sorted(scored, key=lambda entry: (-round(entry.score, 6), entry.candidate.uid, entry.candidate.key))
