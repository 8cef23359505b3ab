"""The curator (001): exact repeats are put away, facts of one entity are folded into one.

Nothing is deleted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from graphmem.gateway.draft import Draft
from graphmem.gateway.tracing import effect
from graphmem.model.edge import LineageType
from graphmem.model.entity import EntityRef, slug
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.policy import CuratePolicy, WritePolicy
from graphmem.model.source import CapturedBy, SourceType
from graphmem.model.state import Decision, GraphState
from graphmem.model.tending import Foldable
from graphmem.text.normalise import content_hash
from graphmem.upkeep.rollup import Rollup, combined

RepeatKey = tuple[str, str, str, str, str]

PEOPLE_TYPES = frozenset({"person", "org"})  # entities whose facts are PEOPLE in 001
PROJECT_TYPES = frozenset({"project"})  # folded only where an extractor put the facts into words
_WRITE = WritePolicy()


def is_curation_due(
    last: datetime | None, new_memories: int, policy: CuratePolicy, now: datetime
) -> bool:
    """Whether the curator looks after a space: never yet, a day ago, or much is new (001, Curator)."""
    return (
        last is None
        or now - last >= timedelta(hours=policy.every_hours)
        or new_memories >= policy.new_memories
    )


def repeat_key(
    space: str, kind: str, actor: str | None, logical_key: str | None, content: str
) -> RepeatKey:
    """What two memories have in common of which one repeats the other: space, type, actor and what they say.

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

    Pinned ones and todos it never touches (001); turns of a conversation differ by what is around
    them.
    """
    return (
        memory.status is Status.ACTIVE
        and memory.kept_by is None
        and not memory.pinned
        and memory.type is not MemoryType.TODO
        and not memory.context_built
    )


def is_seeded(memory: Memory) -> bool:
    """Whether a user wrote it down himself, which no rule overrules (001, seeded_profile)."""
    return memory.source.type is SourceType.MANUAL and memory.source.captured_by is CapturedBy.USER


def worth(memory: Memory) -> tuple[bool, datetime, str]:
    """Which of several that say the same stays, the greatest: a seeded one, else the newest (001, Curator)."""
    return (is_seeded(memory), memory.created_at, memory.uid)


def decide_dedupe(state: GraphState, now: datetime) -> Decision:
    """Of each group of repeats keep the seeded one, else the newest; the others are archived.

    The one that stays counts the mentions of all, as if it had been said again (001, Curator).
    """
    draft = Draft(before=state, now=now)
    groups: dict[RepeatKey, list[Memory]] = defaultdict(list)
    for _, memory in sorted(state.memories.items()):
        if may_repeat(memory):
            key = repeat_key(
                memory.space.key, memory.type, memory.actor, memory.logical_key, memory.content
            )
            groups[key].append(memory)
    events: list[Event] = []
    for group in groups.values():
        if len(group) > 1:
            events += _keep_one(draft, group)
    return draft.decision(events=events)


def _keep_one(draft: Draft, group: Sequence[Memory]) -> list[Event]:
    kept = max(group, key=worth)
    others = [memory for memory in group if memory is not kept]
    for memory in others:
        draft.set_status(memory, Status.ARCHIVED, Reason.DEDUPE)
    stands_for_all = combined(kept, others)
    draft.put(stands_for_all)
    draft.take_claims(stands_for_all, also_from=None)
    return [
        *(effect(memory, Effect.ARCHIVED, Reason.DEDUPE, kept=kept.uid) for memory in others),
        effect(
            stands_for_all, Effect.REINFORCED, Reason.DEDUPE, mentions=stands_for_all.mention_count
        ),
    ]


def plan_folds(
    found: Iterable[tuple[EntityRef, Sequence[Foldable]]],
    policy: CuratePolicy,
    *,
    new_uid: Callable[[], str],
) -> list[Rollup]:
    """What to fold in one space.

    ``found`` are entities in order, each with its facts, oldest first.

    A fact goes into one fold. One fold says all that its members say, so it takes only as many as
    it can hold; the rest waits for the next one.
    """
    folds: list[Rollup] = []
    used: set[str] = set()
    for entity, facts in found:
        free = [fact for fact in facts if fact.key not in used]
        while len(free) >= policy.fold_members and len(folds) < policy.folds:
            members = _fitting(entity, free[: max(policy.fold_contents, policy.fold_members)])
            if len(members) < policy.fold_members:
                break
            folds.append(
                Rollup(
                    uid=new_uid(),
                    content=f"{entity.label}: {' / '.join(member.content for member in members)}",
                    members=members,
                    lineage=LineageType.FOLDED_FROM,
                    effect=Effect.FOLDED,
                    reason=Reason.FOLD,
                    importance=policy.fold_importance,
                )
            )
            used |= {member.key for member in members}
            free = [fact for fact in free if fact.key not in used]
    return folds


def _fitting(entity: EntityRef, facts: Sequence[Foldable]) -> tuple[Foldable, ...]:
    """The first facts that fit into the content of one memory."""
    room = _WRITE.content_max_chars - len(entity.label or "") - 2
    taken: list[Foldable] = []
    for fact in facts:
        room -= len(fact.content) + 3
        if room < 0:
            break
        taken.append(fact)
    return tuple(taken)
