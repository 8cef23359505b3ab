"""Reactions: what rooms do, inside an operation, when what their records rest on changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from graphmem.model.conversation import Turn
from graphmem.model.entity_change import EntityChange
from graphmem.model.event import Event
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Decision
from graphmem.store.connection import Transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What an operation changed under the records of rooms. Memories are in their new form."""

    left: tuple[Memory, ...] = ()  # that were active and no longer are
    returned: tuple[Memory, ...] = ()
    reworded: tuple[Memory, ...] = ()
    turns: tuple[Turn, ...] = ()  # taken back
    entities: tuple[EntityChange, ...] = ()  # merged, split, or parted again

    def __bool__(self) -> bool:
        """Whether anything changed that a record could rest on."""
        return bool(self.left or self.returned or self.reworded or self.turns or self.entities)


class Reaction(Protocol):
    """What one room does. ``decide`` is pure over the room's own records."""

    def read(
        self,
        transaction: Transaction,
        *,
        memories: Sequence[str],
        entities: Sequence[str],
        turns: Sequence[str],
    ) -> Any:  # noqa: ANN401 - its own records
        """Lock and read the records that rest on memories, entities or turns, by their keys."""

    def decide(
        self,
        records: Any,  # noqa: ANN401
        changes: Changes,
        now: datetime,
    ) -> tuple[Any, Sequence[Event]]:
        """What becomes of these records, and the events that say so."""

    def apply(self, transaction: Transaction, change: Any) -> None:  # noqa: ANN401
        """Write what was decided."""


Resting = tuple[tuple[Reaction, Any], ...]  # each reaction with the records that it read


def read_resting(
    transaction: Transaction,
    reactions: Sequence[Reaction],
    *,
    memories: Sequence[str] = (),
    entities: Sequence[str] = (),
    turns: Sequence[str] = (),
) -> Resting:
    """Lock and read all that rests on some memories, entities and turns, room by room."""
    if not (memories or entities or turns):
        return ()
    return tuple(
        (each, each.read(transaction, memories=memories, entities=entities, turns=turns))
        for each in reactions
    )


def memory_changes(before: Mapping[str, Memory], decision: Decision) -> Changes:
    """Which memories left, came back or were reworded by a decision."""
    pairs = [(before[after.key], after) for after in decision.changed if after.key in before]
    return Changes(
        left=tuple(after for was, after in pairs if _is_active(was) and not _is_active(after)),
        returned=tuple(after for was, after in pairs if _is_active(after) and not _is_active(was)),
        reworded=tuple(after for was, after in pairs if was.content != after.content),
        turns=decision.turns.retracted,
    )


def _is_active(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE
