"""Written: what a call changed, as the store writes it, and what its trace tells of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.governance.events import Event
from graphmem.governance.world import World, clock_of
from graphmem.model.governance import Item, Place
from graphmem.model.memory import memory_key
from graphmem.model.space import SpaceKind
from graphmem.store.governance import ChangedItems

_OF_PERSONS = (SpaceKind.SESSION, SpaceKind.USER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a call changed; ``person`` is who owns the session from then on."""

    world: World
    events: Sequence[Event]
    items: Sequence[Item]  # that came back or were stored
    version: int  # of the contract
    now: datetime
    person: str | None = None

    @property
    def changes(self) -> ChangedItems:
        """What the store is to write."""
        world, before = self.world, self.world.state.places
        return ChangedItems(
            places=self._places,
            dropped=[
                place
                for kind, place in world.places.items()
                if place.dropped != before[kind].dropped
            ],
            phases=world.started,
            created=world.created.values(),
            changed=world.changed.values(),
            left=[(left.item, left.phase) for left in world.left.values()],
        )

    @property
    def _places(self) -> list[Place]:
        """The places that changed; the session has the clock, and that of the person where open."""
        world, before = self.world, self.world.state.places
        changed = dict(world.places)
        if world.clock != clock_of(before, world.state.allowed):
            changed |= {
                kind: replace(changed[kind], clock=world.clock)
                for kind in _OF_PERSONS
                if kind in changed and kind in world.state.allowed
            }
            if session := changed.get(SpaceKind.SESSION):
                person = session.person or self.person
                changed[SpaceKind.SESSION] = replace(session, person=person)
        return [place for kind, place in changed.items() if place != before[kind]]

    @property
    def told(self) -> list[str]:
        """The keys of the memories that its events tell of."""
        items = [
            *self.items,
            *self.world.changed.values(),
            *(left.item for left in self.world.left.values()),
        ]
        return sorted({memory_key(item.space, item.uid) for item in items})
