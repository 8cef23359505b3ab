"""Projection: memories of the core in the words of 001, both ways (sources, 6.3 to 6.6). Pure."""

from collections.abc import Mapping
from typing import Any

from graphmem.companion.entity_refs import memory_key
from graphmem.model.companion import (
    CONVERSATION,
    EntityKind,
    Fact,
    FactKind,
    FactSource,
    FactStatus,
    FactType,
    NewFact,
    NewTodo,
    Subtype,
    Todo,
    TodoKind,
    TodoStatus,
)
from graphmem.model.event import Reason
from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.source import CapturedBy, Source, SourceType

_IMPORTANCE = (10, 40, 70, 95)  # of the core, by that of 001
_IMPORTANCE_BELOW = (25, 60, 85)  # of the core: 0, 1, 2, else 3
CRITICAL = 3
_TYPES: Mapping[FactType, MemoryType] = {
    FactType.PREFERENCE: MemoryType.PREFERENCE,
    FactType.FRICTION: MemoryType.OBSERVATION,
}
_PEOPLE = frozenset({EntityKind.PERSON, EntityKind.ORG})
_TODO_STATUS = {Reason.COMPLETED: TodoStatus.COMPLETED, Reason.SKIPPED: TodoStatus.SKIPPED}
FACT_TYPES = (
    MemoryType.FACT,
    MemoryType.PREFERENCE,
    MemoryType.IDENTITY,
    MemoryType.OBSERVATION,
)  # that memories of 001 have here
_SOURCES: Mapping[FactSource, Source] = {
    FactSource.SHADOW_EXTRACTION: Source(
        type=SourceType.CHANNEL_TRANSCRIPT,
        conversation_id=CONVERSATION,
        captured_by=CapturedBy.EXTRACTOR,
    ),
    FactSource.SEEDED_PROFILE: Source(type=SourceType.MANUAL, captured_by=CapturedBy.USER),
    FactSource.CURATED_FOLD: Source(type=SourceType.MANUAL, captured_by=CapturedBy.SYSTEM),
}


def core_importance(importance: int) -> int:
    """The importance of the core, 0 to 100, of one from 0 to 3."""
    return _IMPORTANCE[importance]


def own_importance(importance: int) -> int:
    """The importance from 0 to 3 of one of the core."""
    return sum(importance >= below for below in _IMPORTANCE_BELOW)


def core_type(fact: NewFact) -> MemoryType:
    """The type that a memory of 001 has here."""
    fact_type = fact.subtype.fact_type
    if fact_type and fact_type in _TYPES:
        return _TYPES[fact_type]
    is_profile = fact.kind is FactKind.PROFILE and fact_type in {None, FactType.FACT}
    is_identity = is_profile and fact.importance == CRITICAL
    return MemoryType.IDENTITY if is_identity else MemoryType.FACT


def kind_of(subtype: Subtype) -> FactKind:
    """The type of 001 of a memory that does not name one."""
    if subtype.entity_type in _PEOPLE:
        return FactKind.PEOPLE
    is_project = subtype.entity_type is EntityKind.PROJECT
    return FactKind.PROJECT if is_project else FactKind.PROFILE


def source_of(source: FactSource) -> Source:
    """The source of the core of a source of 001."""
    return _SOURCES[source]


def native_of_fact(fact: NewFact) -> dict[str, Any]:
    """What only 001 says of a memory."""
    values: dict[str, Any] = {
        "type": fact.kind.value,
        "source": fact.source.value,
        "memory_key": memory_key(fact),
        "entity_refs": list(fact.entity_refs),
        "importance": fact.importance,
    }
    subtype = {
        name: value.value
        for name, value in (
            ("entity_type", fact.subtype.entity_type),
            ("fact_type", fact.subtype.fact_type),
        )
        if value
    }
    more = {"subtype": subtype, "entity_label": fact.entity_label, "confidence": fact.confidence}
    return values | {name: value for name, value in more.items() if value not in ({}, None)}


def native_of_todo(todo: NewTodo) -> dict[str, Any]:
    """What only 001 says of a todo."""
    key = {"dedupe_key": todo.dedupe_key} if todo.dedupe_key else {}
    return {"todo_kind": todo.kind.value, **key}


def is_fact(memory: Memory) -> bool:
    """Whether a kept memory is one of 001, and no todo."""
    return memory.type is not MemoryType.TODO


def fact_of(memory: Memory) -> Fact:
    """A kept memory in the words of 001."""
    native: Mapping[str, Any] = memory.native or {}
    is_active = memory.status is Status.ACTIVE
    return Fact(
        uid=memory.uid,
        user=memory.space.owner,
        persona=memory.space.persona,
        kind=FactKind(native["type"]),
        content=memory.content,
        memory_key=memory.logical_key or native["memory_key"],
        subtype=_subtype(native.get("subtype", {})),
        entity_refs=tuple(native["entity_refs"]),
        entity_label=native.get("entity_label"),
        importance=own_importance(memory.importance),
        pinned=memory.pinned,
        source=FactSource(native["source"]),
        status=FactStatus.ACTIVE if is_active else FactStatus.ARCHIVED,
        confidence=native.get("confidence"),
        mention_count=memory.mention_count,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        archived_at=None if is_active else memory.status_at,
        archive_reason=None if is_active else memory.status_reason or memory.status.value,
        folded_from=tuple(native.get("folded_from_ids", ())),
    )


def _subtype(values: Mapping[str, str]) -> Subtype:
    entity_type, fact_type = values.get("entity_type"), values.get("fact_type")
    return Subtype(
        entity_type=EntityKind(entity_type) if entity_type else None,
        fact_type=FactType(fact_type) if fact_type else None,
    )


def todo_of(memory: Memory) -> Todo:
    """A kept todo in the words of 001."""
    native: Mapping[str, Any] = memory.native or {}
    status = todo_status(memory)
    return Todo(
        uid=memory.uid,
        user=memory.space.owner,
        persona=memory.space.persona or "",
        kind=TodoKind(native["todo_kind"]),
        content=memory.content,
        status=status,
        created_at=memory.created_at,
        dedupe_key=native.get("dedupe_key"),
        completed_at=memory.status_at if status is TodoStatus.COMPLETED else None,
    )


def todo_status(memory: Memory) -> TodoStatus:
    """What became of a todo; one that was taken back is skipped."""
    if memory.status is Status.ACTIVE:
        return TodoStatus.PENDING
    return _TODO_STATUS.get(memory.status_reason or "", TodoStatus.SKIPPED)  # type: ignore[call-overload, no-any-return]


def least_core_importance(importance: int) -> int:
    """The least importance of the core that is one from 0 to 3, or more."""
    return (0, *_IMPORTANCE_BELOW)[importance]
