"""Memory operation: the half of an operation that locks, reads and writes memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.gateway.operation import (
    Answer,
    Decided,
    Operation,
    apply_reactions,
    with_reactions,
)
from graphmem.gateway.reactions import memory_changes, read_resting
from graphmem.gateway.tracing import status_events
from graphmem.gateway.workbench import Workbench
from graphmem.model.event import Event
from graphmem.model.state import GraphState, Selection
from graphmem.ports import Vector
from graphmem.store.writes import apply_decision, read_state


@dataclass(frozen=True, kw_only=True)
class MemoryOperation(Operation[GraphState, Answer]):
    """An operation on memories: a selection is read, a decision applied.

    A room that changes records of its own together with memories overrides ``read_records``, whose
    answer is ``records`` of the state, and ``apply_records``.
    """

    vectors: Mapping[int, Sequence[Vector]] = field(default_factory=dict)  # by index of the item

    def selection(self) -> Selection:
        """The memories and what belongs to them that it locks and reads."""
        return Selection()

    def read_records(self, transaction: Workbench) -> Any:  # noqa: ANN401, ARG002 - of a room
        """Lock and read records of the room."""
        return None

    def apply_records(self, transaction: Workbench, decided: Decided[Answer]) -> None:
        """Write what was decided of the room's records."""

    def read(self, transaction: Workbench) -> GraphState:
        """Lock and read the selection, with the records of the room and what rests on both."""
        reactions = transaction.reactions

        def read_records(memories: Sequence[str]) -> tuple[Any, Any]:
            own = self.read_records(transaction)
            return own, read_resting(transaction, reactions, memories=memories)

        return read_state(
            transaction, self.selection(), now=transaction.now, read_records=read_records
        )

    def react(self, state: GraphState, decided: Decided[Answer], now: datetime) -> Decided[Answer]:
        """Let rooms decide what follows from memories that left, came back or were reworded."""
        changes = memory_changes(state.memories, decided.memories)
        return with_reactions(decided, state.resting, changes, now)

    def status_events(self, state: GraphState, decided: Decided[Answer]) -> Sequence[Event]:
        """Which memories it supersedes or retracts."""
        return status_events(state.memories, decided.memories)

    def apply(self, transaction: Workbench, decided: Decided[Answer]) -> None:
        """Write the memories, the records of the room, and what other rooms decided."""
        index = transaction.index
        locked = self.selection().locks
        apply_decision(transaction, decided.memories, index.enrichment(self.vectors), locked)
        self.apply_records(transaction, decided)
        apply_reactions(transaction, decided)
