"""Reconsolidation: of notes that state other values of the same things the newest one holds. Pure.

(003, Episode/Note Reconsolidation; trap 56.) Which one is newer is decided by when each begins to
hold, not by when it was stored.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from graphmem.gateway.draft import Draft
from graphmem.gateway.tracing import effect
from graphmem.model.edge import EdgeType
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Decision, GraphState
from graphmem.text.assertions import values_disagree
from graphmem.text.statements import stated, stated_of
from graphmem.upkeep.merge_actions import RULES, may_give_way

_WHY = "conflict"  # of the edge; it says that no caller corrected anything


def conflicts_of(notes: Iterable[Memory]) -> list[tuple[Memory, Memory]]:
    """Pairs of notes that cannot both be true now: what holds, and what it takes the place of."""
    said: dict[str, list[Memory]] = defaultdict(list)
    for note in notes:
        if _is_open(note) and (about := stated_of(note.content, note.actor)):
            said[about].append(note)
    pairs: list[tuple[Memory, Memory]] = []
    for _, same in sorted(said.items()):
        newest, *older = sorted(same, key=_age, reverse=True)
        pairs += [(newest, each) for each in older if _disagree(newest, each)]
    return pairs


def _age(note: Memory) -> tuple[datetime, datetime, str]:
    return (note.began, note.created_at, note.key)


def _is_open(memory: Memory) -> bool:
    is_note = memory.kept_by is None and not memory.is_episode
    return memory.status is Status.ACTIVE and is_note


def _disagree(newer: Memory, older: Memory) -> bool:
    """Whether the newer one may take the place of the older one, of which it says otherwise."""
    one, other = stated(newer.content), stated(older.content)
    if one is None or other is None or not values_disagree(one, other):
        return False
    return newer.overlaps(older) and not older.pinned and may_give_way(older, newer)


def decide_reconsolidation(
    state: GraphState, *, versions: Mapping[str, int], now: datetime
) -> Decision:
    """Let newer notes supersede older ones, except what changed since it was read."""
    draft = Draft(before=state, now=now)
    same = [each for key, each in state.memories.items() if each.version == versions.get(key)]
    events: list[Event] = []
    for newer, older in conflicts_of(same):
        if not draft.supersede(newer, older):
            continue
        draft.draw(newer, EdgeType.UPDATES, older, reason=_WHY)
        events += [
            effect(older, Effect.SUPERSEDED, Reason.UPDATE, updated_by=newer.uid, by=RULES),
            effect(newer, Effect.UPDATED, Reason.UPDATE, updates=older.uid, by=RULES),
        ]
    return draft.decision(events=events)
