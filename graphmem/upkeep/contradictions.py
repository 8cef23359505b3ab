"""Contradictions: active memories of one entity and claim family whose values differ."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations

from graphmem.gateway.draft import Draft
from graphmem.gateway.tracing import effect
from graphmem.model.edge import EdgeType
from graphmem.model.entity import signs_of
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Authority, Memory, Status
from graphmem.model.policy import ContradictionPolicy
from graphmem.model.state import Decision, EdgeEnds, GraphState
from graphmem.model.upkeep_rows import EntityNames, EntityStatement
from graphmem.text.analysis import words
from graphmem.text.assertions import Assertion, assertion_of, values_disagree
from graphmem.upkeep.archival import CORRECTION_TAG
from graphmem.upkeep.merge_actions import RULES

_PAIRS = 20  # of one entity and family
_PRONOUNS = frozenset("he she they his her their it its user s".split())
_LEAD_INS = frozenset("now currently today since still".split())
_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Disagreement:
    """Two memories that cannot both be true, the newer one first, and why.

    ``weight`` is how sure that is.
    """

    newer: str
    older: str
    versions: tuple[int, int]  # in which they were read
    reason: str
    weight: float = 1.0
    by: str = RULES


def find_disagreements(statements: Iterable[EntityStatement]) -> list[Disagreement]:
    """The pairs of one space that disagree: one entity and family, other values."""
    families: dict[tuple[str, str], list[tuple[EntityStatement, Assertion]]] = defaultdict(list)
    for statement in statements:
        claim = assertion_of(statement.content)
        entity = _subject(claim, statement.entities) if claim else None
        if claim and entity:
            families[entity.key, claim.family].append((statement, claim))
    found: list[Disagreement] = []
    for (entity_key, family), said in sorted(families.items()):
        newest_first = _one_of_each_value(
            sorted(said, key=lambda each: (-each[0].created_ms, each[0].key))
        )
        pairs = (
            Disagreement(
                newer=one.key,
                older=other.key,
                versions=(one.version, other.version),
                reason=f"{entity_key}: {family} is {_spelled(claim)} or {_spelled(before)}",
            )
            for (one, claim), (other, before) in combinations(newest_first, 2)
            if values_disagree(claim, before) and _overlap(one, other)
        )
        found += [pair for pair, _ in zip(pairs, range(_PAIRS), strict=False)]
    return found


def _spelled(claim: Assertion) -> str:
    return " ".join(claim.value)


def _one_of_each_value(
    said: Sequence[tuple[EntityStatement, Assertion]],
) -> list[tuple[EntityStatement, Assertion]]:
    """The newest statement of each value and time, at most as many as can be paired."""
    chosen: dict[object, tuple[EntityStatement, Assertion]] = {}
    for statement, claim in said:
        chosen.setdefault(
            (claim.value, statement.valid_from, statement.valid_until), (statement, claim)
        )
    return list(chosen.values())[: 2 * _PAIRS]


def _subject(claim: Assertion, entities: Sequence[EntityNames]) -> EntityNames | None:
    """The entity that a claim is about: the one that is named before the value.

    Where a memory mentions one entity and says he, she or they, that one is meant. Where two of one
    name differ by its signs, none is.
    """
    said = tuple(word for word in claim.subject if word not in _LEAD_INS)
    called = [
        entity
        for entity in entities
        if any(said in {named, (*named, "s")} for named in map(_named, entity.names))
    ]
    if called:
        are_told_apart = len({signs_of(entity.key) for entity in called}) == 1
        return called[0] if are_told_apart else None
    is_pronoun = bool(said) and set(said) <= _PRONOUNS
    return entities[0] if len(entities) == 1 and is_pronoun else None


def _named(name: str) -> tuple[str, ...]:
    return tuple(words(name))


def _overlap(one: EntityStatement, other: EntityStatement) -> bool:
    """Whether there is a time at which both are held to be true."""
    begins = max(one.valid_from or _FIRST, other.valid_from or _FIRST)
    ends = min(one.valid_until or _LAST, other.valid_until or _LAST)
    return begins < ends


def edges_between(disagreements: Iterable[Disagreement]) -> frozenset[EdgeEnds]:
    """The edges that say that a pair is known already."""
    return frozenset(
        place
        for pair in disagreements
        for kind in (EdgeType.CONTRADICTS, EdgeType.UPDATES)
        for place in ((pair.newer, kind, pair.older), (pair.older, kind, pair.newer))
    )


def decide_disagreements(
    state: GraphState,
    *,
    disagreements: Sequence[Disagreement],
    policy: ContradictionPolicy,
    now: datetime,
) -> Decision:
    """Draw CONTRADICTS between what disagrees.

    Where the policy says so, the weaker one is superseded.

    Pairs that changed since they were read, or of which one updates the other, are left alone.
    """
    draft = Draft(before=state, now=now)
    events: list[Event] = []
    for pair in disagreements:
        newer, older = draft.memories.get(pair.newer), draft.memories.get(pair.older)
        if newer is None or older is None or pair.versions != _versions(state, pair):
            continue
        if not (_is_open(newer) and _is_open(older)) or _has(state, EdgeType.UPDATES, pair):
            continue
        if not _has(state, EdgeType.CONTRADICTS, pair):
            draft.draw(newer, EdgeType.CONTRADICTS, older, weight=pair.weight, reason=pair.reason)
            events.append(
                effect(
                    newer,
                    Effect.CONTRADICTION,
                    Reason.CONFLICTING_VALUES,
                    other=older.uid,
                    why=pair.reason,
                    by=pair.by,
                )
            )
        if policy.resolve:
            events += _resolve(draft, newer, older)
    return draft.decision(events=events)


def _is_open(memory: Memory) -> bool:
    """Whether the job may say of a memory that another contradicts it."""
    return memory.status is Status.ACTIVE and memory.kept_by is None


def _versions(state: GraphState, pair: Disagreement) -> tuple[int, int]:
    return (state.memories[pair.newer].version, state.memories[pair.older].version)


def _has(state: GraphState, kind: EdgeType, pair: Disagreement) -> bool:
    both_ways = ((pair.newer, kind, pair.older), (pair.older, kind, pair.newer))
    return any(state.edges.get(ends) for ends in both_ways)


def _resolve(draft: Draft, newer: Memory, older: Memory) -> list[Event]:
    """Let the weaker of two memories be superseded by the stronger one.

    A pinned one stays, and so does what happened once (003, episodes).
    """
    stronger, weaker = sorted((newer, older), key=strength, reverse=True)
    if weaker.pinned or weaker.is_episode:
        return []
    draft.draw(stronger, EdgeType.UPDATES, weaker, reason="conflict")
    draft.set_status(weaker, Status.SUPERSEDED, Reason.CONFLICT)
    return [effect(weaker, Effect.SUPERSEDED, Reason.CONFLICT, updated_by=stronger.uid)]


def strength(memory: Memory) -> tuple[int, bool, datetime, int, str]:
    """What wins: authority, being a correction, recency, importance (004, Conflict)."""
    order = list(reversed(Authority))
    return (
        order.index(memory.authority),
        CORRECTION_TAG in memory.tags,
        memory.began,
        memory.importance,
        memory.uid,
    )
