"""Reaction: an item that somebody took back is present no more, and its ledger ends (004)."""

from collections.abc import Sequence
from datetime import datetime

from graphmem.gateway.reactions import Changes
from graphmem.model.event import Event
from graphmem.model.governance import ROOM
from graphmem.model.memory import Status
from graphmem.store.connection import Transaction
from graphmem.store.governance import leave_now


class EndLedgers:
    """What governance does when memories that it keeps are retracted; its own calls do so apart."""

    def read(
        self,
        transaction: Transaction,
        *,
        memories: Sequence[str],
        entities: Sequence[str],
        turns: Sequence[str],
    ) -> None:
        """Nothing: which of them it keeps is known when they have left."""

    def decide(
        self,
        records: None,  # noqa: ARG002
        changes: Changes,
        now: datetime,  # noqa: ARG002
    ) -> tuple[Sequence[str], Sequence[Event]]:
        """The keys of the items that were retracted."""
        retracted = [
            memory.key
            for memory in changes.left
            if memory.kept_by == ROOM and memory.status is Status.RETRACTED
        ]
        return retracted, ()

    def apply(self, transaction: Transaction, change: Sequence[str]) -> None:
        """Let them be present no more."""
        if change:
            leave_now(transaction, change)
