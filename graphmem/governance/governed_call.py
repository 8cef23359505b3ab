"""Governed call: one request, in one transaction, over what that transaction read (004)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.errors import NotFound, SessionOfAnother
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.reactions import read_resting
from graphmem.gateway.screening import text_refusal
from graphmem.gateway.workbench import Workbench
from graphmem.governance.call import call
from graphmem.governance.classify import classified, profile_fact
from graphmem.governance.contract import Contract
from graphmem.governance.contract_form import contract_of_document
from graphmem.governance.memories import decide_memories, logical_key
from graphmem.governance.phases import phase_index
from graphmem.governance.reading import ItemReading
from graphmem.governance.request import CallAnswer, CallRequest
from graphmem.governance.stored_events import compact, is_hidden
from graphmem.governance.world import CallState
from graphmem.governance.written import Written
from graphmem.model.caller import Caller, Role
from graphmem.model.governance import ROOM, EventType, Item, ItemKind, LedgerEntry, Place
from graphmem.model.memory import Status, memory_key
from graphmem.model.policy import Policy
from graphmem.model.space import Space, SpaceKind
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.model.writing import IdempotencyKey
from graphmem.store.contracts import profile_key
from graphmem.store.governance import (
    GovernedItems,
    lock_places,
    save_changes,
)
from graphmem.store.idempotency import lock_answer, save_answer
from graphmem.store.writes import lock_claims, lock_memories
from graphmem.text.dedup_keys import dedup_key, fact_dedup_key

NEW_ITEMS_MOST = 16  # of one call
_OWN = (SpaceKind.SESSION, SpaceKind.USER)  # places that begin with a call


@dataclass(frozen=True, kw_only=True, slots=True)
class Governed:
    """What a call gave, by which version of its contract; ``trace_id`` of an equal call before."""

    answer: CallAnswer
    version: int = 0
    trace_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """What a call read: its state, the version of its contract, or the answer to its retry key."""

    state: CallState | None = None
    version: int = 0
    replayed: str | None = None


@dataclass(frozen=True, kw_only=True)
class GovernedCall(MemoryOperation[Governed]):
    """Recall, record, or both, as the contract of the profile lets it.

    ``allowed`` are the spaces in which the key may do so; ``policy`` that of the session's space.
    """

    kind = TraceKind.GOVERNANCE

    request: CallRequest
    caller: Caller
    policy: Policy
    uids: Sequence[str]
    trace_id: str
    retry: IdempotencyKey | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The session: without a right to write there nothing is read."""
        return (self.request.owners.session,)

    @property
    def allowed(self) -> frozenset[SpaceKind]:
        """The spaces in which the key may read and write."""
        spaces = self.request.owners.by_kind.items()
        return frozenset(kind for kind, each in spaces if self.caller.may(Role.WRITER, each))

    def selection(self) -> Selection:
        """What the call may claim."""
        if not self.request.records:
            return Selection()
        owners, text = self.request.owners, self.request.input
        said = [logical_key(ItemKind.SEMANTIC, dedup_key(classified(text), text))]
        if fact := profile_fact(text):
            said.append(logical_key(ItemKind.PROFILE, fact_dedup_key(fact.key)))
        tools = self.request.tool_text
        of_tools = [logical_key(ItemKind.SEMANTIC, dedup_key(EventType.EXECUTION, tools))]
        claims = [(owners.session, key) for key in (*said, *(of_tools if tools else ()))]
        if (hint := self.request.hint) and hint.target in self.allowed:
            claims += [(owners.by_kind[hint.target], key) for key in said]
        return Selection(
            claims=frozenset(logical_claim(space, key, ROOM) for space, key in claims if key)
        )

    def read(self, transaction: Workbench) -> GraphState:
        """The contract, the places under their locks, and the items that the call may touch.

        Raises:
            NotFound: the profile has no contract.
            SessionOfAnother: the session belongs to another person.
        """
        if self.retry and (replayed := lock_answer(transaction, self.retry)):
            return GraphState(records=_Read(replayed=replayed))
        locked = lock_claims(transaction, self.selection().claims)
        places, version, contract = self._places(transaction)
        state, changing, others = self._state(transaction, contract, places)
        keys = sorted(memory_key(item.space, item.uid) for item in changing)
        memories = lock_memories(transaction, keys) if keys else {}
        present = [
            *others,
            *(
                item
                for item in changing
                if (known := memories.get(memory_key(item.space, item.uid)))
                and known.status is Status.ACTIVE
            ),
        ]
        return GraphState(
            memories=memories,
            claims={claim: row["memory"] for claim, row in locked.items() if row["memory"]},
            records=_Read(state=replace(state, items=present), version=version),
            resting=read_resting(transaction, transaction.reactions, memories=keys),
        )

    def _places(self, transaction: Workbench) -> tuple[Mapping[SpaceKind, Place], int, Contract]:
        """The places under their locks, and the contract with its version."""
        owners = self.request.owners
        hint = self.request.hint
        target = hint.target if hint and self.request.records else None
        allowed = {kind: each for kind, each in owners.by_kind.items() if kind in self.allowed}
        makes = [space for kind, space in allowed.items() if kind in (*_OWN, target)]
        places, found = lock_places(
            transaction,
            allowed.values(),
            makes=makes,
            profile=profile_key(self.caller.tenant, self.request.profile),
        )
        if found is None:
            message = f"There is no contract for the profile {self.request.profile}."
            raise NotFound(message)
        if places[SpaceKind.SESSION].person not in {None, owners.user.owner}:
            raise SessionOfAnother
        version, document = found
        whole = {
            kind: places.get(kind) or Place(space=space) for kind, space in owners.by_kind.items()
        }
        return whole, version, contract_of_document(document)

    def _state(
        self, transaction: Workbench, contract: Contract, places: Mapping[SpaceKind, Place]
    ) -> tuple[CallState, list[Item], list[Item]]:
        """What the call reads, without its items; those that it may change, and the others."""
        reading = ItemReading(
            items=GovernedItems(transaction),
            contract=contract,
            places=places,
            allowed=self.allowed,
            request=self.request,
        )
        changing, others = reading.all()
        state = CallState(
            contract=contract,
            places=places,
            allowed=self.allowed,
            ledger=self._ledger(reading),
            uids=self.uids,
            cap=contract.authority_caps.get(self.caller.role),
            screen=self._screen,
        )
        return state, changing, others

    def _screen(self, text: str) -> str | None:
        """Why the service does not store a text, whatever a contract says."""
        return text_refusal([text], self.policy)

    def _ledger(self, reading: ItemReading) -> Sequence[LedgerEntry]:
        asked = self.request.diff
        if asked is None or not self.request.records or asked.space not in self.allowed:
            return ()
        ends = phase_index(asked.before), phase_index(asked.after)
        if None in ends:
            return ()
        before, after = (each or 0 for each in ends)
        return reading.ledger(before, after, asked.space)

    def decide(self, state: GraphState, now: datetime) -> Decided[Governed]:
        """Run the call."""
        read: _Read = state.records
        if read.state is None:
            return Decided(answer=Governed(answer=CallAnswer(), trace_id=read.replayed))
        answer, world = call(read.state, self.request)
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        decide_memories(draft, world)
        return Decided(
            answer=Governed(answer=answer, version=read.version),
            memories=draft.decision(),
            records=Written(
                world=world,
                events=answer.events,
                items=[*(each.item for each in answer.recalled), *answer.written],
                version=read.version,
                now=now,
                person=self.request.owners.user.owner,
            ),
        )

    def apply(self, transaction: Workbench, decided: Decided[Governed]) -> None:
        """Write it; the answer to a retry key was written before."""
        if decided.records is not None:
            super().apply(transaction, decided)

    def apply_records(self, transaction: Workbench, decided: Decided[Governed]) -> None:
        """Write the places, the phases, what items are found by, and the trace."""
        written: Written = decided.records
        save_changes(transaction, written.changes, self._trace(written), told=written.told)
        if self.retry:
            save_answer(transaction, self.retry, self.trace_id)

    def traces(self, *_: object, **__: object) -> list[TraceRecord]:
        """None: the call keeps its own."""
        return []

    def _trace(self, written: Written) -> TraceRecord:
        request, contract = self.request, written.world.contract
        hides = is_hidden(contract, request.input, self._screen)
        days = contract.keep_events_days
        spaces = [
            space.key
            for kind, space in request.owners.by_kind.items()
            if kind is SpaceKind.SESSION or kind in self.allowed
        ]
        return TraceRecord(
            uid=self.trace_id,
            kind=self.kind,
            tenant=self.caller.tenant,
            spaces=tuple(spaces),
            key_id=self.caller.key_id,
            created_at=written.now,
            events=compact(written.events, hides_query=hides),
            request={
                "profile": request.profile,
                "version": written.version,
                "session": request.owners.session.owner,
                "clock": written.world.clock,
            },
            forget_at=written.now + timedelta(days=days) if days else None,
        )
