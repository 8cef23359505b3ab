"""Retaining: items of a space whose time has passed are forgotten. Pure (004, Retention)."""

from graphmem.governance.events import Event
from graphmem.governance.retention import Forgotten, forgotten, with_expiry
from graphmem.governance.world import World
from graphmem.model.governance import Gone, Item, ItemKind
from graphmem.model.space import SpaceKind

KINDS = (ItemKind.SEMANTIC, ItemKind.PROFILE)  # in the order in which a pass looks at them


def retain(world: World, space: SpaceKind, now: int) -> list[Event]:
    """Forget what has had its time in a space, of the kinds that the contract keeps."""
    kept = (kind for kind in KINDS if world.contract.keeps(kind))
    return [event for kind in kept for event in _retain_kind(world, space, kind, now)]


def _retain_kind(world: World, space: SpaceKind, kind: ItemKind, now: int) -> list[Event]:
    forgets: list[Event] = []
    ended: list[tuple[Item, Forgotten]] = []
    for item in world.present(space, kind):
        rule = world.contract.rule(kind, item.event_type)
        looked_at = with_expiry(item, rule)
        if reason := forgotten(looked_at, rule, now):
            forgets.append(world.frame.forget(looked_at, reason))
            ended.append((looked_at, reason))
        elif looked_at is not item:
            world.put(looked_at)
    return [
        *forgets,
        *(world.leave(item, Gone.EXPIRED, forgotten=reason) for item, reason in ended),
    ]
