"""Repairs: what has lost its memory, or was drawn over a wall, is removed. Operations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.space import Space
from graphmem.store.inspection import (
    CrossingEdge,
    crossing_edges,
    lock_empty_claims,
    remove_claims,
    remove_edges,
)


@dataclass(frozen=True, kw_only=True)
class RemoveEmptyClaims(Operation[list[str], int]):
    """Remove claims that point to no memory, in one space or in all; says how many."""

    kind = "integrity"

    space: str  # a key, or empty

    @property
    def spaces(self) -> Sequence[Space]:
        """None: jobs need no authorisation."""
        return ()

    def read(self, transaction: Workbench) -> list[str]:
        """The claims, locked, because a write may be about to use one."""
        return lock_empty_claims(transaction, self.space)

    def decide(self, state: list[str], now: datetime) -> Decided[int]:  # noqa: ARG002
        """All that still point to nothing under their lock."""
        return Decided(answer=len(state), records=state)

    def apply(self, transaction: Workbench, decided: Decided[int]) -> None:
        """Remove them."""
        remove_claims(transaction, decided.records)


@dataclass(frozen=True, kw_only=True)
class RemoveCrossingEdges(Operation[list[CrossingEdge], int]):
    """Remove edges that somebody drew from one space into another; says how many."""

    kind = "integrity"

    space: str  # a key, or empty

    @property
    def spaces(self) -> Sequence[Space]:
        """None: jobs need no authorisation."""
        return ()

    def read(self, transaction: Workbench) -> list[CrossingEdge]:
        """The edges."""
        return crossing_edges(transaction, self.space)

    def decide(self, state: list[CrossingEdge], now: datetime) -> Decided[int]:  # noqa: ARG002
        """All of them, with an event for each."""
        events = tuple(
            Event(
                space=edge.space,
                subject=edge.uid,
                effect=Effect.REPAIRED,
                reason=Reason.EDGES_ACROSS_SPACES,
                detail={"type": edge.type},
            )
            for edge in state
        )
        return Decided(answer=len(state), events=events, records=state)

    def apply(self, transaction: Workbench, decided: Decided[int]) -> None:
        """Remove them."""
        remove_edges(transaction, decided.records)
