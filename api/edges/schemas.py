"""Edges in requests and answers."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.fields import MISSING, Number, RequestSchema, Text, invalid_as
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField, SpacesField
from graphmem.bounded_fields import Several
from graphmem.gateway.validation import UID_FORM, is_uid
from graphmem.intake.jsonl_format import exported_edge
from graphmem.model.edge import Edge, EdgeType, LineageType, edge_type


class EdgeTypeField(fields.Field[EdgeType]):
    """A type of edge: RELATED_TO, or RelatedTo as 002 writes it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> EdgeType:  # noqa: ANN401, ARG002
        if not isinstance(value, str):
            message = "Must be a text."
            raise ValidationError(message)
        try:
            return edge_type(value)
        except ValueError as error:
            message = f"{error} (InvalidEdgeType)"
            raise ValidationError(message) from error


def check_uid(uid: str) -> None:
    """Refuse what cannot be a uid."""
    if not is_uid(uid):
        raise ValidationError(UID_FORM)


class EdgeBody(RequestSchema):
    """An edge to be drawn, or revised where one of the same ends and type is there."""

    space = SpaceField(required=True, error_messages=MISSING, metadata={"example": "user:ada"})
    from_uid = fields.String(
        required=True, data_key="from", validate=check_uid, error_messages=MISSING
    )
    to_uid = fields.String(required=True, data_key="to", validate=check_uid, error_messages=MISSING)
    type = EdgeTypeField(
        required=True,
        error_messages=MISSING,
        metadata={"enum": list(EdgeType), "example": "RELATED_TO"},
    )
    weight = Number(
        error_messages=invalid_as("a number", "InvalidEdgeWeight"),
        load_default=1.0,
        validate=validate.Range(0, 1, error="Must be a number from 0 to 1 (EdgeWeightOutOfRange)."),
    )
    reason = Text(load_default=None, validate=validate.Length(1, 500))
    link_type = Text(load_default=None, validate=validate.Length(1, 64))
    uid = fields.String(load_default=None, validate=check_uid)


class EdgeListQuery(PageQuery):
    """Which edges a list shows."""

    space = SpacesField()
    type = Several(EdgeTypeField(metadata={"enum": list(EdgeType)}), most=16, load_default=list)
    memory = fields.String(load_default=None, validate=check_uid)


class NeighbourQuery(RequestSchema):
    """How far around a memory to look."""

    space = SpaceField(load_default=None)
    depth = fields.Integer(load_default=1, validate=validate.Range(1, 3))
    edge_type = Several(
        EdgeTypeField(metadata={"enum": list(EdgeType)}), most=16, load_default=list
    )
    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))


class EdgeAnswer(Schema):
    """An edge between two memories."""

    uid = fields.String()
    from_ = fields.String(data_key="from")
    to = fields.String()
    type = fields.String()
    weight = fields.Float()
    reason = fields.String(allow_none=True)
    link_type = fields.String(allow_none=True)
    created_at = fields.DateTime()


class EdgeOutcome(Schema):
    """What became of an edge."""

    outcome = fields.String(metadata={"enum": ["created", "revised"]})
    edge = fields.Nested(EdgeAnswer)
    trace_id = fields.String()


EdgeList = page_of(EdgeAnswer, "EdgeList", "One page of edges, by the memory that they start from.")


EVERY_TYPE: tuple[EdgeType | LineageType, ...] = (*EdgeType, *LineageType)


def edge_view(edge: Edge) -> dict[str, Any]:
    """An edge as every answer shows it."""
    return exported_edge(edge)
