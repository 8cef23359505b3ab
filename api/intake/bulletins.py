"""Bulletins: what an orchestrator should know before it answers a message (002)."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields, validate

from api.auth import requires
from api.fields import RequestSchema, Text
from api.json_blueprint import JsonBlueprint
from api.service import service
from api.space_fields import OrchestratorField, OrchestratorRequest
from graphmem.errors import NotFound
from graphmem.intake.room import Intake
from graphmem.model.bulletin import Snapshot
from graphmem.model.caller import Role
from graphmem.recall.bulletin_sections import LIMIT_CHARS
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "bulletins", __name__, url_prefix="/v1/bulletins", description="Bulletins of orchestrators"
)

_LIMIT_MAX = 100_000


class BulletinRequest(OrchestratorRequest):
    """For which message, and what it asks."""

    message_id = Text(required=True, validate=validate.Length(1, 512))
    query = Text(required=True, validate=validate.Length(1, 8_000))
    limit_chars = fields.Integer(load_default=LIMIT_CHARS, validate=validate.Range(0, _LIMIT_MAX))


class BulletinQuery(RequestSchema):
    """In which space."""

    space = OrchestratorField(required=True)


class SectionAnswer(Schema):
    """A section and its lines."""

    name = fields.String()
    lines = fields.List(fields.String())


class BulletinAnswer(Schema):
    """A bulletin: its text, its sections, and the memories that it cites."""

    rendered = fields.String()
    sections = fields.List(fields.Nested(SectionAnswer))
    citations = fields.List(fields.String())
    mode = fields.String()
    fallback = fields.String(
        allow_none=True, metadata={"enum": ["previous_snapshot", "empty_bulletin", None]}
    )
    generated_at = fields.DateTime()


@blueprint.post("")
@requires(Role.READER, while_away=True)
@blueprint.arguments(BulletinRequest)
@blueprint.response(200, BulletinAnswer)
def make(values: dict[str, Any]) -> Response:
    """Make the bulletin for a message.

    When its recall fails, the newest bulletin or an empty one is the answer.
    """
    made = (
        service()
        .of(Intake)
        .bulletin_maker.make(
            values["space"],
            message_id=values["message_id"],
            query=values["query"],
            caller=g.caller,
            limit_chars=values["limit_chars"],
        )
    )
    return jsonify(bulletin_view(made))


@blueprint.get("/<message_id>")
@requires(Role.READER)
@blueprint.query(BulletinQuery)
@blueprint.response(200, BulletinAnswer)
def kept(query: dict[str, Any], message_id: str) -> Response:
    """The bulletin that was made for a message, without memories that were retracted since."""
    found = service().of(Intake).bulletin_maker.kept(query["space"], message_id, caller=g.caller)
    if found is None:
        raise NotFound
    return jsonify(bulletin_view(found))


def bulletin_view(snapshot: Snapshot) -> dict[str, Any]:
    """A bulletin as every answer shows it."""
    return {
        "rendered": snapshot.bulletin.rendered,
        "sections": [
            {"name": name, "lines": [line.text for line in lines]}
            for name, lines in snapshot.bulletin.sections
        ],
        "citations": list(snapshot.bulletin.citations),
        "mode": snapshot.mode,
        "fallback": snapshot.fallback,
        "generated_at": iso(snapshot.generated_at),
    }
