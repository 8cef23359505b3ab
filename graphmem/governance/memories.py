"""Memories: governed items as memories of the graph, and what a call changes of them. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from graphmem.gateway.draft import Draft
from graphmem.gateway.rollups import WITHOUT_VECTORS
from graphmem.governance.retention import Forgotten
from graphmem.governance.world import Left, World
from graphmem.model.edge import EdgeType, LineageType
from graphmem.model.event import Reason
from graphmem.model.governance import ROOM, EventType, Gone, Item, ItemKind, ItemSource
from graphmem.model.memory import Authority, Memory, MemoryType, Status, memory_key
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.store.governance import native_of
from graphmem.text.dedup_keys import key_digest
from graphmem.text.normalise import shorten

_TYPES: Mapping[EventType, MemoryType] = {
    EventType.FACT: MemoryType.FACT,
    EventType.CORRECTION: MemoryType.FACT,
    EventType.PREFERENCE: MemoryType.PREFERENCE,
    EventType.DECISION: MemoryType.DECISION,
    EventType.EXECUTION: MemoryType.EVENT,
    EventType.CONTEXT: MemoryType.OBSERVATION,
}
_CAPTURED_BY: Mapping[ItemSource, CapturedBy] = {
    ItemSource.USER: CapturedBy.USER,
    ItemSource.AI: CapturedBy.EXTRACTOR,
    ItemSource.TOOL: CapturedBy.SYSTEM,
    ItemSource.SYSTEM: CapturedBy.SYSTEM,
}
_CONFIDENCE: Mapping[Authority, float] = {
    Authority.SYSTEM_IMPOSED: 1.0,
    Authority.TOOL_VERIFIED: 0.9,
    Authority.USER_ASSERTED: 0.95,
    Authority.AI_INFERRED: 0.6,
}
_CORE_IMPORTANCE = 15  # of the graph, for each of the seven (sources, 6.4)
_SUMMARY_CHARS = 280


def core_importance(importance: int) -> int:
    """What an importance of 1 to 7 is in the graph, 0 to 100."""
    return min(100, _CORE_IMPORTANCE * importance)


def memory_of(item: Item, now: datetime) -> Memory:
    """The memory that an item is."""
    return Memory(
        uid=item.uid,
        space=item.space,
        type=_TYPES[item.event_type],
        content=item.text,
        summary=shorten(item.text, _SUMMARY_CHARS),
        created_at=now,
        updated_at=now,
        importance=core_importance(item.importance),
        confidence=_CONFIDENCE[item.authority],
        logical_key=logical_key(item.kind, item.dedup_key),
        source=Source(type=SourceType.MANUAL, captured_by=_CAPTURED_BY[item.source]),
        authority=item.authority,
        embedded=False,
        claims_content=False,
        native=native_of(item),
        kept_by=ROOM,
    )


def logical_key(kind: ItemKind, key: str) -> str | None:
    """What an item claims among those that are present; a message claims nothing."""
    if kind is ItemKind.SHORT_TERM:
        return None
    return f"{kind}|{key_digest(key)}"


def decide_memories(draft: Draft, world: World) -> None:
    """Let memories leave, come and change as a call decided; what leaves frees its claim first."""
    left = [each for id_, each in world.left.items() if id_ not in world.created]
    for each in left:
        _leave(draft, each)
    for item in world.created.values():
        memory = memory_of(item, draft.now)
        draft.create(memory)
        draft.vectors_of[memory.key] = WITHOUT_VECTORS
    for item in world.changed.values():
        _change(draft, item)
    for id_, each in world.left.items():
        if id_ in world.created:
            _leave(draft, each)
    _draw_lineage(draft, world)


def _change(draft: Draft, item: Item) -> None:
    memory = draft.memories.get(memory_key(item.space, item.uid))
    if memory:
        draft.put(
            replace(
                memory,
                native=native_of(item),
                importance=core_importance(item.importance),
                updated_at=draft.now,
                version=memory.version + 1,
            )
        )


def _leave(draft: Draft, left: Left) -> None:
    item = left.item
    memory = draft.memories.get(memory_key(item.space, item.uid))
    if memory is None:
        return
    if left.why is Gone.EXPIRED:
        by_ttl = left.forgotten is Forgotten.TTL_EXPIRED
        draft.set_status(memory, Status.ARCHIVED, Reason.TTL if by_ttl else Reason.DECAY)
        return
    by_conflict = Reason.UPDATE if item.is_summary else Reason.CONFLICT
    reason = Reason.PROMOTED if left.why is Gone.PROMOTED else by_conflict
    draft.set_status(memory, Status.SUPERSEDED, reason)


def _draw_lineage(draft: Draft, world: World) -> None:
    """Lead to winners from what they took the place of, to summaries, and to promoted copies."""
    keys = {item.id: memory_key(item.space, item.uid) for item in world.items.values()}
    keys |= {
        each.item.id: memory_key(each.item.space, each.item.uid) for each in world.left.values()
    }
    known = {id_: draft.memories[key] for id_, key in keys.items() if key in draft.memories}
    for left in world.left.values():
        winner, loser = known.get(left.replaced_by or ""), known.get(left.item.id)
        if winner and loser:
            is_copy = left.why is Gone.PROMOTED
            draft.draw(winner, LineageType.PROMOTED_FROM if is_copy else EdgeType.UPDATES, loser)
    for item in world.created.values():
        for summed in item.summary_of:
            if summed in world.left and summed in known:
                draft.draw(known[item.id], LineageType.SUMMARY_OF, known[summed])
