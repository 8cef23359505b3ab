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
from graphmem.model.memory import Memory
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import GraphState
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.store.contracts import profile_key
from graphmem.store.governance import Locked, lock_places, save_changes


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

    def lock(
        self,
        transaction: Workbench,
        profile: str,
        spaces: Iterable[Space],
        *,
        makes: Iterable[Space],
    ) -> tuple[Locked, int, Contract]:
        """Take the locks of what it may claim and of places; the contract of a profile.

        The number is the version of the contract.

        Raises:
            NotFound: the profile has no contract.
        """
        locked = lock_places(
            transaction,
            spaces,
            makes=makes,
            claims=self.selection().claims,
            profile=profile_key(self.caller.tenant, profile),
        )
        if locked.contract is None:
            message = f"There is no contract for the profile {profile}."
            raise NotFound(message)
        version, document = locked.contract
        return locked, version, contract_of_document(document)

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
