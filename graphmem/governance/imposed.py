"""Imposed items: an operator lets one of the highest authority in, as no call can (trap 64)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphmem.errors import Conflict, InvalidInput, PolicyRefused
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.governance.classify import classified
from graphmem.governance.contract import SPACES
from graphmem.governance.contract_form import check_profile
from graphmem.governance.events import Action, Event
from graphmem.governance.governed_operation import GovernedOperation
from graphmem.governance.memories import decide_memories, logical_key
from graphmem.governance.new_items import new_item
from graphmem.governance.owners import Owners
from graphmem.governance.policy import ALLOWED, Attempt, write_verdict
from graphmem.governance.reading import still_present
from graphmem.governance.request import CallRequest
from graphmem.governance.settling import settled
from graphmem.governance.world import CallState, World
from graphmem.governance.written import Written
from graphmem.model.caller import Role
from graphmem.model.governance import (
    ROOM,
    EventType,
    FactKey,
    Item,
    ItemKind,
    ItemSource,
    Place,
)
from graphmem.model.space import Space, SpaceKind
from graphmem.model.state import GraphState, Selection
from graphmem.store.governance import AskedItems, GovernedItems
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
    item = new_item(
        world,
        space,
        kind,
        imposing.text,
        source=ItemSource.SYSTEM,
        event=event,
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
class ImposeItem(GovernedOperation[tuple[Item, list[Event]]]):
    """Let an imposed item in. ``person`` is whose clock counts; None in a space that is shared."""

    role = Role.ADMIN

    imposing: Imposing
    profile: str
    person: Space | None

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the item."""
        return (self.imposing.space,)

    def check(self) -> None:
        """Refuse a profile of no name, and a space that no contract governs.

        Raises:
            InvalidInput: no profile can be called so, or the space is none of the four.
        """
        check_profile(self.profile)
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
        space = self.imposing.space
        wanted = list(dict.fromkeys((space, self.person or space)))
        locked, version, contract = self.lock(transaction, self.profile, wanted, makes=wanted)
        asked = AskedItems()
        asked.met(space, self.imposing.kind, self.imposing.dedup_key)
        items = GovernedItems(transaction)
        ((_, met),) = items.present(asked, facts=1, newest=1, ending=1)
        memories, _ = items.lock_and_search(met)
        state = CallState(
            contract=contract,
            places={SpaceKind.USER: Place(space=self._request.owners.user), **locked.places},
            allowed=frozenset(locked.places),
            items=still_present(met, met, memories),
            uids=self.uids,
            screen=self.screen,
        )
        return self.state(transaction, locked.claims, memories, (state, version))

    def decide(self, state: GraphState, now: datetime) -> Decided[tuple[Item, list[Event]]]:
        """Store it, if it may be and wins."""
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
        self.save(transaction, decided.records, [self.imposing.space], hides_query=False)
