"""Merge actions: what consolidation does with memories that are near each other (003)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from graphmem.gateway.draft import Draft
from graphmem.gateway.repeats import standing_for
from graphmem.gateway.rollups import WITHOUT_VECTORS
from graphmem.gateway.sources import absorb
from graphmem.gateway.tracing import effect
from graphmem.model.edge import EdgeType
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Authority, Memory, Status
from graphmem.model.names import slug
from graphmem.model.policy import WritePolicy
from graphmem.model.state import Decision, GraphState
from graphmem.text.assertions import claim_words
from graphmem.text.normalise import shorten
from graphmem.upkeep.dedupe import is_seeded, may_repeat, worth

RULES = "rules"
_VERIFIED = frozenset({Authority.SYSTEM_IMPOSED, Authority.TOOL_VERIFIED})
_WRITE = WritePolicy()


class ActionKind(StrEnum):
    """What is to be done."""

    MERGE = "MERGE"  # the other says the same: this one stays, also with better words
    UPDATE = "UPDATE"  # this one replaces the other
    INVALIDATE = "INVALIDATE"  # this one is no longer true


@dataclass(frozen=True, kw_only=True, slots=True)
class MergeAction:
    """What is to be done about one memory, or two; ``by`` is who says so.

    ``key`` and ``other`` are keys.
    """

    kind: ActionKind
    key: str
    other: str | None = None
    content: str | None = None
    by: str = RULES


def make_the_same_claim(one: Memory, other: Memory) -> bool:
    """Whether two memories say the same of the same in nearly the same words."""
    return (
        speak_of_the_same(one, other)
        and [ref.key for ref in one.entities] == [ref.key for ref in other.entities]
        and (one.valid_from, one.valid_until) == (other.valid_from, other.valid_until)
        and claim_words(one.content) == claim_words(other.content)
    )


def speak_of_the_same(one: Memory, other: Memory) -> bool:
    """Whether one may stand for the other: one space, type, speaker, key, entities."""
    keys = [{ref.key for ref in memory.entities} for memory in (one, other)]
    return (
        one.space == other.space
        and one.type is other.type
        and slug(one.actor or "") == slug(other.actor or "")
        and one.logical_key == other.logical_key
        and (keys[0] == keys[1] or bool(keys[0] & keys[1]))
    )


def may_give_way(memory: Memory, to: Memory) -> bool:
    """Whether it may be put away for another: what is verified only for what is as strong."""
    order = list(Authority)  # strongest first
    return order.index(to.authority) <= order.index(memory.authority) and (
        is_seeded(to) or not is_seeded(memory)
    )


def actions_by_rules(
    pairs: Iterable[tuple[str, str]], memories: Mapping[str, Memory]
) -> list[MergeAction]:
    """What near pairs become by rules: the same claims are merged into the best."""
    together: dict[str, set[str]] = {}
    for one, other in sorted(pairs):
        first, second = memories.get(one), memories.get(other)
        if (
            first
            and second
            and may_repeat(first)
            and may_repeat(second)
            and make_the_same_claim(first, second)
        ):
            union = together.get(one, {one}) | together.get(other, {other})
            together.update(dict.fromkeys(union, union))
    actions: list[MergeAction] = []
    seen: set[str] = set()
    for key in sorted(together):
        if key not in seen:
            group = sorted(together[key])
            seen |= set(group)
            kept = max(group, key=lambda each: worth(memories[each]))
            actions += [
                MergeAction(kind=ActionKind.MERGE, key=kept, other=each)
                for each in group
                if each != kept
            ]
    return actions


def decide_actions(
    state: GraphState,
    *,
    actions: Sequence[MergeAction],
    versions: Mapping[str, int],
    now: datetime,
    embedded: Mapping[str, int],
) -> Decision:
    """Carry actions out, except about memories that are pinned or changed since they were read.

    ``embedded`` holds, by the new content, which of the vectors are of it.
    """
    draft = Draft(before=state, now=now)
    events: list[Event] = []
    changed: set[str] = set()
    allowed = [action for action in actions if _is_allowed(action, state, versions)]
    for key, group in _merges(allowed):
        free = [action for action in group if not changed & {key, action.other}]
        if free:
            changed |= {key, *(action.other or "" for action in free)}
            events += _merge(draft, key, free, embedded)
    for action in allowed:
        if action.kind is ActionKind.MERGE or changed & {action.key, action.other}:
            continue
        changed |= {action.key, action.other or ""}
        carry_out = _update if action.kind is ActionKind.UPDATE else _invalidate
        events += carry_out(draft, action)
    return draft.decision(events=events)


def _merges(actions: Iterable[MergeAction]) -> list[tuple[str, list[MergeAction]]]:
    """The merges, by the memory that stands for the others."""
    merges: dict[str, list[MergeAction]] = defaultdict(list)
    for action in actions:
        if action.kind is ActionKind.MERGE:
            merges[action.key].append(action)
    return sorted(merges.items())


def _is_allowed(action: MergeAction, state: GraphState, versions: Mapping[str, int]) -> bool:
    """Whether an action may be carried out on what is there now."""
    memory, other = state.memories.get(action.key), state.memories.get(action.other or "")
    named = [memory] if action.kind is ActionKind.INVALIDATE else [memory, other]
    if memory is None or any(each is None or not _is_free(each, versions) for each in named):
        return False
    if action.kind is ActionKind.INVALIDATE or other is None:
        return not is_seeded(memory) and memory.authority not in _VERIFIED
    if (
        not (speak_of_the_same(other, memory) and may_give_way(other, memory))
        or other.key == memory.key
    ):
        return False
    return action.kind is ActionKind.MERGE or memory.created_at >= other.created_at


def _is_free(memory: Memory, versions: Mapping[str, int]) -> bool:
    return (
        memory.status is Status.ACTIVE
        and memory.kept_by is None
        and not memory.pinned
        and not memory.is_episode
        and memory.version == versions.get(memory.key)
    )


def _invalidate(draft: Draft, action: MergeAction) -> list[Event]:
    memory = draft.set_status(draft.memories[action.key], Status.ARCHIVED, Reason.INVALIDATED)
    return [effect(memory, Effect.ARCHIVED, Reason.INVALIDATED, by=action.by)]


def _merge(
    draft: Draft, key: str, actions: Sequence[MergeAction], embedded: Mapping[str, int]
) -> list[Event]:
    """Let one memory stand for others, which are superseded by it."""
    kept = merged = draft.memories[key]
    others = []
    for other in (draft.memories[action.other or ""] for action in actions):
        if united := standing_for(merged, other, _WRITE):
            merged = replace(united, version=kept.version + 1)
            others.append(other)
    if not others:
        return []
    for other in others:
        draft.draw(kept, EdgeType.UPDATES, other, reason="merge")
        draft.set_status(other, Status.SUPERSEDED, Reason.MERGE)
    content = next((action.content for action in actions if action.content), None)
    became = Effect.REINFORCED
    if content and content != kept.content:
        became = Effect.REWRITTEN
        merged = _rewritten(merged, content, draft, embedded)
        draft.release(kept)
    draft.put(merged)
    draft.take_claims(merged, also_from=None)
    for other in others:
        absorb(draft, draft.memories[kept.key], other)
    by = actions[0].by
    events = [effect(other, Effect.MERGED, Reason.MERGE, into=kept.uid, by=by) for other in others]
    return [*events, effect(merged, became, Reason.MERGE, by=by)]


def _rewritten(memory: Memory, content: str, draft: Draft, embedded: Mapping[str, int]) -> Memory:
    draft.vectors_of[memory.key] = embedded.get(content, WITHOUT_VECTORS)
    return replace(
        memory,
        content=content,
        summary=shorten(content, _WRITE.summary_max_chars),
        updated_at=draft.now,
        embedded=content in embedded,
    )


def _update(draft: Draft, action: MergeAction) -> list[Event]:
    newer, older = draft.memories[action.key], draft.memories[action.other or ""]
    draft.supersede(newer, older)
    return [
        effect(older, Effect.SUPERSEDED, Reason.UPDATE, updated_by=newer.uid, by=action.by),
        effect(newer, Effect.UPDATED, Reason.UPDATE, updates=older.uid, by=action.by),
    ]
