"""Plan: what an extraction would write: facts, what they lead to, and relations. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphmem.errors import GraphmemError, PolicyRefused
from graphmem.gateway.item import Item
from graphmem.gateway.relations import RelationRequest
from graphmem.lifecycle.caps import Fact, Sifted
from graphmem.lifecycle.entity_matching import Match
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.extraction import TYPE_OF, EngineName, Heard, Named, tier_of
from graphmem.model.memory import Authority, MemoryKind
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space
from graphmem.model.writing import Dedupe, WriteRequest

_GIVEN = frozenset(
    "content type actor importance confidence source authority occurred_at tags entities native"
    " proposed_uid".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """An edge from a fact to a memory that was there, by key; ``link_type`` is the name of 003."""

    memory: str
    type: EdgeType
    link_type: str
    weight: float
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedFact:
    """A fact with the item that would write it; ``parts`` are its parts, each PART_OF the whole.

    ``superseded`` are keys of memories that a judge found to be contradicted by it.
    """

    fact: Fact
    item: Item | None
    statement: str = ""  # what stands for its words
    asserts: str | None = None
    parts: tuple[Item, ...] = ()
    links: tuple[Link, ...] = ()
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedRelation:
    """A relation to be posted, with the number of the fact that says so."""

    request: RelationRequest
    start: EntityRef
    end: EntityRef
    fact: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """All that an extraction would write."""

    engine: EngineName
    sifted: Sifted
    turns: tuple[str, ...] = ()  # uids of those that were read
    facts: tuple[PlannedFact, ...] = ()
    relations: tuple[PlannedRelation, ...] = ()
    matches: Mapping[Named, Match] = field(default_factory=dict)


def refusal_code(error: GraphmemError | None) -> str:
    """The stable code of why something may not be stored."""
    if isinstance(error, PolicyRefused):
        return error.reason
    return error.code if error else "refused"


def source_of(session: str) -> Source:
    """The source of the facts of a session."""
    return Source(
        type=SourceType.CHANNEL_TRANSCRIPT,
        conversation_id=session,
        captured_by=CapturedBy.EXTRACTOR,
    )


def request_of(
    fact: Fact,
    turns: Sequence[Heard],
    matches: Mapping[Named, Match],
    *,
    space: Space,
    session: str,
    engine: EngineName,
    uid: str,
    repeats: bool,
    intent: Mapping[str, object] | None = None,
    kind: MemoryKind | None = None,
) -> WriteRequest:
    """The request that writes a fact of some turns; ``repeats`` lets equal words stand apart."""
    refs = (matches[each].ref for each in fact.entities if each in matches)
    actors = {each.actor for each in turns}
    return WriteRequest(
        space=space.name,
        content=fact.content,
        type=TYPE_OF[fact.category],
        actor=next(iter(actors)) if len(actors) == 1 else None,
        importance=round(fact.importance.score * 100),
        confidence=fact.confidence,
        entities=tuple({ref.key: ref for ref in refs}.values()),
        source=source_of(session),
        authority=(
            Authority.USER_ASSERTED if engine is EngineName.RULES else Authority.AI_INFERRED
        ),
        occurred_at=max((each.at for each in turns), default=None),
        tags=fact.tags,
        native=native_of(fact, intent, kind),
        dedupe=Dedupe.NONE if repeats else Dedupe.CONTENT,
        proposed_uid=uid,
        given=_GIVEN | {"dedupe"},
    )


def native_of(
    fact: Fact, intent: Mapping[str, object] | None, kind: MemoryKind | None = None
) -> dict[str, object]:
    """The values of 003 that a fact keeps, which have no place in the core."""
    values: dict[str, object] = {
        "category": fact.category.value,
        "tier": tier_of(fact.confidence).value,
        "importance_level": fact.importance.level,
        "importance_reasons": list(fact.importance.reasons),
        "keywords": list(fact.keywords),
    }
    values |= {"kind": kind.value} if kind else {}
    return values | ({"intent": dict(intent)} if intent else {})


def relations_of(
    sifted: Sifted, matches: Mapping[Named, Match], space: Space
) -> tuple[PlannedRelation, ...]:
    """The relations that some relationships stand for, each once."""
    found: dict[tuple[str, str, str], PlannedRelation] = {}
    for each in sifted.relationships:
        start, end = matches.get(each.source), matches.get(each.target)
        if start is None or end is None or start.ref.key == end.ref.key:
            continue
        if each.statement is None:
            continue
        request = RelationRequest(
            space=space,
            start=start.ref.key,
            end=end.ref.key,
            label=each.label,
            labels=(start.ref.label, end.ref.label),
        )
        planned = PlannedRelation(
            request=request, start=start.ref, end=end.ref, fact=each.statement
        )
        found.setdefault((start.ref.key, each.label, end.ref.key), planned)
    return tuple(found.values())
