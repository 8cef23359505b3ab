"""Phasing: a token starts a phase of the session, and two phases are compared. Pure (004)."""

from dataclasses import replace

from graphmem.governance.events import REDACTED, Action, Event
from graphmem.governance.phases import PhaseDiff, phase_diff, phase_index
from graphmem.governance.policy import ALLOWED, diff_border, is_private, phase_border
from graphmem.governance.request import DiffRequest
from graphmem.governance.world import World
from graphmem.model.governance import LedgerEntry, ledger_entry
from graphmem.model.space import SpaceKind
from graphmem.text.dedup_keys import key_digest


def phase_by_token(world: World) -> list[Event]:
    """Ask for the phase of a token, and start it if it is another one than the last."""
    asked = world.request.token
    if asked is None:
        return []
    session = SpaceKind.SESSION
    reason = phase_border(world.contract)
    events = [world.frame.border(Action.PHASE_START, session, reason)]
    place = world.places[session]
    token = key_digest(asked.token)
    if reason != ALLOWED or token == place.token:
        return events
    world.places[session] = replace(place, token=token)
    name = _kept(world, asked.name) if asked.name else None
    _, started = world.start_phase(session, _kept(world, asked.reason), name)
    return [*events, *started]


def _kept(world: World, words: str) -> str:
    """Words about a phase as they may be kept."""
    is_closed = is_private(world.contract, words) or world.state.screen(words)
    return REDACTED if is_closed else words


def compared(world: World) -> list[Event]:
    """Compare two phases, if that is asked for."""
    asked = world.request.diff
    if asked is None:
        return []
    reason = diff_border(world.contract, asked.space, may_read=asked.space in world.state.allowed)
    events = [world.frame.border(Action.PHASE_DIFF, asked.space, reason)]
    if reason == ALLOWED:
        space = world.places[asked.space].space
        diff = _diff(world, asked)
        events.append(world.frame.phase_diff(space, asked.before, asked.after, diff))
    return events


def _diff(world: World, asked: DiffRequest) -> PhaseDiff:
    """What two phases differ in; nothing where one is unknown, or its ledger is no more."""
    place = world.places[asked.space]
    before, after = phase_index(asked.before), phase_index(asked.after)
    if before is None or after is None:
        return PhaseDiff()
    if not (place.has_ledger(before) and place.has_ledger(after)):
        return PhaseDiff()
    return phase_diff(_ledger(world, asked.space), before, after)


def _ledger(world: World, space: SpaceKind) -> list[LedgerEntry]:
    """Where the ledgers of a space differ, with what this call changed of them."""
    entries = {entry.id: entry for entry in world.state.ledger}
    entries |= {
        item.id: ledger_entry(item) for item in world.created.values() if item.space.kind is space
    }
    entries |= {
        id_: ledger_entry(left.item, deleted=left.phase)
        for id_, left in world.left.items()
        if left.item.space.kind is space
    }
    return list(entries.values())
