"""Mapping: driver nodes to frozen records and back, by the properties that neomodel declares."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from neomodel import BooleanProperty, FloatProperty, IntegerProperty, StringProperty

from graphmem.errors import ValueDamaged
from graphmem.model.caller import Caller, Role
from graphmem.model.edge import Edge, EdgeType, LineageType
from graphmem.model.entity import Entity, EntityRef
from graphmem.model.entity_change import ChangeKind, EntityChange
from graphmem.model.job import JobState, RunRecord, RunStatus
from graphmem.model.memory import Authority, Memory, MemoryType, Status
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import space_from_key
from graphmem.model.tokens import ALWAYS_MS, NEVER_MS, epoch_ms
from graphmem.model.trace import TraceRecord
from graphmem.store.entity_names import name_fields
from graphmem.store.schema import (
    ApiKeyNode,
    EntityChangeNode,
    EntityNode,
    JobNode,
    JobRunNode,
    MemoryNode,
    TraceNode,
)
from graphmem.text.times import moment_of

Properties = dict[str, Any]
Stored = Mapping[str, Any]  # a node or its properties
Described = Mapping[str, Any]  # name of a property → neomodel's object for it

_VOCABULARIES = {
    "type": ({*MemoryType}, "InvalidNodeType"),
    "status": ({*Status}, "InvalidStatus"),
    "source_type": ({*SourceType}, "InvalidSourceType"),
    "captured_by": ({*CapturedBy}, "InvalidCapturedBy"),
}
_EDGE_TYPES = {*EdgeType, *LineageType}
_UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN = (  # what the node has as the record has it
    "uid actor content summary context importance confidence logical_key status_reason status_at"
    " occurred_at valid_from valid_until created_at updated_at mention_count recall_count"
    " last_recalled_at version kept_by"
).split()
_FLAGS = ("context_built", "pinned", "embedded")
_SOURCE = {  # field of a source → property of the node
    "type": "source_type",
    "path": "source_path",
    "conversation_id": "conversation_id",
    "workflow_run_id": "workflow_run_id",
    "step_id": "step_id",
    "captured_by": "captured_by",
    "key": "source_key",
}
_TIMES = (
    "created_at updated_at status_at occurred_at valid_from valid_until expires_at last_recalled_at"
).split()
_PLAIN_TYPES: Mapping[type, type] = {
    StringProperty: str,
    IntegerProperty: int,
    FloatProperty: float,
    BooleanProperty: bool,
}
_MEMORY: Described = MemoryNode.defined_properties(aliases=False, rels=False)
_API_KEY: Described = ApiKeyNode.defined_properties(aliases=False, rels=False)
_ENTITY: Described = EntityNode.defined_properties(aliases=False, rels=False)
_ENTITY_CHANGE: Described = EntityChangeNode.defined_properties(aliases=False, rels=False)
_TRACE: Described = TraceNode.defined_properties(aliases=False, rels=False)
_JOB: Described = JobNode.defined_properties(aliases=False, rels=False)
_JOB_RUN: Described = JobRunNode.defined_properties(aliases=False, rels=False)


def memory_from_node(node: Stored, entities: Iterable[Sequence[str]] = ()) -> Memory:
    """The memory of a node; ``entities`` are (key, label) pairs of what it mentions.

    Raises:
        ValueDamaged: a value is none that this version knows; the message names it (002,
            Validation).
    """
    values = _values(_MEMORY, node)
    try:
        return _memory(values, entities, node)
    except (ValueError, TypeError) as error:
        message = f"The memory {values.uid} cannot be read: {_damage(values)}."
        raise ValueDamaged(message) from error


def _damage(values: SimpleNamespace) -> str:
    """The name of the first value of a memory that is none."""
    wrong = (
        f"{failure} {value!r}"
        for name, (known, failure) in _VOCABULARIES.items()
        if (value := getattr(values, name)) not in known
    )
    return next(wrong, "a value of it is not of its kind")


def _memory(values: SimpleNamespace, entities: Iterable[Sequence[str]], node: Stored) -> Memory:
    source = {field: getattr(values, name) for field, name in _SOURCE.items()}
    plain: dict[str, Any] = {name: getattr(values, name) for name in _PLAIN}
    flags: dict[str, Any] = {name: bool(getattr(values, name)) for name in _FLAGS}
    return Memory(
        **plain,
        **flags,
        space=space_from_key(values.space),
        type=MemoryType(values.type),
        status=Status(values.status),
        authority=Authority(values.authority),
        entities=tuple(EntityRef(key=key, label=label) for key, label in entities),
        tags=tuple(values.tags or ()),
        metadata=json.loads(values.metadata or "{}"),
        native=json.loads(values.native) if values.native else None,
        source=_source(source),
        more_sources=tuple(source_from_row(row) for row in reversed(node.get("sources") or ())),
        sources_total=node.get("sources_total") or 1,
        turns=tuple(values.turns or ()),
        expires_at=_from_ms(values.expires_at),
        claims_content=values.claims_content is not False,
    )


def _source(values: Mapping[str, Any]) -> Source:
    kind, captured_by = SourceType(values["type"]), CapturedBy(values["captured_by"])
    return Source(**{**values, "type": kind, "captured_by": captured_by})


def source_from_row(row: Sequence[Any]) -> Source:
    """The further source of a row, in the order of its fields, with its time as text."""
    *fields, at = row
    known = _source(dict(zip(_SOURCE, fields, strict=True)))
    return replace(known, at=moment_of(at))


def source_properties(source: Source) -> Properties:
    """The properties of a source, on the memory or on a node of its own."""
    return {name: _text_of(getattr(source, field)) for field, name in _SOURCE.items()}


def memory_properties(memory: Memory) -> Properties:
    """The node properties of a memory, without what full text sees of it; None removes one."""
    named = (*_PLAIN, *_FLAGS, "claims_content")
    return {
        **{name: getattr(memory, name) for name in named},
        **source_properties(memory.source),
        **{name: getattr(memory, name).value for name in ("type", "status", "authority")},
        "key": memory.key,
        "space": memory.space.key,
        "confidence": float(memory.confidence),
        "tags": list(memory.tags),
        "metadata": _json_text(memory.metadata) if memory.metadata else None,
        "native": _json_text(memory.native) if memory.native is not None else None,
        "expires_at": epoch_ms(memory.expires_at),
    }


def _text_of(value: str | None) -> str | None:
    """A text as the driver takes it, which knows no enums."""
    return None if value is None else str(value)


def _json_text(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def edge_from_row(row: Sequence[Any]) -> Edge:
    """The edge of a row: uid, uids of its ends, type, weight, time as text, reason, native type.

    One that was drawn by hand may lack some of it.
    """
    uid, from_uid, to_uid, edge_type, weight, created_at, reason, link_type = row
    if edge_type not in _EDGE_TYPES:
        message = f"The edge {uid} cannot be read: InvalidEdgeType {edge_type!r}."
        raise ValueDamaged(message)
    return Edge(
        uid=uid or "",
        from_uid=from_uid,
        to_uid=to_uid,
        type=EdgeType(edge_type) if edge_type in set(EdgeType) else LineageType(edge_type),
        weight=1.0 if weight is None else weight,
        created_at=moment_of(created_at) or _UNKNOWN,
        reason=reason,
        link_type=link_type,
    )


def memory_from_revision(text: str) -> Memory:
    """The memory that a revision keeps as JSON."""
    values = json.loads(text)
    times = {name: datetime.fromisoformat(values[name]) for name in _TIMES if values[name]}
    read = {
        "space": space_from_key(values["space"]),
        "type": MemoryType(values["type"]),
        "status": Status(values["status"]),
        "authority": Authority(values["authority"]),
        "entities": tuple(EntityRef(**ref) for ref in values["entities"]),
        "tags": tuple(values["tags"]),
        "source": _source(values["source"]),
    }
    return Memory(**values | times | read)


def memory_labels(memory: Memory) -> list[str]:
    """The labels beside Memory: its type, and whether it waits for vectors."""
    return [memory.type.value] + ([] if memory.embedded else ["EmbedPending"])


def chunk_copies(memory: Memory) -> Properties:
    """What each chunk repeats of its memory, because the vector index filters on it."""
    return {
        "space": memory.space.key,
        "status": memory.status.value,
        "expires_at": epoch_ms(memory.expires_at),
        "valid_from": epoch_ms(memory.valid_from, absent=ALWAYS_MS),
        "valid_until": epoch_ms(memory.valid_until),
        "type": memory.type.value,
        "captured_by": memory.source.captured_by.value,
        "conversation_id": memory.source.conversation_id or "",
    }


def caller_from_node(node: Stored) -> Caller:
    """Who the holder of an API key is."""
    values = _values(_API_KEY, node)
    return Caller(
        key_id=values.uid,
        tenant=values.tenant,
        role=Role(values.role),
        spaces=tuple(values.spaces or ()),
    )


def key_listing(node: Stored) -> Mapping[str, object]:
    """What may be shown of an API key."""
    values = _values(_API_KEY, node)
    return {
        "id": values.uid,
        "name": values.name,
        "tenant": values.tenant,
        "role": values.role,
        "spaces": list(values.spaces or ()),
        "created_at": values.created_at,
        "revoked_at": values.revoked_at,
    }


def run_record(node: Stored) -> RunRecord:
    """One run of a job."""
    values = _values(_JOB_RUN, node)
    return RunRecord(
        uid=values.uid,
        job=values.job,
        status=RunStatus(values.status),
        dry_run=bool(values.dry_run),
        space=values.space or "",
        by_hand=bool(values.by_hand),
        counts=json.loads(values.counts or "{}"),
        examples=json.loads(values.examples or "{}"),
        degraded=tuple(values.degraded or ()),
        error=values.error,
        started_at=values.started_at,
        finished_at=values.finished_at,
        holder=values.holder or "",
    )


def job_state(node: Stored, holder: str | None, last_run: Stored | None) -> JobState:
    """What is known of a job."""
    values = _values(_JOB, node)
    return JobState(
        name=values.name,
        does=values.does or "",
        schedule=values.schedule,
        next_run_at=values.next_run_at,
        slot=values.slot,
        totals={
            status: getattr(values, status) or 0
            for status in RunStatus
            if status is not RunStatus.RUNNING
        },
        last_started_at=values.last_started_at,
        last_succeeded_at=values.last_succeeded_at,
        last_seconds=values.last_seconds,
        holder=holder,
        last_run=run_record(last_run) if last_run else None,
    )


def entity_from_node(node: Stored) -> Entity:
    """An entity of an owner."""
    values = _values(_ENTITY, node)
    return Entity(
        key=values.entity_key,
        space=values.space,
        label=values.label,
        aliases=tuple(values.aliases or ()),
        is_declared=bool(values.declared),
        description=values.description,
        attributes=json.loads(values.attributes or "{}"),
        created_at=values.created_at,
        updated_at=values.updated_at,
    )


def entity_properties(entity: Entity) -> Properties:
    """What is kept of an entity."""
    names = name_fields(entity.space, entity.type, entity.label, entity.aliases)
    return names | {
        "entity_key": entity.key,
        "space": entity.space,
        "type": entity.type,
        "label": entity.label,
        "aliases": list(entity.aliases) or None,
        "declared": entity.is_declared or None,
        "description": entity.description,
        "attributes": attributes_text(entity.attributes),
        "created_at": entity.created_at,
        "updated_at": entity.updated_at,
    }


def attributes_text(attributes: Mapping[str, Any]) -> str | None:
    """Attributes as they are kept; none where there are none."""
    return json.dumps(attributes, ensure_ascii=False) if attributes else None


def entity_change_from_node(node: Stored) -> EntityChange:
    """A merge or split of entities."""
    values = _values(_ENTITY_CHANGE, node)
    return EntityChange(
        uid=values.uid,
        kind=ChangeKind(values.kind),
        space=values.space,
        from_key=values.from_key.partition("|")[2],
        into_key=values.into_key.partition("|")[2],
        into_is_new=bool(values.into_is_new),
        aliases_before=tuple(values.aliases_before or ()),
        evidence=json.loads(values.evidence or "{}"),
        moved=values.moved,
        key_id=values.key_id or "",
        created_at=values.created_at,
        undone_at=values.undone_at,
    )


def trace_from_node(node: Stored) -> TraceRecord:
    """What a write, recall or job did."""
    values = _values(_TRACE, node)
    return TraceRecord(
        uid=values.uid,
        kind=values.kind,
        tenant=values.tenant,
        spaces=tuple(values.spaces or ()),
        key_id=values.key_id or "",
        created_at=values.created_at,
        events=_events(values, node),
        query=values.query,
        request=json.loads(values.request or "{}"),
    )


def _events(values: SimpleNamespace, node: Stored) -> list[Any]:
    """The events of a trace; those of a governed call are packed."""
    packed = node.get("packed")
    text = zlib.decompress(bytes(packed)).decode() if packed else values.events
    events: list[Any] = json.loads(text or "[]")
    return events


def _values(described: Described, node: Stored) -> SimpleNamespace:
    """A node's properties as neomodel's own property objects read them; what is absent is None.

    ``StructuredNode.inflate`` does the same and then builds managers for every relation, which took
    ten times as long and was half of a recall. A value that is of its type already is not read.
    """
    values: dict[str, Any] = dict.fromkeys(described)
    for name, value in node.items():
        if value is not None and name in described:
            kind = described[name]
            is_read = _PLAIN_TYPES.get(type(kind)) is type(value)
            values[name] = value if is_read else kind.inflate(value, node)
    return SimpleNamespace(**values)


def _from_ms(milliseconds: int) -> datetime | None:
    if milliseconds == NEVER_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
