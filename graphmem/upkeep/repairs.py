"""Repairs: what has lost its memory, or was drawn over a wall, is removed. An operation.

Edges of one uid get uids of their own. Which value of a key holds, people decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.space import Space
from graphmem.store.inspection import Leftovers, read_leftovers, remove_leftovers
from graphmem.store.writes import lock_claims


@dataclass(frozen=True, kw_only=True)
class RemoveLeftovers(Operation[Leftovers, Leftovers]):
    """Remove claims that point to no memory, and edges from one space into another."""

    kind = "integrity"

    space: str  # a key, or empty for all

    @property
    def spaces(self) -> Sequence[Space]:
        """None: jobs need no authorisation."""
        return ()

    def read(self, transaction: Workbench) -> Leftovers:
        """What is left over; a claim that a write has just used is none."""
        found = read_leftovers(transaction, self.space)
        locked = lock_claims(transaction, found.claims)
        used = {claim for claim, row in locked.items() if row["memory"] or row["retracted"]}
        return replace(found, claims=[claim for claim in found.claims if claim not in used])

    def decide(self, state: Leftovers, now: datetime) -> Decided[Leftovers]:  # noqa: ARG002
        """All that rules can mend, with an event for each edge."""
        events = tuple(
            Event(
                space=edge.space,
                subject=edge.uid,
                effect=Effect.REPAIRED,
                reason=reason,
                detail={"type": edge.type},
            )
            for reason, edges in (
                (Reason.EDGES_ACROSS_SPACES, state.edges),
                (Reason.EDGES_OF_ONE_UID, state.shared_uids),
            )
            for edge in edges
        )
        return Decided(answer=state, events=events)

    def apply(self, transaction: Workbench, decided: Decided[Leftovers]) -> None:
        """Delete the claims and the edges."""
        remove_leftovers(transaction, decided.answer)
