"""Imposed items: an operator lets one of the highest authority in, as no call can (trap 64)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from graphmem.errors import Conflict, InvalidInput, NotFound, PolicyRefused
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.reactions import read_resting
from graphmem.gateway.screening import text_refusal
from graphmem.gateway.workbench import Workbench
from graphmem.governance.classify import classified, importance_of
from graphmem.governance.contract import SPACES
from graphmem.governance.contract_form import contract_of_document
from graphmem.governance.events import Action, Event
from graphmem.governance.memories import decide_memories, logical_key
from graphmem.governance.owners import Owners
from graphmem.governance.policy import ALLOWED, Attempt, write_verdict
from graphmem.governance.request import CallRequest
from graphmem.governance.settling import settled
from graphmem.governance.stored_events import compact
from graphmem.governance.world import CallState, World
from graphmem.governance.written import Written
from graphmem.model.caller import Caller, Role
from graphmem.model.governance import (
    ROOM,
    EventType,
    FactKey,
    Item,
    ItemKind,
    ItemSource,
    Place,
)
from graphmem.model.memory import Authority, Status, memory_key
from graphmem.model.policy import Policy
from graphmem.model.space import Space, SpaceKind
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.store.contracts import profile_key
from graphmem.store.governance import AskedItems, GovernedItems, lock_places, save_changes
from graphmem.store.writes import lock_claims, lock_memories
from graphmem.text.dedup_keys import dedup_key, fact_dedup_key


@dataclass(frozen=True, kw_only=True, slots=True)
class Imposing:
    """What is imposed on a space: a snippet, or with a key a fact."""

    space: Space
    text: str
    key: FactKey | None = None

    @property
    def kind(self) -> ItemKind:
        """What it is."""
        return ItemKind.PROFILE if self.key else ItemKind.SEMANTIC

    @property
    def event(self) -> EventType:
        """What it is about."""
        return EventType.FACT if self.key else classified(self.text)

    @property
    def dedup_key(self) -> str:
        """What it has in common with what says the same."""
        return fact_dedup_key(self.key) if self.key else dedup_key(self.event, self.text)


def impose(world: World, imposing: Imposing) -> tuple[Item, list[Event]]:
    """The item that is stored, and the events that say so.

    Raises:
        PolicyRefused: the contract or the screening does not let it be stored.
        Conflict: what is there says the same, or wins.
    """
    space, kind, event = imposing.space.kind, imposing.kind, imposing.event
    phase, events = world.phase_of(space)
    uid, number, ticked, mark = world.number(space, kind)
    importance, reasons = importance_of(imposing.text, event, ItemSource.SYSTEM)
    item = Item(
        uid=uid,
        space=imposing.space,
        kind=kind,
        number=number,
        text=imposing.text,
        source=ItemSource.SYSTEM,
        created_at=ticked,
        mark=mark,
        importance=importance,
        importance_reason=reasons,
        event_type=event,
        dedup_key=imposing.dedup_key,
        authority=Authority.SYSTEM_IMPOSED,
        authority_reason=f"source:{ItemSource.SYSTEM}",
        phase=phase,
        key=imposing.key,
    )
    attempt = Attempt(kind=kind, event=event, private=imposing.text, key=imposing.key)
    verdict = write_verdict(world.contract, attempt)
    refused = world.state.screen(imposing.text) if verdict.is_allowed else verdict.reason
    if refused:
        raise PolicyRefused(str(refused))
    asked = world.frame.border(Action.WRITE, space, ALLOWED, to=space, subject=item)
    kept, happened = settled(world, replace(item, policy_tags=verdict.tags))
    if kept is None:
        message = "What is there says the same, or wins."
        raise Conflict(message)
    return kept, [*events, asked, *happened]


@dataclass(frozen=True, kw_only=True)
class ImposeItem(MemoryOperation[tuple[Item, list[Event]]]):
    """Let an imposed item in. ``person`` is whose clock counts; None in a space that is shared."""

    kind = TraceKind.GOVERNANCE
    role = Role.ADMIN

    imposing: Imposing
    profile: str
    caller: Caller
    person: Space | None
    policy: Policy
    uids: Sequence[str]
    trace_id: str

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the item."""
        return (self.imposing.space,)

    def check(self) -> None:
        """Refuse a space that no contract governs.

        Raises:
            InvalidInput: it is none of the four.
        """
        space = self.imposing.space
        if space.kind not in SPACES or space.persona or "*" in space.owner:
            message = f"Must be one of: {', '.join(SPACES)}, without a persona and a *."
            raise InvalidInput({"space": [message]})

    def selection(self) -> Selection:
        """What the item claims."""
        key = logical_key(self.imposing.kind, self.imposing.dedup_key) or ""
        return Selection(claims=frozenset({logical_claim(self.imposing.space, key, ROOM)}))

    def read(self, transaction: Workbench) -> GraphState:
        """The contract, the place under its lock, and what is there of the key.

        Raises:
            NotFound: the profile has no contract.
        """
        locked = lock_claims(transaction, self.selection().claims)
        space = self.imposing.space
        person = self.person or Space(tenant=space.tenant, kind=SpaceKind.USER, owner=space.owner)
        wanted = {space, self.person} if self.person else {space}
        found, contract = lock_places(
            transaction,
            [each for each in wanted if each],
            makes=[each for each in wanted if each],
            profile=profile_key(self.caller.tenant, self.profile),
        )
        if contract is None:
            message = f"There is no contract for the profile {self.profile}."
            raise NotFound(message)
        version, document = contract
        asked = AskedItems()
        asked.met(space, self.imposing.kind, self.imposing.dedup_key)
        met = [
            item
            for _, items in GovernedItems(transaction).present(asked, facts=1, newest=1)
            for item in items
        ]
        keys = [memory_key(item.space, item.uid) for item in met]
        memories = lock_memories(transaction, keys) if keys else {}
        state = CallState(
            contract=contract_of_document(document),
            places={SpaceKind.USER: Place(space=person), **found},
            allowed=frozenset(found),
            items=[
                item
                for item in met
                if memories[memory_key(item.space, item.uid)].status is Status.ACTIVE
            ],
            uids=self.uids,
            screen=lambda text: text_refusal([text], self.policy),
        )
        return GraphState(
            memories=memories,
            claims={claim: row["memory"] for claim, row in locked.items() if row["memory"]},
            records=(state, version),
            resting=read_resting(transaction, transaction.reactions, memories=keys),
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[tuple[Item, list[Event]]]:
        """Impose it."""
        read, version = state.records
        world = World(state=read, request=self._request)
        item, events = impose(world, self.imposing)
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        decide_memories(draft, world)
        written = Written(
            world=world,
            events=events,
            items=[item],
            version=version,
            now=now,
            person=self.person.owner if self.person else None,
        )
        return Decided(answer=(item, events), memories=draft.decision(), records=written)

    @property
    def _request(self) -> CallRequest:
        """What the events share: the space stands for the session."""
        space = self.imposing.space
        user = self.person or replace(space, kind=SpaceKind.USER)
        owners = Owners(session=space, user=user, project=space, system=space)
        return CallRequest(profile=self.profile, owners=owners, input=self.imposing.text)

    def apply_records(self, transaction: Workbench, decided: Decided[Any]) -> None:
        """Write the item and its trace."""
        written: Written = decided.records
        days = written.world.contract.keep_events_days
        trace = TraceRecord(
            uid=self.trace_id,
            kind=self.kind,
            tenant=self.caller.tenant,
            spaces=(self.imposing.space.key,),
            key_id=self.caller.key_id,
            created_at=written.now,
            events=compact(written.events, hides_query=False),
            forget_at=written.now + timedelta(days=days) if days else None,
            request={
                "profile": self.profile,
                "version": written.version,
                "session": self.imposing.space.owner,
                "clock": written.world.clock,
            },
        )
        save_changes(transaction, written.changes, trace, told=written.told)

    def traces(self, *_: object, **__: object) -> list[TraceRecord]:
        """None: it keeps its own."""
        return []
