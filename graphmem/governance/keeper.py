"""The keeper of governed memory: calls under contracts, and what is known of them, for callers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graphmem.errors import NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.governance.contract import Contract
from graphmem.governance.contract_form import (
    check_profile,
    contract_from,
    contract_of_document,
)
from graphmem.governance.contracts import SaveContract, SavedContract
from graphmem.governance.events import Event, EventKind, item_view
from graphmem.governance.governed_call import NEW_ITEMS_MOST, GovernedCall
from graphmem.governance.imposed import ImposeItem, Imposing
from graphmem.governance.phases import phase_diff, phase_index
from graphmem.governance.preview import Preview
from graphmem.governance.request import CallRequest
from graphmem.governance.stored_events import restored
from graphmem.model.caller import Caller
from graphmem.model.governance import Item, ItemKind, Phase
from graphmem.model.memory import memory_key
from graphmem.model.page import Cursor, Page, every_item
from graphmem.model.space import Space, SpaceKind, space_from_key
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.model.writing import IdempotencyKey
from graphmem.ports import IdSource
from graphmem.store.contracts import Contracts, StoredContract
from graphmem.store.governance import Governance, ListedItem
from graphmem.store.governance_traces import GovernedTraces
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Traces

_READ_AT_ONCE = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class CallView:
    """What a call gave, in the form of 004."""

    recalled: Sequence[Mapping[str, Any]]
    written: Sequence[Mapping[str, Any]]
    events: Sequence[Event]
    clock: int
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class GovernanceKeeper:
    """Runs calls under contracts for callers."""

    gateway: Gateway
    policies: SpacePolicies
    contracts: Contracts
    governance: Governance
    governed_traces: GovernedTraces
    traces: Traces
    ids: IdSource

    def call(
        self, request: CallRequest, *, caller: Caller, retry: IdempotencyKey | None = None
    ) -> CallView:
        """Recall, record, or both.

        Raises:
            Forbidden: the key may not write in the session.
            NotFound: the profile has no contract.
            SessionOfAnother: the session belongs to another person.
            Conflict: the retry key belongs to another request.
        """
        operation = GovernedCall(
            request=request,
            caller=caller,
            policy=self.policies.of(request.owners.session),
            uids=[self.ids.new("memory") for _ in range(NEW_ITEMS_MOST)],
            trace_id=self.ids.new("trace"),
            retry=retry,
        )
        done = self.gateway.execute(operation, caller, trace_id=operation.trace_id).answer
        if done.trace_id:
            return self._replayed(done.trace_id, caller)
        answer = done.answer
        return CallView(
            recalled=[each.view for each in answer.recalled],
            written=[item_view(item) for item in answer.written],
            events=answer.events,
            clock=answer.clock,
            trace_id=operation.trace_id,
        )

    def _replayed(self, trace_id: str, caller: Caller) -> CallView:
        """What an equal call gave before, as its trace keeps it."""
        trace = self.traces.by_uid(caller.tenant, trace_id)
        if trace is None:
            raise NotFound
        events = self.events_of(trace)
        found: dict[str, Sequence[Any]] = {
            kind: event.get(name, ())
            for event in events
            for kind, name in ((EventKind.RECALL, "recalled"), (EventKind.WRITE, "written"))
            if event["type"] == kind
        }
        texts = {item.id: item.text for item in self.governance.told(trace)}
        return CallView(
            recalled=[_whole(each, texts) for each in found.get(EventKind.RECALL, ())],
            written=[_whole(each, texts) for each in found.get(EventKind.WRITE, ())],
            events=events,
            clock=int(str(trace.request["clock"])),
            trace_id=trace_id,
        )

    def events_of(self, trace: TraceRecord) -> list[Event]:
        """The events of any trace; those of governed memory with what their contract says."""
        events: list[Any] = list(trace.events)
        if trace.kind != TraceKind.GOVERNANCE:
            return events
        request: Mapping[str, Any] = trace.request
        stored = self.contracts.version(trace.tenant, request["profile"], request["version"])
        contract = contract_of_document(stored.document) if stored else Contract()
        return restored(events, contract, profile=request["profile"], session=request["session"])

    def impose(
        self, profile: str, imposing: Imposing, *, caller: Caller
    ) -> tuple[Item, Sequence[Event], str]:
        """Let an item of the highest authority in; itself, the events, and the trace.

        Raises:
            Forbidden: the key is no admin's there.
            InvalidInput: no contract governs such a space.
            NotFound: the profile has no contract, or nobody wrote to that session.
            PolicyRefused: it may not be stored.
            Conflict: what is there says the same, or wins.
        """
        space = imposing.space
        operation = ImposeItem(
            imposing=imposing,
            profile=profile,
            caller=caller,
            person=self._person_of(space),
            policy=self.policies.of(space),
            uids=[self.ids.new("memory")],
            trace_id=self.ids.new("trace"),
        )
        item, events = self.gateway.execute(operation, caller, trace_id=operation.trace_id).answer
        return item, events, operation.trace_id

    def _person_of(self, space: Space) -> Space | None:
        """Whose clock counts in a space."""
        if space.kind is SpaceKind.USER:
            return space
        if space.kind is not SpaceKind.SESSION:
            return None
        person = self.governance.place(space).person
        if person is None:
            message = "Nobody wrote to that session yet."
            raise NotFound(message)
        return replace(space, kind=SpaceKind.USER, owner=person)

    def save_contract(
        self, profile: str, values: Mapping[str, Any], *, caller: Caller
    ) -> SavedContract:
        """Let a contract hold from now on.

        Raises:
            InvalidInput: something is wrong with it.
            PolicyRefused: its words may not be stored.
        """
        operation = SaveContract(
            tenant=caller.tenant,
            profile=profile,
            values=values,
            key_id=caller.key_id,
            policy=self.policies.base,
        )
        return self.gateway.execute(operation, caller).answer

    def contract(self, tenant: str, profile: str) -> StoredContract:
        """The contract of a profile that holds now.

        Raises:
            InvalidInput: the profile cannot be called so.
            NotFound: it has none.
        """
        check_profile(profile)
        found = self.contracts.find(tenant, profile)
        if found is None:
            message = f"There is no contract for the profile {profile}."
            raise NotFound(message)
        return found

    def preview(self, values: Mapping[str, Any], spaces: Sequence[Space]) -> dict[str, Any]:
        """What a contract would deny, let expire or allow to promote of what is present.

        Raises:
            InvalidInput: something is wrong with the contract.
        """
        preview = Preview(contract=contract_from(values, path="contract."))
        for space in spaces:
            place = self.governance.place(space)
            person = replace(space, kind=SpaceKind.USER, owner=place.person or space.owner)
            clock = place.clock if person == space else self.governance.place(person).clock
            for kind in ItemKind:
                pages = partial(self._present, space, kind)
                items = (listed.item for listed in every_item(pages))
                preview.look_at(items, place.created if place.is_shared else clock)
        return preview.view

    def _present(self, space: Space, kind: ItemKind, after: Cursor | None) -> Page[ListedItem]:
        return self.governance.items(space, kind, "present", after, limit=_READ_AT_ONCE)

    def phases(self, space: Space, after: Cursor | None, *, limit: int) -> Page[tuple[Phase, bool]]:
        """One page of the phases of a space, the newest first."""
        return self.governance.phases(space, after, limit=limit)

    def diff(self, space: Space, before: str, after: str) -> dict[str, Any]:
        """What two phases of a space differ in; nothing where the ledger of one is no more.

        Raises:
            NotFound: there was never such a phase.
        """
        place = self.governance.place(space)
        ends = [phase_index(before), phase_index(after)]
        last = place.phase.index if place.phase else 0
        if any(index is None or index > last for index in ends):
            message = f"The space has the phases 1 to {last}."
            raise NotFound(message)
        first, second = (index or 0 for index in ends)
        if not (place.has_ledger(first) and place.has_ledger(second)):
            return phase_diff((), first, second).shown
        entries = self.governance.ledger(space, min(first, second), max(first, second))
        return phase_diff(entries, first, second).shown

    def items(
        self, space: Space, kind: ItemKind, status: str, after: Cursor | None, *, limit: int
    ) -> Page[ListedItem]:
        """One page of the items of a space and kind, the newest first."""
        return self.governance.items(space, kind, status, after, limit=limit)

    def item_events(
        self,
        space: Space,
        kind: ItemKind,
        number: int,
        after: Cursor | None,
        *,
        caller: Caller,
        limit: int,
    ) -> Page[tuple[TraceRecord, list[Event]]]:
        """The traces of the life of an item, oldest first, each with the events that tell of it.

        Those that name a space which the key may not read are left out.

        Raises:
            NotFound: there is no such item.
        """
        found = self.governance.item(space, kind, number)
        if found is None:
            raise NotFound
        key = memory_key(found.item.space, found.item.uid)
        page = self.governed_traces.of_item(key, after, limit=limit)
        told = [(trace, self._told(trace, found.item.id, caller)) for trace in page.items]
        return Page(items=tuple(told), total=page.total, next=page.next)

    def _told(self, trace: TraceRecord, item: str, caller: Caller) -> list[Event]:
        """The events of a trace that name an item, and no space that the key may not read."""
        spaces = [space_from_key(each) for each in trace.spaces]
        closed = [space for space in spaces if not caller.may_see(space)]
        events = _telling_of(self.events_of(trace), item)
        return [event for event in events if not any(_names(event, space) for space in closed)]


def _whole(item: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """An item of an event with its whole text."""
    return {**item, "text": texts.get(item["id"], item["text"])}


def _names(event: Event, space: Space) -> bool:
    """Whether an event names a space, or an item of it."""
    named = {event.get(name) for name in ("space", "from_space", "to_space")}
    is_named = space.kind.value in {*named, *event.get("spaces_consulted", ())}
    return is_named or f'"{space.name}:' in json.dumps(event, ensure_ascii=False)


def _telling_of(events: Sequence[Event], item: str) -> list[Event]:
    """The events that name an item."""
    quoted = json.dumps(item, ensure_ascii=False)
    return [event for event in events if quoted in json.dumps(event, ensure_ascii=False)]
