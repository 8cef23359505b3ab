"""Memories in requests and answers."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.fields import (
    MISSING,
    NOT_EMPTY,
    EntityField,
    Flag,
    Id,
    Line,
    Number,
    RequestSchema,
    Text,
    UtcDateTime,
    VectorField,
    WithoutNulls,
    invalid_as,
    unknown_as,
)
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField, SpacesField
from graphmem.bounded_fields import Several, Table
from graphmem.gateway.validation import problems
from graphmem.intake.jsonl_format import memory_values
from graphmem.model.memory import Authority, Memory, MemoryType, Status, shown_status
from graphmem.model.policy import WritePolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.writing import Dedupe, OnSameKey, Outcome, WriteRequest
from graphmem.recall.spaces import has_orchestrator
from graphmem.text.instructions import is_instruction_like
from graphmem.text.times import iso

_LIMITS = WritePolicy()
INSTRUCTION_LIKE = "instruction_like"
_UIDS = {"description": "uids of memories in the same space"}


class SourceSchema(RequestSchema):
    """Where a memory came from."""

    type = fields.Enum(
        SourceType,
        by_value=True,
        load_default=SourceType.MANUAL,
        error_messages=unknown_as("InvalidSourceType"),
    )
    path = Text(allow_none=True)
    conversation_id = Text(allow_none=True)
    workflow_run_id = Text(allow_none=True)
    step_id = Text(allow_none=True)
    captured_by = fields.Enum(
        CapturedBy,
        by_value=True,
        load_default=CapturedBy.USER,
        error_messages=unknown_as("InvalidCapturedBy"),
    )
    key = Text(allow_none=True, metadata={"description": "The idempotency key of the source"})


class _TypedRequest(RequestSchema):
    """What adding a memory and changing one say in the same form."""

    type = fields.Enum(MemoryType, by_value=True, error_messages=unknown_as("InvalidNodeType"))
    importance = fields.Integer(
        strict=True,
        metadata={"minimum": 0, "maximum": 100},
        error_messages=invalid_as("an integer", "InvalidImportance"),
    )
    confidence = Number(
        metadata={"minimum": 0, "maximum": 1},
        error_messages=invalid_as("a number", "InvalidConfidence"),
    )


class MemoryRequest(_TypedRequest, WithoutNulls):
    """A memory to be added."""

    space = fields.String(required=True, error_messages=MISSING, metadata={"example": "user:ada"})
    content = fields.String(
        required=True, error_messages=MISSING, metadata={"example": "Ada prefers tea."}
    )
    uid = fields.String()
    dedupe = fields.Enum(Dedupe, by_value=True)
    summary = fields.String()
    actor = fields.String()
    context = fields.String()
    entities = Several(EntityField(metadata={"example": "person:ada"}), most=_LIMITS.entities_max)
    logical_key = fields.String()
    on_same_key = fields.Enum(OnSameKey, by_value=True)
    updates = Several(fields.String(), most=_LIMITS.references_max, metadata=_UIDS)
    contradicts = Several(fields.String(), most=_LIMITS.references_max, metadata=_UIDS)
    related_to = Several(fields.String(), most=_LIMITS.references_max, metadata=_UIDS)
    caused_by = Several(fields.String(), most=_LIMITS.references_max, metadata=_UIDS)
    part_of = Several(fields.String(), most=_LIMITS.references_max, metadata=_UIDS)
    after = fields.String(metadata={"description": "uid of the turn that this one follows"})
    source = fields.Nested(SourceSchema)
    authority = fields.Enum(Authority, by_value=True)
    occurred_at = UtcDateTime()
    valid_from = UtcDateTime()
    valid_until = UtcDateTime()
    expires_at = UtcDateTime()
    pinned = Flag()
    tags = Several(fields.String(), most=_LIMITS.tags_max)
    metadata = Table(keys=fields.String())
    embedding = VectorField()

    @validates_schema(skip_on_field_errors=False)
    def _rules(self, values: dict[str, Any], **_: object) -> None:
        """The gateway's own rules, so that all problems are reported at once."""
        known = dict(values)
        if isinstance(source := known.pop("source", None), dict):
            known["source"] = Source(**source)
        if found := problems(known, _LIMITS):
            raise ValidationError({path: list(texts) for path, texts in found.items()})


def write_request(values: dict[str, Any]) -> WriteRequest:
    """The gateway's request of validated values."""
    sequences = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    source = {"source": Source(**values["source"])} if "source" in values else {}
    return WriteRequest(**(values | sequences | source), given=frozenset(values))


class PatchRequest(_TypedRequest):
    """The fields of a memory that are to change; null empties one that may be empty."""

    content = fields.String()
    summary = fields.String(allow_none=True)
    entities = Several(
        EntityField(metadata={"example": "person:ada"}),
        most=_LIMITS.entities_max,
        allow_none=True,
    )
    occurred_at = UtcDateTime(allow_none=True)
    valid_from = UtcDateTime(allow_none=True)
    valid_until = UtcDateTime(allow_none=True)
    expires_at = UtcDateTime(allow_none=True)
    pinned = Flag()
    tags = Several(fields.String(), most=_LIMITS.tags_max, allow_none=True)
    metadata = Table(keys=fields.String(), allow_none=True)

    @validates_schema(skip_on_field_errors=False)
    def _rules(self, values: dict[str, Any], **_: object) -> None:
        """The gateway's own rules, so that all problems are reported at once."""
        if found := problems(values, _LIMITS):
            raise ValidationError({path: list(texts) for path, texts in found.items()})

    @validates_schema
    def _not_empty(self, values: dict[str, Any], **_: object) -> None:
        if not values:
            message = "Name at least one field to change."
            raise ValidationError(message)


_EMPTY: Mapping[str, Any] = {"entities": (), "tags": (), "metadata": {}}


def correction_request(memory: Memory, values: dict[str, Any]) -> WriteRequest:
    """The gateway's request to change the given fields of a memory."""
    changes = {
        name: _EMPTY.get(name)
        if value is None
        else tuple(value)
        if isinstance(value, list)
        else value
        for name, value in values.items()
    }
    present: dict[str, Any] = {
        "content": memory.content,
        "type": memory.type,
        "actor": memory.actor,
        "logical_key": memory.logical_key,
        "source": memory.source,
    }
    return WriteRequest(
        space=memory.space.name, uid=memory.uid, **present | changes, given=frozenset(values)
    )


class StatusRequest(RequestSchema):
    """Why a status changes."""

    reason = Text(load_default=None, validate=validate.Length(1, 500))


class BatchRequest(RequestSchema):
    """Many memories; a bad one never takes the others with it."""

    items = Several(
        fields.Raw(allow_none=True, metadata={"description": "a memory as in POST /v1/memories"}),
        most=_LIMITS.batch_max,
        required=True,
        validate=validate.Length(min=1),
    )
    atomic = Flag(load_default=False)


class ListQuery(PageQuery):
    """What a list of memories shows."""

    space = SpacesField()
    type = Several(fields.Enum(MemoryType, by_value=True), most=32, load_default=list)
    status = fields.Enum(
        Status,
        by_value=True,
        load_default=None,
        metadata={
            "description": "active by default; as of a past time also what is superseded since"
        },
    )
    as_of = UtcDateTime(load_default=None, metadata={"description": "What was true then"})
    known_at = UtcDateTime(
        load_default=None, metadata={"description": "What was recorded by then, as it was then"}
    )
    tag = Several(Line(validate=NOT_EMPTY), most=_LIMITS.tags_max, load_default=list)
    entity = Text(load_default=None, validate=NOT_EMPTY)
    conversation_id = Id(load_default=None, validate=NOT_EMPTY)
    created_after = UtcDateTime(load_default=None)
    created_before = UtcDateTime(load_default=None)

    @validates_schema
    def _typed_statuses(self, values: dict[str, Any], **_: object) -> None:
        """A typed graph has three statuses (002)."""
        if values["status"] is Status.ARCHIVED and has_orchestrator(values["space"]):
            message = "Must be one of: active, superseded, retracted (InvalidStatus)."
            raise ValidationError({"status": [message]})


class SourcesQuery(PageQuery):
    """A page of the sources of a memory."""

    space = SpaceField(load_default=None)


class SpaceQuery(RequestSchema):
    """Where to look for a memory."""

    space = SpaceField(load_default=None)


class SourceAnswer(Schema):
    """Where a memory came from."""

    type = fields.String()
    path = fields.String(allow_none=True)
    conversation_id = fields.String(allow_none=True)
    workflow_run_id = fields.String(allow_none=True)
    step_id = fields.String(allow_none=True)
    captured_by = fields.String()
    key = fields.String(allow_none=True)


class SourceListing(SourceAnswer):
    """One of the sources of a memory."""

    at = fields.DateTime(metadata={"description": "When it first said the memory"})


class EntityAnswer(Schema):
    """An entity that a memory mentions."""

    key = fields.String()
    label = fields.String(allow_none=True)


class MemoryAnswer(Schema):
    """A memory as it is stored."""

    uid = fields.String()
    space = fields.String()
    type = fields.String()
    content = fields.String()
    summary = fields.String()
    actor = fields.String(allow_none=True)
    context = fields.String(allow_none=True)
    importance = fields.Integer()
    confidence = fields.Float()
    entities = fields.List(fields.Nested(EntityAnswer))
    logical_key = fields.String(allow_none=True)
    source = fields.Nested(SourceAnswer)
    sources = fields.List(
        fields.Nested(SourceListing),
        metadata={"description": "The first source and the newest 31 further ones"},
    )
    sources_total = fields.Integer()
    turns = fields.List(
        fields.String(),
        metadata={"description": "uids of the turns that said it; the newest 32, oldest first"},
    )
    authority = fields.String()
    status = fields.String()
    status_reason = fields.String(allow_none=True)
    status_at = fields.DateTime(allow_none=True)
    pinned = fields.Boolean()
    tags = fields.List(fields.String())
    metadata = fields.Dict()
    occurred_at = fields.DateTime(allow_none=True)
    valid_from = fields.DateTime(allow_none=True)
    valid_until = fields.DateTime(allow_none=True)
    expires_at = fields.DateTime(allow_none=True)
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    mention_count = fields.Integer()
    recall_count = fields.Integer()
    last_recalled_at = fields.DateTime(allow_none=True)
    embedded = fields.Boolean(metadata={"description": "Whether its vectors are made yet"})
    version = fields.Integer(metadata={"description": "The ETag"})
    native = fields.Dict(
        allow_none=True, metadata={"description": "Values of the source system; its room sets them"}
    )
    flags = fields.List(
        fields.String(),
        metadata={"description": "instruction_like: it reads like an order to a model"},
    )
    kept_by = fields.String(
        allow_none=True, metadata={"description": "The room whose calls alone may change it"}
    )


_RETRACTED_BEFORE = {"description": "The uid of a memory that said this and was retracted"}
_NOT_TAKEN = {"description": "Fields of the request that the memory keeps as they were"}


class AddAnswer(Schema):
    """What became of an added memory."""

    outcome = fields.String(
        metadata={"enum": [each.value for each in Outcome if each is not Outcome.REFUSED]}
    )
    memory = fields.Nested(MemoryAnswer)
    not_taken = fields.List(fields.String(), metadata=_NOT_TAKEN)
    retracted_before = fields.String(metadata=_RETRACTED_BEFORE)
    trace_id = fields.String()


class UnfoldAnswer(AddAnswer):
    """What became of a folded memory, and which of its members are active again."""

    restored = fields.List(fields.String())


class BatchResult(Schema):
    """What became of one item of a batch."""

    index = fields.Integer()
    outcome = fields.String()
    uid = fields.String()
    not_taken = fields.List(fields.String(), metadata=_NOT_TAKEN)
    retracted_before = fields.String(metadata=_RETRACTED_BEFORE)
    error = fields.Dict()


class BatchAnswer(Schema):
    """What became of each item, in order, and how often."""

    results = fields.List(fields.Nested(BatchResult))
    counts = fields.Dict(keys=fields.String(), values=fields.Integer())
    trace_id = fields.String()


SourceList = page_of(SourceListing, "SourceList", "One page of sources, first to last.")
MemoryList = page_of(MemoryAnswer, "MemoryList", "One page of memories, newest first.")


_ANSWERED = tuple(MemoryAnswer().fields)


def memory_view(memory: Memory) -> dict[str, Any]:
    """A memory as every answer shows it, in the order of its schema."""
    values = memory_values(memory) | {
        "space": memory.space.name,
        "status": shown_status(memory.status, memory.space).value,
        "status_reason": memory.status_reason,
        "status_at": iso(memory.status_at),
        "sources_total": memory.sources_total,
        "mention_count": memory.mention_count,
        "recall_count": memory.recall_count,
        "last_recalled_at": iso(memory.last_recalled_at),
        "embedded": memory.embedded,
        "version": memory.version,
        "flags": [INSTRUCTION_LIKE] if is_instruction_like(memory.content, memory.summary) else [],
    }
    return {name: values[name] for name in _ANSWERED}
