"""Relations in requests and answers."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields, validate

from api.edges.schemas import check_uid
from api.fields import Line, Number, RequestSchema, Text, UtcDateTime
from api.memories.schemas import EntityAnswer
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField, SpacesField
from graphmem.gateway.relations import RelationRequest
from graphmem.model.relation import LABEL_MAX_CHARS, Direction, Relation
from graphmem.recall.relations import STEPS_MAX
from graphmem.text.times import iso

_SPACE = {"example": "user:ada"}
_SHOWN_MEMORIES = 32


class RelationBody(RequestSchema):
    """A relation to be posted."""

    space = SpaceField(required=True, metadata=_SPACE)
    from_ = Text(required=True, data_key="from", metadata={"example": "person:ada"})
    to = Text(required=True, metadata={"example": "org:acme"})
    label = Text(
        required=True,
        metadata={
            "example": "works at",
            "description": f"1 to {LABEL_MAX_CHARS} characters, one line",
        },
    )
    weight = Number(load_default=1.0, metadata={"minimum": 0, "maximum": 1})
    source_memory = fields.String(
        allow_none=True,
        load_default=None,
        validate=check_uid,
        metadata={"description": "uid of a memory of the space that says so"},
    )
    since = UtcDateTime(allow_none=True, load_default=None)
    until = UtcDateTime(allow_none=True, load_default=None)


class RelationListQuery(PageQuery):
    """Which relations to list."""

    space = SpacesField()
    entity = Text(load_default=None, validate=validate.Length(1, 512))
    label = Line(load_default="", validate=validate.Length(max=LABEL_MAX_CHARS))
    direction = fields.Enum(
        Direction,
        by_value=True,
        load_default=Direction.BOTH,
        metadata={"description": "Seen from the entity"},
    )
    depth = fields.Integer(
        load_default=1,
        validate=validate.Range(1, STEPS_MAX),
        metadata={"description": "How many relations away from the entity"},
    )
    as_of = UtcDateTime(load_default=None, metadata={"description": "What held then"})
    ended = fields.Boolean(
        load_default=False, metadata={"description": "Whether those that do not hold are shown too"}
    )


class RelationPlace(RequestSchema):
    """In which space a relation is seen."""

    space = SpaceField(required=True, metadata=_SPACE)


class RelationAnswer(Schema):
    """How one entity stands to another."""

    uid = fields.String()
    space = fields.String(metadata={"description": "The space that it lies in"})
    from_ = fields.Nested(EntityAnswer, data_key="from")
    to = fields.Nested(EntityAnswer)
    label = fields.String()
    weight = fields.Float()
    since = fields.DateTime(allow_none=True)
    until = fields.DateTime(allow_none=True)
    created_at = fields.DateTime()
    memories = fields.List(
        fields.String(),
        metadata={"description": "uids of the memories that say so, the newest 32"},
    )
    by_hand = fields.Boolean(metadata={"description": "Whether it was posted without a memory"})


class RelationOutcome(Schema):
    """A relation as it stands, and whether it is new."""

    outcome = fields.String(metadata={"enum": ["created", "revised", "unchanged"]})
    relation = fields.Nested(RelationAnswer)
    not_taken = fields.List(
        fields.String(), metadata={"description": "Fields that the relation keeps as they were"}
    )
    trace_id = fields.String(allow_none=True)


RelationList = page_of(RelationAnswer, "RelationList", "One page of relations.")


def relation_request(values: Mapping[str, Any]) -> RelationRequest:
    """What a body asks for."""
    said = {name: values[name] for name in ("space", "label", "weight", "since", "until")}
    uid = values["source_memory"]
    return RelationRequest(
        **said, start=values["from_"], end=values["to"], memories=(uid,) if uid else ()
    )


def relation_view(relation: Relation) -> dict[str, Any]:
    """A relation as every answer shows it."""
    return {
        "uid": relation.uid,
        "space": relation.space.name,
        "from": {"key": relation.start.key, "label": relation.start.label},
        "to": {"key": relation.end.key, "label": relation.end.label},
        "label": relation.label,
        "weight": relation.weight,
        "since": iso(relation.since),
        "until": iso(relation.until),
        "created_at": iso(relation.created_at),
        "memories": list(relation.memories[-_SHOWN_MEMORIES:]),
        "by_hand": relation.by_hand,
    }
