"""Recalling: what a call is given of each space that it may read, and why. Pure (004, recall)."""

from collections.abc import Callable, Mapping, Sequence

from graphmem.governance.contract import Contract
from graphmem.governance.events import Action, Event, Recalled
from graphmem.governance.phasing import phase_by_token
from graphmem.governance.policy import ALLOWED, read_border
from graphmem.governance.retaining import retain
from graphmem.governance.scoring import Query, best
from graphmem.governance.world import World
from graphmem.model.governance import Item, ItemKind, Place
from graphmem.model.space import SpaceKind

PROFILE_MOST = 20
SHORT_TERM_MOST = 1_000  # over all phases, the newest ones first

_KINDS = tuple(ItemKind)


def recall(world: World) -> tuple[list[Recalled], list[Event]]:
    """What comes back, by kind and within it by space, and the events: the recall's own first."""
    contract = world.contract
    now = {space: world.now(space) for space in world.places}
    events = phase_by_token(world)
    consulted = contract.read_order or (SpaceKind.SESSION,)
    found: list[Recalled] = []
    for space in consulted:
        reason = read_border(contract, space, may_read=space in world.state.allowed)
        events.append(world.frame.border(Action.READ, space, reason))
        if reason == ALLOWED:
            events += retain(world, space, now[space])
            found += _of_space(world, space)
    found.sort(key=lambda each: _KINDS.index(each.item.kind))
    phases = {space: place.phase for space, place in world.places.items() if place.phase}
    return found, [world.frame.recall(world.request.input, found, consulted, phases), *events]


def phases_read(place: Place, contract: Contract) -> range:
    """The phases of a space that a recall reads, the newest first; none before its first one."""
    if place.phase is None:
        return range(0)
    oldest = 0 if contract.with_history else place.phase.index - 1
    return range(place.phase.index, oldest, -1)


def _of_space(world: World, space: SpaceKind) -> list[Recalled]:
    phases = phases_read(world.places[space], world.contract)
    found: list[Recalled] = []
    for kind, recalled in _RECALLS.items():
        if phases and world.contract.keeps(kind):
            by_phase: dict[int, list[Item]] = {index: [] for index in phases}
            for item in world.present(space, kind):
                if item.phase.index in by_phase:
                    by_phase[item.phase.index].append(item)
            found += recalled(world, list(by_phase.values()))
    return found


def _short_term(world: World, by_phase: Sequence[Sequence[Item]]) -> list[Recalled]:
    """The summary and the last messages of each phase."""
    found: list[Recalled] = []
    for items in by_phase:
        summaries = [item for item in items if item.is_summary]
        messages = [item for item in items if not item.is_summary]
        latest = messages[-world.contract.short_term :]
        found += [_found(world, item, "active_rule") for item in summaries]
        found += [_found(world, item, "recency") for item in latest]
    return found[:SHORT_TERM_MOST]


def _semantic(world: World, by_phase: Sequence[Sequence[Item]]) -> list[Recalled]:
    """The best of the snippets."""
    query = Query.of(world.request.input)
    return [
        _found(world, each.item, *each.reasons, score=each.score)
        for each in best(by_phase, query, most=world.contract.semantic_top_k)
    ]


def _profile(world: World, by_phase: Sequence[Sequence[Item]]) -> list[Recalled]:
    """The oldest facts."""
    items = [item for items in reversed(by_phase) for item in items]
    return [_found(world, item, "active_rule") for item in items[:PROFILE_MOST]]


_Recalls = Callable[[World, Sequence[Sequence[Item]]], list[Recalled]]
_RECALLS: Mapping[ItemKind, _Recalls] = {
    ItemKind.SHORT_TERM: _short_term,
    ItemKind.SEMANTIC: _semantic,
    ItemKind.PROFILE: _profile,
}


def _found(world: World, item: Item, *reasons: str, score: int | None = None) -> Recalled:
    rule = world.contract.rule(item.kind, item.event_type)
    return Recalled(item=item, reasons=reasons, score=score, is_kept_by_rule=not rule.is_kept)
