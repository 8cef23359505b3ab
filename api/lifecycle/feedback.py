"""Feedback: whether a memory that came back from a recall was useful."""

from dataclasses import asdict
from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.auth import requires
from api.fields import Flag, Id, Text, WithoutNulls
from api.json_blueprint import JsonBlueprint
from api.lifecycle.paths import keeper
from api.space_fields import SpaceField
from graphmem.lifecycle.feedback import Opinion
from graphmem.model.caller import Role
from graphmem.model.feedback import NOTE_MAX_CHARS

blueprint = JsonBlueprint(
    "feedback", __name__, url_prefix="/v1", description="Whether what came back was useful"
)
_NAME_ONE = "Name a recall by its trace_id, or the last one of a session by space and session."


class FeedbackBody(WithoutNulls):
    """What is said of a memory that came back.

    The recall is that of a trace, or the last one of a session.
    """

    trace_id = Id(metadata={"description": "The trace of the recall"})
    space = SpaceField(
        metadata={
            "example": "user:ada",
            "description": "Of the session; with trace_id that of the memory",
        }
    )
    session = Id(
        metadata={"example": "chat-7", "description": "The session whose last recall is meant"}
    )
    uid = Text(required=True, metadata={"description": "The memory"})
    useful = Flag(required=True)
    note = Text(
        validate=validate.Length(1, NOTE_MAX_CHARS),
        metadata={"description": "Why; the newest 20 of a memory are kept"},
    )

    @validates_schema
    def _recall(self, values: dict[str, Any], **_: object) -> None:
        if ("trace_id" in values) == ("session" in values):
            raise ValidationError({"trace_id": [_NAME_ONE]})
        if "session" in values and "space" not in values:
            raise ValidationError({"space": [_NAME_ONE]})


class FeedbackAnswer(Schema):
    """What the memory counts now."""

    feedback_up = fields.Integer()
    feedback_down = fields.Integer()
    negative_hits = fields.Integer()


@blueprint.post("/feedback")
@requires(Role.WRITER)
@blueprint.arguments(FeedbackBody)
@blueprint.response(200, FeedbackAnswer)
def feedback(values: dict[str, Any]) -> Response:
    """Say whether a memory that came back from a recall was useful; the ranker lifecycle counts it.

    What is said again of the same recall and memory replaces what was said before.
    """
    counts = keeper().feedback.give(Opinion(**values), caller=g.caller)
    return jsonify(asdict(counts))
