"""Curating (001, Curator): repeats are put away, and facts of one entity become one. Pure.

Nothing is deleted, nothing pinned is touched, and no todo either.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, count
from typing import Any

from graphmem.companion.entity_refs import LABEL_MAX_CHARS, memory_key, primary_of, united_refs
from graphmem.companion.judge import normalised_content
from graphmem.companion.projection import (
    core_importance,
    core_type,
    fact_of,
    is_fact,
    native_of_fact,
    own_importance,
    source_of,
)
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.repeats import standing_for
from graphmem.gateway.rollups import combined_entities, combined_tags, fold_text, roll_up
from graphmem.gateway.sources import absorb
from graphmem.gateway.tracing import effect
from graphmem.model.companion import (
    ROOM,
    CuratorState,
    EntityKind,
    FactKind,
    FactSource,
    FactType,
    NewFact,
    Subtype,
)
from graphmem.model.conversation import FromTurn
from graphmem.model.edge import LineageType
from graphmem.model.entity import label_from_key
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Authority, Memory, MemoryType, Status
from graphmem.model.policy import WritePolicy
from graphmem.model.policy.companion import CompanionCuratePolicy
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState
from graphmem.store.curating import KeptFact, kept_fact
from graphmem.text.normalise import shorten

SMALL = 1  # the importance up to which the hygiene variant puts memories away
FOLD_IMPORTANCE = 2
Folded = Mapping[str, Collection[str]]  # of a kind of memory: of which kinds the entities are
PEOPLE: Folded = {FactKind.PEOPLE: {EntityKind.PERSON, EntityKind.ORG}}
PEOPLE_AND_PROJECTS: Folded = {**PEOPLE, FactKind.PROJECT: {EntityKind.PROJECT}}
_WRITE = WritePolicy()
_FOLD = "|fold"  # behind the key of a fold: what is said next of the entity never joins it


def is_due(
    last: CuratorState | None,
    new_memories: int,
    policy: CompanionCuratePolicy,
    now: datetime,
    *,
    by_job: bool = False,
) -> bool:
    """Whether a user is due: never looked after, a day ago, or much is new; never too soon again.

    A job has its own times, so that only a run just before it counts.
    """
    if last is None:
        return True
    if is_too_soon(last, policy, now):
        return False
    is_old = now - last.last_run_at >= timedelta(hours=policy.every_hours)
    return by_job or is_old or new_memories >= policy.new_memories


def is_too_soon(last: CuratorState | None, policy: CompanionCuratePolicy, now: datetime) -> bool:
    """Whether a user was looked after just now."""
    return last is not None and now - last.last_run_at < timedelta(seconds=policy.cool_down_seconds)


def repeat_key(fact: KeptFact) -> tuple[str, str, str]:
    """What repeats have in common: type, words, and whom they are about."""
    primary = primary_of(fact.refs, fact.content)
    return (fact.native["type"], normalised_content(fact.content), primary)


def worth(fact: KeptFact) -> tuple[bool, bool, datetime, str]:
    """Which of several that say the same stays: a seeded one, one that stays anyway, the newest."""
    is_seeded = fact.native["source"] == FactSource.SEEDED_PROFILE
    return (is_seeded, fact.pinned, fact.created_at, fact.key)


def may_go(fact: KeptFact, *, only_small: bool) -> bool:
    """Whether a repeat may be put away."""
    is_small = own_importance(fact.importance) <= SMALL
    return not fact.pinned and (is_small or not only_small)


def repeats_in(facts: Iterable[KeptFact], *, only_small: bool) -> Iterator[list[KeptFact]]:
    """The groups of memories of a space that say the same: what stays, then those that go."""
    groups: dict[tuple[str, str, str], list[KeptFact]] = defaultdict(list)
    for fact in facts:
        groups[repeat_key(fact)].append(fact)
    for group in groups.values():
        stays = max(group, key=worth)
        others = [
            each for each in group if each is not stays and may_go(each, only_small=only_small)
        ]
        if others:
            yield [stays, *others]


def batches(groups: Iterable[Sequence[KeptFact]], size: int) -> Iterator[list[KeptFact]]:
    """Groups together, at most so many memories; each part of a larger one with what stays."""
    batch: list[KeptFact] = []
    for stays, *others in groups:
        for start in range(0, len(others), size - 1):
            part = [stays, *others[start : start + size - 1]]
            if batch and len(batch) + len(part) > size:
                yield batch
                batch = []
            batch += part
    if batch:
        yield batch


def decide_dedupe(
    state: GraphState, now: datetime, *, names: Mapping[str, str], only_small: bool = False
) -> Decision:
    """Of each group of repeats keep one, which stands for the others; these are archived.

    ``names`` are entities that were merged into others, each with what it is now.
    """
    draft = Draft(before=state, now=now)
    spaces: dict[Space, list[KeptFact]] = defaultdict(list)
    for _, memory in sorted(state.memories.items()):
        if _may_curate(memory):
            spaces[memory.space].append(kept_fact(memory, names))
    reason = Reason.CURATOR_V1_DEDUPE if only_small else Reason.DEDUPE
    events: list[Event] = []
    for facts in spaces.values():
        for stays, *others in repeats_in(facts, only_small=only_small):
            events += _keep_one(draft, stays, others, reason)
    return draft.decision(events=events)


def _may_curate(memory: Memory) -> bool:
    """Whether a memory is an active one of the room, for ever, and no todo."""
    limits = (memory.valid_from, memory.valid_until, memory.expires_at)
    is_ours = memory.kept_by == ROOM and is_fact(memory)
    return is_ours and memory.status is Status.ACTIVE and not any(limits)


def _keep_one(
    draft: Draft, stays: KeptFact, others: Iterable[KeptFact], reason: Reason
) -> list[Event]:
    """Let one stand for others; those that it cannot stand for as a whole stay."""
    kept = united = draft.memories[stays.key]
    refs: list[str] = []
    gone: list[Memory] = []
    for other in others:
        memory = draft.memories[other.key]
        if both := standing_for(united, memory, _WRITE):
            united = both
            refs += [ref for ref in other.refs if ref not in stays.refs]
            gone.append(memory)
    if not gone:
        return []
    united = replace(_with_native(united, refs), updated_at=draft.now, version=kept.version + 1)
    for memory in gone:
        draft.set_status(memory, Status.ARCHIVED, reason)
    draft.put(united)
    draft.take_claims(united, also_from=None)
    for memory in gone:
        absorb(draft, draft.memories[kept.key], memory)
    return [
        *(effect(memory, Effect.ARCHIVED, reason, kept=kept.uid) for memory in gone),
        effect(united, Effect.REINFORCED, reason, mentions=united.mention_count),
    ]


def _with_native(memory: Memory, refs: Iterable[str]) -> Memory:
    """A memory whose values of 001 name further entities, and follow from those of the core."""
    native: Mapping[str, Any] = memory.native or {}
    changed = replace(
        memory,
        native={
            **native,
            "entity_refs": list(united_refs(native["entity_refs"], refs)),
            "importance": own_importance(memory.importance),
        },
    )
    return replace(changed, type=_type_of(changed))


def _type_of(memory: Memory) -> MemoryType:
    """The type of the core that follows from the values of 001."""
    fact = fact_of(memory)
    return core_type(
        NewFact(
            kind=fact.kind,
            content=fact.content,
            subtype=fact.subtype,
            importance=fact.importance,
        )
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """Facts of one entity, in the versions that were read, that are to become one memory."""

    uid: str
    space: Space
    kind: FactKind
    entity: str
    label: str
    memory_key: str
    members: tuple[KeptFact, ...]

    @property
    def content(self) -> str:
        """What all of them say."""
        return fold_text(self.label, (member.content for member in self.members))


def plan_folds(
    facts: Iterable[KeptFact],
    space: Space,
    folded: Folded,
    policy: CompanionCuratePolicy,
    *,
    most: int,
    new_uid: Callable[[], str],
) -> list[Fold]:
    """What to fold of the memories of a space: of the entity that most is known of first.

    A fact goes into one fold. One fold says all that its members say, so it takes only as many as
    it can hold, the oldest ones; the rest waits for the next one.
    """
    facts = sorted(facts, key=lambda fact: (fact.created_at, fact.key))
    taken = {fact.logical_key for fact in facts}
    used: set[str] = set()
    folds: list[Fold] = []
    for (kind, entity), found in _by_entity(facts, folded):
        free = [fact for fact in found if fact.key not in used]
        while len(free) >= policy.fold_members and len(folds) < most:
            members = _fitting(free[: max(policy.fold_contents, policy.fold_members)])
            if len(members) < policy.fold_members:
                break
            fold = Fold(
                uid=new_uid(),
                space=space,
                kind=kind,
                entity=entity,
                label=label_from_key(entity),
                memory_key=_free_key(kind, entity, taken),
                members=members,
            )
            folds.append(fold)
            taken.add(fold.memory_key)
            used |= {member.key for member in members}
            free = free[len(members) :]
    return folds


def named(fold: Fold, memories: Mapping[str, Memory]) -> Fold:
    """A fold under the name by which its entity is known; ``memories`` are members by key."""
    members = [memories[each.key] for each in fold.members if each.key in memories]
    labels = (ref.label for memory in members for ref in memory.entities if ref.key == fold.entity)
    return replace(fold, label=next(filter(None, labels), fold.label))


def _by_entity(
    facts: Iterable[KeptFact], folded: Folded
) -> list[tuple[tuple[FactKind, str], list[KeptFact]]]:
    """The facts that may be folded by kind and entity, those of the most first."""
    found: dict[tuple[FactKind, str], list[KeptFact]] = defaultdict(list)
    for fact in filter(_may_fold, facts):
        kinds = folded.get(fact.native["type"], ())
        for ref in fact.refs:
            if ref.partition(":")[0] in kinds:
                found[FactKind(fact.native["type"]), ref].append(fact)
    return sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))


def _may_fold(fact: KeptFact) -> bool:
    """Whether another may say what a memory says: it was extracted, and nothing holds it."""
    is_extracted = fact.native["source"] == FactSource.SHADOW_EXTRACTION
    return is_extracted and fact.stands_alone and not fact.pinned


def _fitting(facts: Sequence[KeptFact]) -> tuple[KeptFact, ...]:
    """The first facts that fit into the content of one memory."""
    room = _WRITE.content_max_chars - LABEL_MAX_CHARS - 2
    taken: list[KeptFact] = []
    for fact in facts:
        room -= len(fact.content) + 3
        if room < 0:
            break
        taken.append(fact)
    return tuple(taken)


def _free_key(kind: FactKind, entity: str, taken: Collection[str]) -> str:
    """A key for a fold of an entity that no memory has."""
    key = f"{memory_key(_said_of(kind, entity))}{_FOLD}"
    keys = chain([key], (f"{key}-{number}" for number in count(2)))
    return next(each for each in keys if each not in taken)


def decide_fold(
    state: GraphState,
    fold: Fold,
    now: datetime,
    *,
    turns: Iterable[tuple[str, str]] = (),
    has_vectors: bool = False,
) -> Decision:
    """Make one memory of several and archive these, unless one changed or its key was taken.

    ``turns`` are those of the members, by key, each with the source that said it: the memory is of
    them, too.
    """
    draft = Draft(before=state, now=now)
    members = [state.memories[each.key] for each in fold.members if each.key in state.memories]
    is_as_read = [each.version for each in members] == [each.version for each in fold.members]
    if not is_as_read or draft.claimed(logical_claim(fold.space, fold.memory_key, ROOM)):
        return draft.decision()
    made = _made(fold, members, now, has_vectors=has_vectors)
    archived = roll_up(draft, made, members, lineage=LineageType.FOLDED_FROM, reason=Reason.FOLD)
    for turn, said_by in turns:  # that gave it no words of its own
        link = FromTurn(memory=made.key, turn=turn, said_by=said_by)
        draft.turns.links[link] = link
    folded = effect(made, Effect.FOLDED, Reason.FOLD, members=[each.uid for each in members])
    return draft.decision(events=[folded, *archived])


def _made(fold: Fold, members: Sequence[Memory], now: datetime, *, has_vectors: bool) -> Memory:
    fact = replace(
        _said_of(fold.kind, fold.entity),
        content=fold.content,
        entity_refs=united_refs([fold.entity], (ref for each in fold.members for ref in each.refs)),
        entity_label=fold.label,
    )
    own = {"memory_key": fold.memory_key, "folded_from_ids": [each.uid for each in members]}
    return Memory(
        uid=fold.uid,
        space=fold.space,
        type=core_type(fact),
        content=fact.content,
        summary=shorten(fact.content, _WRITE.summary_max_chars),
        importance=core_importance(fact.importance),
        confidence=min(memory.confidence for memory in members),
        entities=combined_entities(members),
        logical_key=fold.memory_key,
        tags=combined_tags(members),
        source=source_of(fact.source),
        authority=Authority.AI_INFERRED,
        mention_count=sum(memory.mention_count for memory in members),
        created_at=now,
        updated_at=now,
        embedded=has_vectors,
        claims_content=False,
        native=native_of_fact(fact) | own,
        kept_by=ROOM,
    )


def _said_of(kind: FactKind, entity: str) -> NewFact:
    """A fold of an entity in the words of 001, still without its content."""
    return NewFact(
        kind=kind,
        content="",
        subtype=Subtype(entity_type=EntityKind(entity.partition(":")[0]), fact_type=FactType.FACT),
        entity_refs=(entity,),
        importance=FOLD_IMPORTANCE,
        source=FactSource.CURATED_FOLD,
    )
