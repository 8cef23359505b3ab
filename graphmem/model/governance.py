"""Governance: items that a contract governs, the places where they lie, and their phases (004)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from graphmem.model.memory import Authority
from graphmem.model.space import Space, SpaceKind

ROOM = "governance"
SCOPE = "session"  # of every item, in the form of the source


class ItemKind(StrEnum):
    """What an item is: a turn of the present talk, a snippet of it, or a stable fact."""

    SHORT_TERM = "short_term"
    SEMANTIC = "semantic"
    PROFILE = "profile"


class EventType(StrEnum):
    """What the text of an item is about; in the order in which contracts list them."""

    CONTEXT = "context"
    CORRECTION = "correction"
    DECISION = "decision"
    EXECUTION = "execution"
    FACT = "fact"
    PREFERENCE = "preference"


class ItemSource(StrEnum):
    """Whose words an item has."""

    USER = "user"
    AI = "ai"
    TOOL = "tool"
    SYSTEM = "system"


class FactKey(StrEnum):
    """The facts of a profile, in the order in which a text is searched for them."""

    NAME = "name"
    TIMEZONE = "timezone"
    LANGUAGE = "language"
    PROJECT = "project"
    EDITOR = "editor"
    UNITS = "units"


class Gone(StrEnum):
    """Why an item is deleted, in the words of the source; in the graph it only leaves."""

    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    PROMOTED = "promoted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """A phase of a space: ``index`` counts from 1, ``started_at`` is a tick of its clock."""

    index: int
    started_at: int
    reason: str
    name: str | None = None

    @property
    def id(self) -> str:
        """How events name it: ``phase-1``."""
        return phase_id(self.index)

    @property
    def shown(self) -> dict[str, Any]:
        """What items and events say of it."""
        named = {"phase_name": self.name} if self.name else {}
        return {
            "phase_id": self.id,
            "phase_started_at": self.started_at,
            "phase_reason": self.reason,
            **named,
        }


def phase_id(index: int) -> str:
    """How events name a phase by its number in its space."""
    return f"phase-{index}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One item. ``created_at`` is a tick, ``importance`` 1 to 7, ``uid`` that of its memory.

    ``mark`` is what its age is counted from: its tick, or in a space that several share its number
    among all that was created there.
    """

    uid: str
    space: Space
    kind: ItemKind
    number: int  # within its space and kind, from 1
    text: str
    source: ItemSource
    created_at: int
    mark: int
    importance: int
    importance_reason: tuple[str, ...]
    event_type: EventType
    dedup_key: str
    authority: Authority
    authority_reason: str
    phase: Phase
    key: FactKey | None = None
    source_turn_ids: tuple[str, ...] = ()
    summary_of: tuple[str, ...] = ()
    promotion_target: SpaceKind | None = None
    promotion_reason: str | None = None
    promoted_from: str | None = None
    policy_tags: tuple[str, ...] | None = None
    expires_at: int | None = None  # a tick

    @property
    def id(self) -> str:
        """How events name it: ``session:s1:short_term:1``."""
        return item_id(self.space, self.kind, self.number)

    @property
    def is_summary(self) -> bool:
        """Whether it sums up messages that left."""
        return bool(self.summary_of)


def item_id(space: Space, kind: ItemKind, number: int) -> str:
    """How events name an item."""
    return f"{space.kind.value}:{space.owner}:{kind.value}:{number}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """What lasts of a space: who owns a session, the last phase token, and its counters.

    ``numbers`` are the last ones given, by kind; ``created`` counts all items that were made there;
    ``top_tick`` is the highest tick there. Ledgers of phases up to ``dropped`` are no more. The
    clock of a person is that of his user space.
    """

    space: Space
    person: str | None = None
    token: str | None = None
    phase: Phase | None = None  # the present one
    dropped: int = 0
    numbers: Mapping[ItemKind, int] = field(default_factory=dict)
    created: int = 0
    top_tick: int = 0
    clock: int = 1  # the next tick

    @property
    def is_shared(self) -> bool:
        """Whether several people write there: then age counts items, not ticks of one of them."""
        return self.space.kind in {SpaceKind.PROJECT, SpaceKind.SYSTEM}

    def has_ledger(self, phase: int) -> bool:
        """Whether there is a ledger of a phase."""
        return self.phase is not None and self.dropped < phase <= self.phase.index


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """An item in the ledgers of its space: there from one phase on, until before another."""

    id: str
    kind: ItemKind
    dedup_key: str
    created_at: int  # a tick
    added: int
    deleted: int | None = None

    def is_in(self, phase: int) -> bool:
        """Whether the ledger of a phase holds it."""
        return self.added <= phase and (self.deleted is None or phase < self.deleted)


def ledger_entry(item: Item, *, deleted: int | None = None) -> LedgerEntry:
    """What ledgers say of an item, which one phase deleted if it is not there for ever."""
    return LedgerEntry(
        id=item.id,
        kind=item.kind,
        dedup_key=item.dedup_key,
        created_at=item.created_at,
        added=item.phase.index,
        deleted=deleted,
    )
