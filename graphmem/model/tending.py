"""Tending: what upkeep reads of a space and of the memories in it before it decides."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TendedSpace:
    """A space with active memories: when it was last looked after, and what came since. ``space`` is a key."""

    space: str
    curated_at: datetime | None = None
    new_memories: int = 0  # active ones, since it was curated
    fold_due: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Saying:
    """What an active memory says: of what type, by whom."""

    key: str
    space: str
    type: str
    actor: str | None
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Foldable:
    """A fact that may be folded, in the version that was read."""

    key: str
    version: int
    content: str
