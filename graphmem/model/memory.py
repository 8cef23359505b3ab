"""Memory: one remembered statement with its provenance, time and status."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from graphmem.model.entity import EntityRef
from graphmem.model.source import Source
from graphmem.model.space import Space, SpaceKind

# a uid of ours, a UUIDv7, in the form that Python and Cypher share
MADE_UID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"


class MemoryType(StrEnum):
    """The eight types of 002; each is also a label on the node."""

    FACT = "Fact"
    PREFERENCE = "Preference"
    DECISION = "Decision"
    IDENTITY = "Identity"
    EVENT = "Event"
    OBSERVATION = "Observation"
    GOAL = "Goal"
    TODO = "Todo"


class Status(StrEnum):
    """Whether a memory is current; nothing is deleted in normal operation."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    RETRACTED = "retracted"


class Authority(StrEnum):
    """How a memory is backed, strongest first (004)."""

    SYSTEM_IMPOSED = "system_imposed"
    TOOL_VERIFIED = "tool_verified"
    USER_ASSERTED = "user_asserted"
    AI_INFERRED = "ai_inferred"


def shown_status(status: Status, space: Space) -> Status:
    """The status that answers give: a typed graph has three and calls archived superseded (002)."""
    is_typed = space.kind is SpaceKind.ORCHESTRATOR
    return Status.SUPERSEDED if is_typed and status is Status.ARCHIVED else status


class MemoryKind(StrEnum):
    """What a memory without a keeper is of (003): what happened once, or what holds until then."""

    EPISODE = "episode"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One memory as it is stored. Importance is 0 to 100, confidence 0 to 1, all times are UTC."""

    uid: str
    space: Space
    type: MemoryType
    content: str
    summary: str
    created_at: datetime
    updated_at: datetime
    actor: str | None = None
    context: str | None = None
    context_built: bool = (
        False  # made from the neighbouring turns, so it is remade when they change
    )
    importance: int = 50
    confidence: float = 0.8
    entities: tuple[EntityRef, ...] = ()
    logical_key: str | None = None
    status: Status = Status.ACTIVE
    status_reason: str | None = None
    status_at: datetime | None = None
    pinned: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    source: Source = field(default_factory=Source)  # the first one
    more_sources: tuple[Source, ...] = ()  # the newest further ones, oldest first
    sources_total: int = 1
    turns: tuple[str, ...] = ()  # uids of the newest turns that it is of, oldest first
    authority: Authority = Authority.USER_ASSERTED
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    mention_count: int = 1
    recall_count: int = 0
    last_recalled_at: datetime | None = None
    embedded: bool = True  # whether vectors are there
    claims_content: bool = True  # whether equal content reinforces it
    version: int = 1
    native: Mapping[str, object] | None = None  # values of the source system, of its room
    kept_by: str | None = None  # the room whose rules alone may change it

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return memory_key(self.space, self.uid)

    @property
    def kind(self) -> str | None:
        """What its kind is, where its room says one: an ``episode`` or a ``note`` (003)."""
        return self._native_word("kind")

    @property
    def category(self) -> str | None:
        """What kind of statement it is, where its room says so (003)."""
        return self._native_word("category")

    def _native_word(self, name: str) -> str | None:
        word = (self.native or {}).get(name)
        return str(word) if word and self.kept_by is None else None

    @property
    def is_episode(self) -> bool:
        """Whether it tells what happened; jobs leave its words as they are (003)."""
        return self.kind == MemoryKind.EPISODE

    @property
    def has_made_uid(self) -> bool:
        """Whether nobody chose its uid: what claims its content has none of its caller."""
        return self.claims_content or re.fullmatch(MADE_UID, self.uid) is not None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The first source and the newest further ones, oldest first."""
        first = self.source if self.source.at else replace(self.source, at=self.created_at)
        return (first, *self.more_sources)

    def has_expired(self, now: datetime) -> bool:
        """Whether its time has passed; the expire job may be a few minutes behind."""
        return self.expires_at is not None and self.expires_at <= now

    def is_current(self, now: datetime) -> bool:
        """Whether it is active and its time has not passed."""
        return self.status is Status.ACTIVE and not self.has_expired(now)

    def is_over(self, now: datetime) -> bool:
        """Whether it is no longer true, though it was."""
        return self.valid_until is not None and self.valid_until <= now

    def overlaps(self, other: "Memory") -> bool:
        """Whether there is a time at which both may be true."""
        return not (
            (self.valid_from and other.is_over(self.valid_from))
            or (other.valid_from and self.is_over(other.valid_from))
        )

    def is_before(self, other: "Memory") -> bool:
        """Whether both have a begin of their own, and this one begins earlier."""
        begins = (self.valid_from or self.occurred_at, other.valid_from or other.occurred_at)
        return None not in begins and self.began < other.began

    @property
    def began(self) -> datetime:
        """Since when it is true, if known: valid_from, else when it happened or was said."""
        return self.valid_from or self.occurred_at or self.created_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """An earlier version of a memory, kept whole, and when another took its place."""

    memory: Memory
    replaced_at: datetime


def says_the_same(earlier: Memory, later: Memory) -> bool:
    """Whether a change is only bookkeeping: counts, sources, vectors, or a built context."""
    bookkeeping = {
        name: getattr(earlier, name)
        for name in (
            "updated_at",
            "version",
            "mention_count",
            "recall_count",
            "last_recalled_at",
            "embedded",
            "more_sources",
            "sources_total",
            "turns",
        )
    }
    if later.context_built:
        bookkeeping["context"] = earlier.context
    return replace(later, **bookkeeping) == earlier


def memory_key(space: Space, uid: str) -> str:
    """The unique key of a memory: its uid counts only within its space."""
    return f"{space.key}|{uid}"
