"""Tending: what upkeep reads of a space and of the memories in it before it decides."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.memory import Memory


@dataclass(frozen=True, kw_only=True, slots=True)
class SpaceState:
    """A space with active memories: when it was last looked after, and what came since.

    ``space`` is a key.
    """

    space: str
    curated_at: datetime | None = None
    new_memories: int = 0  # active ones, since it was curated
    fold_due: bool = False
    consolidated_at: datetime | None = None
    # moments at which something new was written, since it was consolidated; in a space with turns
    writes: int = 0  # extractions that kept something
    memories: int = 0  # active ones
    check_due: bool = False  # whether contradictions are to be looked for in all of it
    checked_at: datetime | None = None  # when they were
    unchecked: int = 0  # memories that came or changed since


@dataclass(frozen=True, kw_only=True, slots=True)
class DedupeCandidate:
    """What an active memory says: of what type, by whom."""

    key: str
    space: str
    type: str
    actor: str | None
    logical_key: str | None
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Foldable:
    """A fact that may be folded, in the version that was read."""

    key: str
    version: int
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityNames:
    """An entity as a memory mentions it, with all names that it goes by."""

    key: str
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityStatement:
    """An active memory that mentions entities, in the version that was read."""

    key: str
    version: int
    content: str
    created_ms: int
    valid_from: datetime | None
    valid_until: datetime | None
    entities: tuple[EntityNames, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Summarisable:
    """An entity with the facts to summarise it from, how many there are, and were then."""

    key: str
    label: str
    facts: int
    contents: tuple[str, ...]  # most important first
    sources: tuple[str, ...]  # the keys of the memories that say so
    summarised: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySummary:
    """What is known of an entity within one space, in a few words."""

    text: str
    facts: int
    by: str  # rules, or the model
    made_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicRow:
    """A topic of a space as it is kept."""

    topic: str
    score: float
    memories: int
    uids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarPair:
    """A new memory and one that is near it, if any is; ``similarity`` is their cosine.

    Both are keys.
    """

    key: str
    other: str | None
    similarity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Topic:
    """A topic: its usual spelling, how much it stands out, and the memories most about it."""

    term: str
    label: str
    score: float
    memories: int
    examples: tuple[str, ...]  # keys, those most about it first


@dataclass(frozen=True, kw_only=True, slots=True)
class InspectedMemory:
    """A memory and what was found around it."""

    memory: Memory
    tokens: str  # the index tokens as they are stored
    has_vectors: bool
    has_stale_copies: bool
    has_successor: bool
    mentions_merged: bool = False  # an entity that was merged into another
    quiet_turns: tuple[tuple[str, str | None], ...] = ()  # what is not active beside it, and whose
    gone_members: tuple[tuple[str, str], ...] = ()  # keys and contents of what it was made from
