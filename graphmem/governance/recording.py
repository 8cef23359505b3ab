"""Recording: what a call stores of what was said and done, in its order. Pure (004, write)."""

from collections.abc import Sequence
from dataclasses import replace

from graphmem.governance.classify import (
    classified,
    is_low_signal,
    profile_fact,
)
from graphmem.governance.contract import SPACES
from graphmem.governance.events import Action, Event
from graphmem.governance.new_items import new_item
from graphmem.governance.phasing import compared, phase_by_token
from graphmem.governance.policy import ALLOWED, is_semantic
from graphmem.governance.promotion import promotion_verdict
from graphmem.governance.retaining import retain
from graphmem.governance.retention import Forgotten
from graphmem.governance.settling import Happened, attempted, settled
from graphmem.governance.summing import summary_text
from graphmem.governance.world import World
from graphmem.model.governance import EventType, FactKey, Gone, Item, ItemKind, ItemSource, Phase
from graphmem.model.memory import Authority
from graphmem.model.space import SpaceKind

_SESSION = SpaceKind.SESSION


def record(world: World) -> tuple[list[Item], list[Event]]:
    """What was stored, in its order, and the events; the write's own is first."""
    request = world.request
    events = phase_by_token(world)
    phase, started = world.phase_of(_SESSION)
    said = classified(request.input)
    user, of_user = _turn(world, ItemSource.USER, request.input, said, phase)
    ai, of_ai = _turn(world, ItemSource.AI, request.output, EventType.CONTEXT, phase)
    summary, of_summary = _summed_up(world, phase)
    semantic, of_semantic = _semantic(world, said, phase)
    profile, of_profile = _profile(world, said, phase, user)
    tool, of_tool = _tool(world, phase)
    copies, of_copies = _promoted(world, [semantic, profile])
    for happened in (started, of_user, of_ai, of_summary, of_semantic, of_profile, of_tool):
        events += happened
    events += of_copies
    for space in SPACES:
        if space in world.state.allowed:
            events += retain(world, space, world.now(space))
    events += compared(world)
    stored = (user, ai, summary, semantic, profile, tool, *copies)
    written = [item for item in stored if item is not None]
    return written, [world.frame.write(written), *events]


def _new(
    world: World,
    kind: ItemKind,
    text: str,
    source: ItemSource,
    event: EventType,
    phase: Phase,
    key: FactKey | None = None,
) -> Item:
    """An item of the session; a hint of the user goes with what has his words."""
    item = new_item(world, _SESSION, kind, text, source=source, event=event, phase=phase, key=key)
    hint = world.request.hint if source is ItemSource.USER else None
    return replace(
        item,
        authority=_capped(world, item.authority),
        promotion_target=hint.target if hint else None,
        promotion_reason=hint.reason if hint else None,
    )


def _capped(world: World, authority: Authority) -> Authority:
    """An authority, or the highest that the role of the key may claim."""
    cap, rank = world.state.cap, world.contract.rank
    return authority if cap is None or rank(authority) >= rank(cap) else cap


def _turn(world: World, source: ItemSource, text: str, event: EventType, phase: Phase) -> Happened:
    """What was said, as an item of the present talk."""
    if not world.contract.keeps(ItemKind.SHORT_TERM):
        return None, []
    tried = _new(world, ItemKind.SHORT_TERM, text, source, event, phase)
    item, events = attempted(world, tried)
    if item:
        world.keep(item)
    return item, events


def _summed_up(world: World, phase: Phase) -> Happened:
    """Let the oldest messages of a phase leave for a summary, where there are too many."""
    if not world.contract.keeps(ItemKind.SHORT_TERM):
        return None, []
    known = [
        item
        for item in world.present(_SESSION, ItemKind.SHORT_TERM)
        if item.phase.index == phase.index
    ]
    messages = [item for item in known if not item.is_summary]
    leaving = messages[: max(len(messages) - world.contract.short_term, 0)]
    if not leaving:
        return None, []
    old = next((item for item in known if item.is_summary), None)
    summary = _summary(world, phase, old, leaving)
    events = [world.leave(old, Gone.SUPERSEDED, summary.id)] if old else []
    events += [world.frame.forget(item, Forgotten.DECAY) for item in leaving]
    events += [world.leave(item, Gone.EXPIRED) for item in leaving]
    world.keep(summary)
    return summary, events


def _summary(world: World, phase: Phase, old: Item | None, leaving: Sequence[Item]) -> Item:
    """The item that sums up messages, and what an earlier one summed up."""
    text = summary_text(old.text if old else None, leaving)
    made = _new(world, ItemKind.SHORT_TERM, text, ItemSource.SYSTEM, EventType.CONTEXT, phase)
    of_event, *others = made.importance_reason
    return replace(
        made,
        summary_of=(*(old.summary_of if old else ()), *(item.id for item in leaving)),
        importance_reason=(of_event, "summary", *others),
        authority=Authority.SYSTEM_IMPOSED,
        authority_reason="summary",
    )


def _semantic(world: World, said: EventType, phase: Phase) -> Happened:
    """What a user said, as a snippet."""
    text = world.request.input
    if not is_semantic(world.contract, said, is_low_signal=is_low_signal(text)):
        return None, []
    return _stored(world, _new(world, ItemKind.SEMANTIC, text, ItemSource.USER, said, phase))


def _profile(world: World, said: EventType, phase: Phase, turn: Item | None) -> Happened:
    """What a user said of himself, as a fact of his profile."""
    text = world.request.input
    fact = profile_fact(text)
    is_tried = said in {EventType.FACT, EventType.CORRECTION} and world.contract.profile
    if fact is None or not is_tried:
        return None, []
    item = _new(world, ItemKind.PROFILE, fact.value, ItemSource.USER, said, phase, fact.key)
    item = replace(item, source_turn_ids=(turn.id,) if turn else ())
    return _stored(world, item, private=text)


def _tool(world: World, phase: Phase) -> Happened:
    """What tools did, as a snippet."""
    text = world.request.tool_text
    if not (text and world.contract.semantic):
        return None, []
    event = EventType.EXECUTION
    return _stored(world, _new(world, ItemKind.SEMANTIC, text, ItemSource.TOOL, event, phase))


def _stored(world: World, item: Item, *, private: str | None = None) -> Happened:
    """Store an item in the session if it may be and wins."""
    kept, events = attempted(world, item, private=private)
    if kept is None:
        return None, events
    kept, happened = settled(world, kept)
    return kept, [*events, *happened]


def _promoted(world: World, stored: Sequence[Item | None]) -> tuple[list[Item], list[Event]]:
    """Let items go where the user asked them to be remembered."""
    copies: list[Item] = []
    events: list[Event] = []
    for item in stored:
        if item and item.promotion_target:
            copy, happened = _promote(world, item, item.promotion_target)
            events += happened
            copies += [copy] if copy else []
    return copies, events


def _promote(world: World, item: Item, target: SpaceKind) -> Happened:
    verdict = promotion_verdict(
        world.contract, item, target, may_write=target in world.state.allowed
    )
    events = [world.frame.border(Action.PROMOTE, _SESSION, verdict, to=target, subject=item)]
    if verdict != ALLOWED:
        return None, [*events, world.frame.promotion_denied(item, target, verdict)]
    phase, started = world.phase_of(target)
    uid, number, ticked, mark = world.number(target, item.kind)
    copy = replace(
        item,
        uid=uid,
        space=world.places[target].space,
        number=number,
        created_at=ticked,
        mark=mark,
        phase=phase,
        promoted_from=item.id,
        expires_at=None,
    )
    kept, happened = settled(world, copy)
    events += [*started, *happened]
    if kept:
        events.append(world.frame.promoted(item, kept))
        events.append(world.leave(item, Gone.PROMOTED, kept.id))
    return kept, events
