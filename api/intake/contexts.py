"""Contexts: what a prompt or an investigation is given for a message (002)."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields, validate

from api.auth import requires
from api.errors import error_detail
from api.fields import Text
from api.intake.bulletins import BulletinAnswer, bulletin_view
from api.json_blueprint import JsonBlueprint
from api.recall.schemas import Citation, citation_view
from api.service import service
from api.space_fields import OrchestratorRequest
from graphmem.intake.context import Context, Purpose
from graphmem.intake.room import Intake
from graphmem.intake.write_backs import TEXT_MAX_CHARS
from graphmem.model.caller import Role
from graphmem.recall.bulletin_sections import EVIDENCE_MAX, LIMIT_CHARS
from graphmem.text.normalise import shorten

blueprint = JsonBlueprint(
    "contexts", __name__, url_prefix="/v1", description="What prompts are given"
)


_EVIDENCE_CHARS = LIMIT_CHARS // EVIDENCE_MAX


class ContextBody(OrchestratorRequest):
    """A message, and what its context is for."""

    purpose = fields.Enum(Purpose, by_value=True, required=True)
    message_id = Text(required=True, validate=validate.Length(1, 256))
    conversation_id = Text(
        load_default=None,
        validate=validate.Length(1, 256),
        metadata={"description": "With it the message is written down first"},
    )
    content = Text(
        required=True,
        validate=[
            validate.Length(1, TEXT_MAX_CHARS),
            validate.Regexp(r"(?s).*\S", error="Must not be blank."),
        ],
        metadata={"example": "When do we ship?"},
    )


class MessageAnswer(Schema):
    """What became of the message: an outcome as of a write, and an error where it was refused."""

    outcome = fields.String()
    uid = fields.String(allow_none=True)
    error = fields.Dict()


class EvidenceAnswer(Schema):
    """A memory that an investigation is given, with where it came from."""

    uid = fields.String()
    type = fields.String()
    summary = fields.String()
    content = fields.String(
        metadata={"description": f"Its beginning, {_EVIDENCE_CHARS} characters at most"}
    )
    score = fields.Float()
    citation = fields.Nested(Citation)


class FailureAnswer(Schema):
    """Why an investigation got nothing."""

    kind = fields.String(metadata={"enum": ["recall", "repository"]})
    code = fields.String()
    message = fields.String()


class ContextAnswer(BulletinAnswer):
    """A bulletin, or the evidence for an investigation, and what became of the message."""

    written = fields.Nested(MessageAnswer, allow_none=True)
    evidence = fields.List(fields.Nested(EvidenceAnswer))
    failure = fields.Nested(FailureAnswer, allow_none=True)


@blueprint.post("/context")
@requires(Role.WRITER, while_away=True)
@blueprint.arguments(ContextBody)
@blueprint.response(200, ContextAnswer)
def make(values: dict[str, Any]) -> Response:
    """What a prompt is given for a message: it is written down first, then recalled for.

    `selector` and `step` get the bulletin, of at most 4,000 characters and 32 memories;
    `diagnostics` gets at most 8 memories found by words alone, with their provenance. A store that
    is away leaves the context empty, never fails.
    """
    space = values.pop("space")
    return jsonify(_view(service().of(Intake).contexts.make(space, caller=g.caller, **values)))


def _view(context: Context) -> dict[str, Any]:
    answer = bulletin_view(context.snapshot) | {"written": _written(context)}
    answer["evidence"] = [
        {
            "uid": item.memory.uid,
            "type": item.memory.type.value,
            "summary": item.memory.summary,
            "content": shorten(item.memory.content, _EVIDENCE_CHARS),
            "score": item.score,
            "citation": citation_view(item.memory),
        }
        for item in context.evidence
    ]
    detail = error_detail(context.failure) if context.failure else None
    answer["failure"] = (
        {"kind": context.failure_kind, "code": detail["code"], "message": detail["message"]}
        if detail
        else None
    )
    return answer


def _written(context: Context) -> dict[str, Any] | None:
    if context.write_error:
        return {"outcome": "refused", "uid": None, "error": error_detail(context.write_error)}
    if context.written is None:
        return None
    memory = context.written.memory
    return {"outcome": context.written.outcome.value, "uid": memory.uid if memory else None}
