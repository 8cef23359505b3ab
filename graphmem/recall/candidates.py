"""Candidates: memories under consideration, with their ranks and what rankers look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """A candidate in one arm: its rank from 1, and the arm's own score.

    The vector score is (1 + cosine) / 2, the text score is BM25.
    """

    rank: int
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A memory under consideration.

    ``importance`` runs from 0 to 100, ``confidence`` from 0 to 1. ``contested``: an unresolved
    contradiction touches it. ``entities`` are the keys of the entities it mentions.
    ``recall_count``: how often it came back before. ``feedback_up`` and ``feedback_down`` count the
    answers that called it helpful or not, ``negative_hits`` the cues it was marked as a wrong
    answer to.
    """

    key: str
    uid: str
    importance: int
    confidence: float
    updated_at: datetime
    created_at: datetime | None = None
    content: str = ""
    said_at: datetime | None = None  # or stored, where that is not known
    is_episode: bool = False
    intent: Mapping[str, object] | None = None  # as 003 noted it when the memory was stored
    is_in_turn: bool = False  # a fact of a turn that is a candidate itself
    entities: tuple[str, ...] = ()
    recall_count: int = 0
    feedback_up: int = 0
    feedback_down: int = 0
    negative_hits: int = 0
    contested: bool = False
    vector: Arm | None = None
    text: Arm | None = None
    graph: Arm | None = None

    @property
    def cosine(self) -> float:
        """The cosine to the cue, 0 to 1: 0 where it is negative or there is no vector arm."""
        return min(max(2 * self.vector.score - 1, 0.0), 1.0) if self.vector else 0.0

    def age_days(self, now: datetime) -> float:
        """Days since it was learned, or since its last change where that is not known.

        Never negative.
        """
        return max(0.0, (now - (self.created_at or self.updated_at)) / _DAY)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A candidate with its score and the factors that made it."""

    candidate: Candidate
    score: float
    factors: Mapping[str, float]


def reciprocal_ranks(candidate: Candidate, k: int) -> dict[str, float]:
    """``1 / (k + rank)`` in each arm: 0 without a vector or text rank, no graph without one."""
    arms = {"vector": candidate.vector, "text": candidate.text}
    if candidate.graph:
        arms["graph"] = candidate.graph
    return {name: 1 / (k + arm.rank) if arm else 0.0 for name, arm in arms.items()}


def in_total_order(scored: list[Scored]) -> list[Scored]:
    """Best first: by score rounded to six places, then uid, so that the order never flickers."""
    return sorted(
        scored, key=lambda entry: (-round(entry.score, 6), entry.candidate.uid, entry.candidate.key)
    )
