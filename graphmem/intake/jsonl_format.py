"""JSONL format: the entities, memories and edges of a space as JSON lines, and back. Pure.

One line holds ``{"entity": {…}}``, ``{"memory": {…}}`` or ``{"edge": {…}}``, in this order. What a
line says of a memory is what ``GET /v1/memories/{uid}`` says, without what the service counts and
makes itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from graphmem.errors import InvalidInput
from graphmem.gateway.declaring import Declaration, EntityRequest
from graphmem.gateway.edges import EdgeRequest
from graphmem.messages import flat_messages
from graphmem.model.edge import Edge, EdgeType, is_made_edge_uid
from graphmem.model.entity import Entity, EntityRef, entity_ref
from graphmem.model.memory import Authority, Memory, MemoryType, Status
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space
from graphmem.model.writing import Dedupe, WriteRequest
from graphmem.text.times import iso

_PLAIN = (
    *("uid", "content", "summary", "actor", "context", "importance", "confidence"),
    *("logical_key", "pinned", "native", "kept_by"),
)
_WORDS = ("type", "authority", "status")
_DIGEST_MAX_CHARS = 80
_WORD_MAX_CHARS = 1_000
# of a line: how it came about, which is not what it says
_NOT_GIVEN = frozenset("created_at updated_at sources status_reason status_at has_turns".split())
_TIMES = ("occurred_at", "valid_from", "valid_until", "expires_at", "created_at", "updated_at")


def memory_values(memory: Memory) -> dict[str, Any]:
    """What lines and answers say of a memory alike."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in _PLAIN}
    values |= {name: getattr(memory, name).value for name in _WORDS}
    values |= {name: iso(getattr(memory, name)) for name in _TIMES}
    return values | {
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "entities": [{"key": ref.key, "label": ref.label} for ref in memory.entities],
        "source": _plain_source(memory.source),
        "sources": [source_values(source) for source in memory.sources],
        "turns": list(memory.turns),
    }


def source_values(source: Source) -> dict[str, Any]:
    """What lines and answers say of one of several sources."""
    return _plain_source(source) | {"at": iso(source.at)}


def _plain_source(source: Source) -> dict[str, Any]:
    names = (name for name in source.__slots__ if name not in {"at", "digest"})
    return {name: getattr(source, name) for name in names}


def exported_memory(memory: Memory, sources: Iterable[Source]) -> dict[str, Any]:
    """A memory as its line says it, with all its sources and the digests of what they said.

    A context that the service built is left to be built anew.
    """
    context = None if memory.context_built else memory.context
    said = [source_values(each) | {"digest": each.digest} for each in sources]
    return memory_values(memory) | {
        "context": context,
        "claims_content": memory.claims_content,
        "sources": said,
        "status_reason": memory.status_reason,
        "status_at": iso(memory.status_at),
        "turns": sorted(memory.turns),
    }


def exported_entity(entity: Entity) -> dict[str, Any]:
    """A declared entity as its line says it."""
    return {
        "key": entity.key,
        "label": entity.label,
        "aliases": list(entity.aliases),
        "description": entity.description,
        "attributes": dict(entity.attributes),
        "created_at": iso(entity.created_at),
        "updated_at": iso(entity.updated_at),
    }


def exported_edge(edge: Edge) -> dict[str, Any]:
    """An edge as its line says it."""
    return {
        "uid": edge.uid,
        "from": edge.from_uid,
        "to": edge.to_uid,
        "type": edge.type.value,
        "weight": edge.weight,
        "reason": edge.reason,
        "link_type": edge.link_type,
        "created_at": iso(edge.created_at),
    }


class Moment(fields.AwareDateTime):
    """A time with a zone, in UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> datetime:  # noqa: ANN401
        moment: datetime = super()._deserialize(value, attr, data, **options)
        try:
            return moment.astimezone(UTC)
        except OverflowError as error:
            message = "Must lie in the years 1 to 9999."
            raise ValidationError(message) from error


class Line(Schema):
    """One kind of line: what it does not know is refused."""

    class Meta:
        """How marshmallow reads it."""

        unknown = RAISE


class _SourceLine(Line):
    type = fields.Enum(SourceType, by_value=True)
    path = fields.String(allow_none=True)
    conversation_id = fields.String(allow_none=True)
    workflow_run_id = fields.String(allow_none=True)
    step_id = fields.String(allow_none=True)
    captured_by = fields.Enum(CapturedBy, by_value=True)
    key = fields.String(allow_none=True)


class _SaidLine(_SourceLine):
    at = Moment(allow_none=True)
    digest = fields.String(allow_none=True, validate=validate.Length(max=_DIGEST_MAX_CHARS))


class _EntityLine(Line):
    key = fields.String(required=True)
    label = fields.String(allow_none=True, load_default=None)


class _MemoryLine(Line):
    uid = fields.String(required=True)
    content = fields.String(required=True)
    summary = fields.String()
    actor = fields.String(allow_none=True)
    context = fields.String(allow_none=True)
    logical_key = fields.String(allow_none=True)
    type = fields.Enum(MemoryType, by_value=True)
    importance = fields.Integer(strict=True)
    confidence = fields.Float()
    status = fields.Enum(Status, by_value=True)
    authority = fields.Enum(Authority, by_value=True)
    pinned = fields.Boolean()
    claims_content = fields.Boolean()
    native = fields.Dict(keys=fields.String(), allow_none=True)
    kept_by = fields.String(allow_none=True)
    tags = fields.List(fields.String())
    metadata = fields.Dict(keys=fields.String())
    entities = fields.List(fields.Nested(_EntityLine))
    source = fields.Nested(_SourceLine)
    sources = fields.List(fields.Nested(_SaidLine))
    occurred_at = Moment(allow_none=True)
    valid_from = Moment(allow_none=True)
    valid_until = Moment(allow_none=True)
    expires_at = Moment(allow_none=True)
    created_at = Moment(allow_none=True)
    updated_at = Moment(allow_none=True)
    status_reason = fields.String(allow_none=True, validate=validate.Length(1, _WORD_MAX_CHARS))
    status_at = Moment(allow_none=True)
    turns = fields.List(fields.String())


class _DeclaredLine(Line):
    key = fields.String(required=True)
    label = fields.String(required=True)
    aliases = fields.List(fields.String(), load_default=list)
    description = fields.String(allow_none=True, load_default=None)
    attributes = fields.Dict(keys=fields.String(), load_default=dict)
    created_at = Moment(allow_none=True, load_default=None)
    updated_at = Moment(allow_none=True, load_default=None)


class _EdgeLine(Line):
    uid = fields.String()
    from_uid = fields.String(required=True, data_key="from")
    to_uid = fields.String(required=True, data_key="to")
    type = fields.Enum(EdgeType, by_value=True, required=True)
    weight = fields.Float()
    reason = fields.String(allow_none=True)
    link_type = fields.String(allow_none=True)
    created_at = Moment(allow_none=True)


def memory_request(value: Any, space: Space) -> WriteRequest:  # noqa: ANN401 - any JSON
    """What a line asks to be written into a space; its uid says which memory it is.

    Raises:
        InvalidInput: it is not in that form.
    """
    return _request(checked(_MemoryLine(), "memory", value), space)


def edge_request(value: Any, space: Space) -> EdgeRequest:  # noqa: ANN401 - any JSON
    """What a line asks to be drawn in a space.

    Raises:
        InvalidInput: it is not in that form.
    """
    values = checked(_EdgeLine(), "edge", value)
    if is_made_edge_uid(values.get("uid", "")):
        del values["uid"]  # of the space that it was exported from
    return EdgeRequest(space=space, **values)


def declared_entity(value: Any) -> Declaration:  # noqa: ANN401 - any JSON
    """Which entity a line declares, and what it says of it.

    Raises:
        InvalidInput: it is not in that form.
    """
    values = checked(_DeclaredLine(), "entity", value)
    key, label = values.pop("key"), values.pop("label")
    try:
        ref = entity_ref(key)
    except ValueError as error:
        raise InvalidInput({"entity.key": [str(error)]}) from error
    if ref.key != key:
        raise InvalidInput({"entity.key": [f"Must be a key, such as {ref.key}."]})
    given = frozenset({"name", "aliases", "description", "attributes"})
    return Declaration(ref=ref, request=EntityRequest(name=label, **values, given=given))


def checked(schema: Schema, kind: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """The values of a line.

    Raises:
        InvalidInput: it is not in that form.
    """
    try:
        loaded: dict[str, Any] = schema.load(value)
    except ValidationError as error:
        raise InvalidInput(flat_messages({kind: error.messages_dict})) from error
    return loaded


def _request(loaded: Mapping[str, Any], space: Space) -> WriteRequest:
    values = {name: value for name, value in loaded.items() if value is not None}
    values |= _sources_of(values)
    if "entities" in values:
        values["entities"] = tuple(EntityRef(**ref) for ref in values["entities"])
    if "tags" in values:
        values["tags"] = tuple(values["tags"])
    values |= _said_to_be_none(loaded)
    values["has_turns"] = values.pop("turns", None) is not None  # lines of their own tell of them
    values |= {"space": space.name, "dedupe": Dedupe.NONE}
    return WriteRequest(**values, given=frozenset(values) - _NOT_GIVEN)


def _said_to_be_none(loaded: Mapping[str, Any]) -> dict[str, Any]:
    """What a line says not to be there, where else there would be something by default."""
    nothing = {"status_reason": "", "expires_at": None}
    return {name: none for name, none in nothing.items() if name in loaded and loaded[name] is None}


def _sources_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The source of a line, with the digest of what it said, and the further ones."""
    if "source" not in values:
        return {"sources": ()}
    first = Source(**values["source"])
    said = {
        source.name: source for source in (Source(**each) for each in values.get("sources", ()))
    }
    known = said.pop(first.name, first)
    return {"source": replace(first, digest=known.digest), "sources": tuple(said.values())}
