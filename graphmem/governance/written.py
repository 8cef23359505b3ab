"""Written: what a call changed, as the store writes it, and what its trace tells of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.governance.events import Event
from graphmem.governance.world import World
from graphmem.model.governance import Item, Place
from graphmem.model.memory import memory_key
from graphmem.model.space import SpaceKind
from graphmem.store.governance import ChangedItems


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a call changed. One that is ``personal`` moved the clock of a person."""

    world: World
    events: Sequence[Event]
    items: Sequence[Item]  # that came back or were stored
    version: int  # of the contract
    now: datetime
    personal: bool = True

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
        """The places that changed; that of the person has the clock."""
        world, before = self.world, self.world.state.places
        changed = dict(world.places)
        user = changed[SpaceKind.USER]
        if self.personal and world.clock != before[SpaceKind.USER].clock:
            changed[SpaceKind.USER] = replace(user, clock=world.clock)
            if session := changed.get(SpaceKind.SESSION):
                changed[SpaceKind.SESSION] = replace(session, person=user.space.owner)
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
