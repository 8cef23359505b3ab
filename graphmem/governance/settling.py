"""Settling: an item is stored if it may be, and wins against what has its key. Pure (004)."""

from dataclasses import replace

from graphmem.governance.conflict import Resolution, resolved
from graphmem.governance.events import Action, Event
from graphmem.governance.policy import (
    ALLOWED,
    Attempt,
    WriteVerdict,
    write_border,
    write_verdict,
)
from graphmem.governance.world import World
from graphmem.model.governance import Gone, Item, ItemKind
from graphmem.model.space import SpaceKind

Happened = tuple[Item | None, list[Event]]  # what was stored, and the events that say why


def attempted(world: World, item: Item, *, private: str | None = None) -> Happened:
    """An item of the session as it may be stored, or None where it may not.

    ``private`` is the text in which privacy rules look, if that is not its own.
    """
    border = write_border(world.contract, SpaceKind.SESSION)
    asked = world.frame.border(
        Action.WRITE, SpaceKind.SESSION, border, to=SpaceKind.SESSION, subject=item
    )
    if border != ALLOWED:
        return None, [asked]
    verdict = _verdict(world, item, item.text if private is None else private)
    if not verdict.is_allowed:
        return None, [asked, world.frame.denied(item, verdict)]
    return replace(item, policy_tags=verdict.tags), [asked]


def _verdict(world: World, item: Item, private: str) -> WriteVerdict:
    """What the contract says of an item, and behind it the screening of the service."""
    attempt = Attempt(kind=item.kind, event=item.event_type, private=private, key=item.key)
    verdict = write_verdict(world.contract, attempt)
    code = world.state.screen(item.text) if verdict.is_allowed else None
    return WriteVerdict(reason=code, tags=verdict.tags) if code else verdict


def settled(world: World, item: Item) -> Happened:
    """Store an item, unless what is there of its key wins or says the same."""
    existing = _met(world, item)
    if existing is None:
        world.keep(item)
        return item, []
    is_said = item.kind is ItemKind.PROFILE and existing.text == item.text
    if is_said and world.contract.dedupe_enabled:
        return None, []
    resolution = resolved(existing, item, world.contract)
    events = [world.frame.conflict(resolution)]
    winner = _merged(resolution)
    if resolution.winner is existing:
        if winner is not existing:
            world.put(winner)
        return None, events
    events.append(world.leave(existing, Gone.SUPERSEDED, item.id))
    world.keep(winner)
    return winner, events


def _met(world: World, item: Item) -> Item | None:
    """The newest present item of the same key, of any phase, where that is a conflict."""
    if item.kind is ItemKind.SEMANTIC and not world.contract.dedupe_enabled:
        return None
    known = world.present(item.space.kind, item.kind)
    return next((each for each in reversed(known) if each.dedup_key == item.dedup_key), None)


def _merged(resolution: Resolution) -> Item:
    """The winner; a snippet keeps the larger importance of both."""
    winner, loser = resolution.winner, resolution.loser
    if winner.kind is ItemKind.PROFILE or loser.importance <= winner.importance:
        return winner
    reasons = (*winner.importance_reason, "conflict_merge")
    return replace(winner, importance=loser.importance, importance_reason=reasons)
