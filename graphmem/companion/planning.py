"""Planning: the requests that memories and todos of a user become, before they are kept. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from graphmem.companion.entity_refs import memory_key, primary_of
from graphmem.companion.projection import (
    core_importance,
    core_type,
    native_of_fact,
    native_of_todo,
    source_of,
)
from graphmem.gateway.item import Item
from graphmem.model.companion import ROOM, FactSource, NewFact, NewTodo
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Authority, MemoryType
from graphmem.model.space import Space
from graphmem.model.writing import Dedupe, OnSameKey, WriteRequest

TODO_IMPORTANCE = 50
_CONFIDENCE: Mapping[FactSource, float] = {
    FactSource.SHADOW_EXTRACTION: 0.6,
    FactSource.SEEDED_PROFILE: 0.95,
    FactSource.CURATED_FOLD: 0.6,
}  # of a memory that comes without one


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedFact:
    """A memory with the item that writes it."""

    fact: NewFact
    item: Item


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedTodo:
    """A todo with the item that writes it."""

    todo: NewTodo
    item: Item


def request_of_fact(
    fact: NewFact, *, space: Space, at: datetime | None, by_model: bool = False
) -> WriteRequest:
    """The request that keeps a memory; equal keys unite."""
    is_first = iter([fact.entity_label])
    refs = tuple(EntityRef(key=ref, label=next(is_first, None)) for ref in fact.entity_refs)
    request = WriteRequest(
        space=space.name,
        content=fact.content,
        type=core_type(fact),
        dedupe=Dedupe.NONE,
        importance=core_importance(fact.importance),
        confidence=_CONFIDENCE[fact.source] if fact.confidence is None else fact.confidence,
        entities=refs,
        logical_key=memory_key(fact),
        on_same_key=OnSameKey.UNITE,
        source=source_of(fact.source),
        authority=Authority.AI_INFERRED if by_model else Authority.USER_ASSERTED,
        occurred_at=at,
        pinned=fact.pinned,
        native=native_of_fact(fact),
        kept_by=ROOM,
    )
    return _with_given(request)


def request_of_todo(
    todo: NewTodo, *, space: Space, at: datetime | None, by_model: bool = False
) -> WriteRequest:
    """The request that keeps a todo; one that is pending under its key stays as it is."""
    request = WriteRequest(
        space=space.name,
        content=todo.content,
        type=MemoryType.TODO,
        dedupe=Dedupe.NONE,
        importance=TODO_IMPORTANCE,
        logical_key=todo_key(todo),
        on_same_key=OnSameKey.KEEP,
        source=source_of(FactSource.SHADOW_EXTRACTION if at else FactSource.SEEDED_PROFILE),
        authority=Authority.AI_INFERRED if by_model else Authority.USER_ASSERTED,
        occurred_at=at,
        native=native_of_todo(todo),
        kept_by=ROOM,
    )
    return _with_given(request)


def todo_key(todo: NewTodo) -> str:
    """What a pending todo is known by: ``todo|commitment|call_mom``."""
    return f"todo|{todo.kind.lower()}|{todo.signature}"


def distinct_key(fact: NewFact) -> str:
    """What another memory under the same key is known by, where each is one of its own."""
    return f"{memory_key(fact)}|{primary_of((), fact.content)}"


def _with_given(request: WriteRequest) -> WriteRequest:
    names = (
        *("content", "type", "importance", "confidence", "entities", "logical_key", "source"),
        *("authority", "occurred_at", "pinned", "native", "kept_by"),
    )
    return WriteRequest(
        **{name: getattr(request, name) for name in WriteRequest.__slots__ if name != "given"},
        given=frozenset(names),
    )
