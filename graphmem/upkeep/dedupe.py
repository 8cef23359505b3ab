"""Dedupe (001, Curator): of exact repeats one stays, the others are archived."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from graphmem.gateway.claims import timed_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.repeats import standing_for
from graphmem.gateway.sources import absorb
from graphmem.gateway.tracing import effect
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.names import slug
from graphmem.model.policy import CuratePolicy, WritePolicy
from graphmem.model.source import CapturedBy, SourceType
from graphmem.model.state import Decision, GraphState
from graphmem.text.normalise import content_hash

_WRITE = WritePolicy()
RepeatKey = tuple[str, str, str, str, str]


def is_curation_due(
    last: datetime | None, new_memories: int, policy: CuratePolicy, now: datetime
) -> bool:
    """Whether a space is due: never looked after, a day ago, or much is new (001)."""
    return (
        last is None
        or now - last >= timedelta(hours=policy.every_hours)
        or new_memories >= policy.new_memories
    )


def repeat_key(
    space: str, kind: str, actor: str | None, logical_key: str | None, content: str
) -> RepeatKey:
    """What repeats have in common: space, type, actor and what they say.

    The same words under another logical key are another claim: "yes" to mail is not "yes" to calls.
    """
    return (
        space,
        kind,
        (slug(actor) or actor) if actor else "",
        logical_key or "",
        content_hash(content),
    )


def may_repeat(memory: Memory) -> bool:
    """Whether the curator may take a memory for a repeat.

    Pinned ones and todos it never touches (001), nor episodes (003); turns of a conversation differ
    by what is around them.
    """
    return (
        memory.status is Status.ACTIVE
        and memory.kept_by is None
        and not memory.pinned
        and memory.type is not MemoryType.TODO
        and not memory.context_built
        and not memory.is_episode
    )


def is_seeded(memory: Memory) -> bool:
    """Whether a user wrote it down himself, which no rule overrules (001, seeded_profile)."""
    return memory.source.type is SourceType.MANUAL and memory.source.captured_by is CapturedBy.USER


def worth(memory: Memory) -> tuple[bool, datetime, str]:
    """Which of several that say the same stays: a seeded one, else the newest (001)."""
    return (is_seeded(memory), memory.created_at, memory.uid)


def decide_dedupe(state: GraphState, now: datetime) -> Decision:
    """Of each group of repeats keep the seeded one, else the newest; the others are archived.

    The one that stays counts the mentions of all, as if it had been said again (001, Curator).
    """
    draft = Draft(before=state, now=now)
    groups: dict[tuple[RepeatKey, str], list[Memory]] = defaultdict(list)
    for _, memory in sorted(state.memories.items()):
        if may_repeat(memory):
            key = repeat_key(
                memory.space.key, memory.type, memory.actor, memory.logical_key, memory.content
            )
            groups[key, _time_of(memory)].append(memory)
    events: list[Event] = []
    for group in groups.values():
        if len(group) > 1:
            events += _keep_one(draft, group)
    return draft.decision(events=events)


def _time_of(memory: Memory) -> str:
    """The interval of a memory and its occasion: equal words of two times are no repeats."""
    return timed_claim("", memory)


def _keep_one(draft: Draft, group: Sequence[Memory]) -> list[Event]:
    """Let one stand for the others; those that it cannot stand for as a whole stay."""
    kept = stands_for_all = max(group, key=worth)
    others = []
    for memory in group:
        united = standing_for(stands_for_all, memory, _WRITE) if memory is not kept else None
        if united:
            stands_for_all = replace(united, version=kept.version + 1)
            others.append(memory)
    if not others:
        return []
    for memory in others:
        draft.set_status(memory, Status.ARCHIVED, Reason.DEDUPE)
    draft.put(stands_for_all)
    draft.take_claims(stands_for_all, also_from=None)
    for memory in others:
        absorb(draft, draft.memories[kept.key], memory)
    return [
        *(effect(memory, Effect.ARCHIVED, Reason.DEDUPE, kept=kept.uid) for memory in others),
        effect(
            stands_for_all, Effect.REINFORCED, Reason.DEDUPE, mentions=stands_for_all.mention_count
        ),
    ]
