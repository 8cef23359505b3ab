"""Rollups: folds and summaries say what their members say, and never more. Pure.

One whose member was taken back, replaced or reworded is made anew by rules from those that are
left, or taken apart where fewer than two are.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.gateway.sources import add_source, drop_source
from graphmem.gateway.tracing import effect
from graphmem.model.edge import LineageType
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import WritePolicy
from graphmem.text.normalise import shorten

if TYPE_CHECKING:
    from graphmem.gateway.draft import Draft

PUT_AWAY = frozenset({Reason.FOLD, Reason.SUMMARISED})
WITHOUT_VECTORS = -1  # instead of the index of an item: a job makes them later
_ITEM_MAX_CHARS = 120
_MEMBERS_MIN = 2
_WRITE = WritePolicy()


def fold_text(label: str, contents: Iterable[str]) -> str:
    """What facts of one entity say, in one text (001, Curator)."""
    return f"{label}: {' / '.join(contents)}"


def summary_text(said: Sequence[tuple[str, datetime]]) -> str:
    """Many small memories in one text: the beginning of each; oldest first (003)."""
    first, last = said[0][1], said[-1][1]
    items = "; ".join(shorten(content, _ITEM_MAX_CHARS).rstrip(".;") for content, _ in said)
    return f"{len(said)} memories from {first:%Y-%m-%d} to {last:%Y-%m-%d}: {items}."


def combined_entities(memories: Iterable[Memory]) -> tuple[EntityRef, ...]:
    """The entities of several memories, at most as many as one may have."""
    refs: dict[str, EntityRef] = {}
    for memory in memories:
        for ref in memory.entities:
            refs.setdefault(ref.key, ref)
    return tuple(sorted(list(refs.values())[: _WRITE.entities_max]))


def combined_tags(memories: Iterable[Memory]) -> tuple[str, ...]:
    """The tags of several memories, at most as many as one may have."""
    tags = dict.fromkeys(tag for memory in memories for tag in memory.tags)
    return tuple(tags)[: _WRITE.tags_max]


def roll_up(
    draft: "Draft",
    made: Memory,
    members: Iterable[Memory],
    *,
    lineage: LineageType,
    reason: Reason,
) -> list[Event]:
    """Let a new memory stand for others: it takes their sources, and they are archived."""
    draft.create(made)
    draft.vectors_of[made.key] = 0
    events: list[Event] = []
    for memory in members:
        for source in memory.sources:
            add_source(draft, draft.memories[made.key], source)
        draft.draw(made, lineage, memory)
        draft.set_status(memory, Status.ARCHIVED, reason)
        events.append(effect(memory, Effect.ARCHIVED, reason, into=made.uid))
    return events


def keep_true(draft: "Draft") -> list[Event]:
    """Let no rollup state what one of its members no longer says."""
    return [
        _without_what_has_gone(draft, draft.memories[made], members)
        for made, members in sorted(draft.before.rollups.items())
        if made in draft.memories
        and draft.memories[made].status is Status.ACTIVE
        and any(_has_gone(draft, key) for key in members)
    ]


def take_apart(draft: "Draft", made: Memory, members: Iterable[str]) -> Event:
    """Archive what was made of memories, and make those active again that it had put away."""
    if made.status is Status.ACTIVE:
        draft.set_status(made, Status.ARCHIVED, Reason.UNFOLD)
    restored = [
        draft.set_status(memory, Status.ACTIVE, None).uid
        for memory in _put_away(draft, members)
        if not memory.has_expired(draft.now)
    ]
    return Event(
        space=made.space.key,
        subject=made.uid,
        effect=Effect.UNFOLDED,
        reason=Reason.UNFOLD,
        detail={"restored": restored},
    )


def states(made: Memory, content: str) -> bool:
    """Whether a rollup says what a memory says, whole or as a summary begins to."""
    return content in made.content or shorten(content, _ITEM_MAX_CHARS).rstrip(".;") in made.content


def keep_to_what_is_left(draft: "Draft", made: Memory) -> None:
    """Let a rollup of an older store state what its members say now."""
    members = draft.before.rollups.get(made.key, ())
    _without_what_has_gone(draft, made, members)


def _has_gone(draft: "Draft", key: str) -> bool:
    """Whether a memory was taken back, replaced or reworded here."""
    before, after = draft.before.memories.get(key), draft.memories.get(key)
    if before is None or after is None:
        return False
    is_away = after.status is not Status.ACTIVE and not _is_put_away(after, draft.now)
    was_away = before.status is not Status.ACTIVE and not _is_put_away(before, draft.now)
    return (is_away and not was_away) or before.content != after.content


def _put_away(draft: "Draft", members: Iterable[str]) -> list[Memory]:
    """Those members that a rollup stands for, oldest first."""
    found = (draft.memories[key] for key in members if key in draft.memories)
    put_away = (memory for memory in found if _is_put_away(memory, draft.now))
    return sorted(put_away, key=lambda memory: (memory.created_at, memory.key))


def _is_put_away(memory: Memory, now: datetime) -> bool:
    """Whether only a rollup, which says what it says, keeps a memory quiet."""
    is_kept = memory.status is Status.ARCHIVED and memory.status_reason in PUT_AWAY
    return is_kept and not memory.is_over(now)


def _without_what_has_gone(draft: "Draft", made: Memory, members: Sequence[str]) -> Event:
    left = _put_away(draft, members)
    content = _text_of(made, left) if len(left) >= _MEMBERS_MIN else ""
    if not content or len(content) > _WRITE.content_max_chars:
        return take_apart(draft, made, members)
    remade = replace(
        made,
        content=content,
        summary=shorten(content, _WRITE.summary_max_chars),
        confidence=min(memory.confidence for memory in left),
        entities=combined_entities(left),
        tags=combined_tags(left),
        native=_native_of(made, list(filter(None, map(draft.memories.get, members))), left),
        mention_count=sum(memory.mention_count for memory in left),
        embedded=False,
        updated_at=draft.now,
        version=made.version + 1,
    )
    draft.put(remade)
    draft.vectors_of[made.key] = WITHOUT_VECTORS
    _forget_sources(draft, made.key, members, left)
    return Event(
        space=made.space.key,
        subject=made.uid,
        effect=Effect.REWRITTEN,
        reason=Reason(left[0].status_reason or Reason.FOLD),
        detail={"members": [memory.uid for memory in left]},
    )


def _native_of(
    made: Memory, members: Collection[Memory], left: Collection[Memory]
) -> Mapping[str, object] | None:
    """The values of the room that keeps a rollup, without the names of what has gone from it.

    Their lists may hold uids of members, and keys of entities that these mention.
    """
    if made.native is None:
        return None
    gone = _names(members) - _names(left)
    return {
        name: [each for each in value if str(each) not in gone]
        if isinstance(value, list | tuple)
        else value
        for name, value in made.native.items()
    }


def _names(memories: Collection[Memory]) -> set[str]:
    """The uids of some memories, and the keys of what they mention."""
    refs = {ref.key for memory in memories for ref in memory.entities}
    return refs | {memory.uid for memory in memories}


def _text_of(made: Memory, left: Sequence[Memory]) -> str:
    if left[0].status_reason == Reason.SUMMARISED:
        return summary_text([(memory.content, memory.created_at) for memory in left])
    shared = set.intersection(*({ref.key for ref in memory.entities} for memory in left))
    labels = [ref.label or label_from_key(ref.key) for ref in made.entities if ref.key in shared]
    labels.sort(key=lambda label: not made.content.startswith(f"{label}: "))  # as before, if it may
    return fold_text(labels[0], (memory.content for memory in left)) if labels else ""


def _forget_sources(
    draft: "Draft", made: str, members: Iterable[str], left: Iterable[Memory]
) -> None:
    """Let a rollup have no source that only members had which it no longer stands for."""
    memory = draft.memories[made]
    kept = {source.name for each in left for source in each.sources} | {memory.source.name}
    gone = {
        source.name: source
        for key in members
        if key in draft.before.memories
        for source in draft.before.memories[key].sources
        if source.name not in kept
    }
    for source in gone.values():
        drop_source(draft, draft.memories[made], source)
