"""Governed operation: what calls and imposed items lock, read and write alike (004)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from graphmem.errors import NotFound
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Answer
from graphmem.gateway.reactions import read_resting
from graphmem.gateway.screening import text_refusal
from graphmem.gateway.workbench import Workbench
from graphmem.governance.contract import Contract
from graphmem.governance.contract_form import contract_of_document
from graphmem.governance.stored_events import compact
from graphmem.governance.written import Written
from graphmem.model.caller import Caller
from graphmem.model.governance import Item, Place
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.policy import Policy
from graphmem.model.space import Space, SpaceKind
from graphmem.model.state import GraphState
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.store.contracts import profile_key
from graphmem.store.governance import lock_places, save_changes
from graphmem.store.writes import lock_claims, lock_memories


@dataclass(frozen=True, kw_only=True)
class GovernedOperation(MemoryOperation[Answer]):
    """An operation under a contract, whose trace it keeps itself.

    ``policy`` is that of the space in which it writes, ``uids`` are for new items.
    """

    kind = TraceKind.GOVERNANCE

    caller: Caller
    policy: Policy
    uids: Sequence[str]
    trace_id: str

    def lock_claims(self, transaction: Workbench) -> Mapping[str, str]:
        """Take the locks of what it may claim; which memory holds each."""
        locked = lock_claims(transaction, self.selection().claims)
        return {claim: row["memory"] for claim, row in locked.items() if row["memory"]}

    def lock_places(
        self,
        transaction: Workbench,
        profile: str,
        spaces: Iterable[Space],
        *,
        makes: Iterable[Space],
    ) -> tuple[Mapping[SpaceKind, Place], int, Contract]:
        """Take the locks of places; these, and the contract of a profile with its version.

        Raises:
            NotFound: the profile has no contract.
        """
        key = profile_key(self.caller.tenant, profile)
        places, found = lock_places(transaction, spaces, makes=makes, profile=key)
        if found is None:
            message = f"There is no contract for the profile {profile}."
            raise NotFound(message)
        version, document = found
        return places, version, contract_of_document(document)

    def lock_items(
        self, transaction: Workbench, items: Sequence[Item]
    ) -> tuple[Mapping[str, Memory], list[Item]]:
        """Take the locks of items; their memories, and those that are still present."""
        keys = {memory_key(item.space, item.uid): item for item in items}
        memories = lock_memories(transaction, sorted(keys)) if keys else {}
        active = {key for key, memory in memories.items() if memory.status is Status.ACTIVE}
        return memories, [item for key, item in keys.items() if key in active]

    def state(
        self,
        transaction: Workbench,
        claims: Mapping[str, str],
        memories: Mapping[str, Memory],
        records: Any,  # noqa: ANN401 - of the operation
    ) -> GraphState:
        """What was read, with what rests on the memories."""
        resting = read_resting(transaction, transaction.reactions, memories=sorted(memories))
        return GraphState(memories=memories, claims=claims, records=records, resting=resting)

    def screen(self, text: str) -> str | None:
        """Why the service does not store a text, whatever a contract says."""
        return text_refusal([text], self.policy)

    def save(
        self,
        transaction: Workbench,
        written: Written,
        spaces: Sequence[Space],
        *,
        hides_query: bool,
    ) -> None:
        """Write what it changed, with its trace; ``spaces`` are those that this tells of."""
        frame, days = written.world.frame, written.world.contract.keep_events_days
        trace = TraceRecord(
            uid=self.trace_id,
            kind=self.kind,
            tenant=self.caller.tenant,
            spaces=tuple(space.key for space in spaces),
            key_id=self.caller.key_id,
            created_at=written.now,
            events=compact(written.events, hides_query=hides_query),
            request={
                "profile": frame.profile,
                "version": written.version,
                "session": frame.session,
                "clock": written.world.clock,
            },
            forget_at=written.now + timedelta(days=days) if days else None,
        )
        save_changes(transaction, written.changes, trace, told=written.told)

    def traces(self, *_: object, **__: object) -> list[TraceRecord]:
        """None: it keeps its own."""
        return []
