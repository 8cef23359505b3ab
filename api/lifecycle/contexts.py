"""Contexts: what an agent should know before it answers."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields, validate

from api.auth import requires
from api.fields import Id, Text
from api.json_blueprint import JsonBlueprint
from api.lifecycle.paths import keeper
from api.lifecycle.session_fields import SESSION, SessionFields
from graphmem.lifecycle.context import Section
from graphmem.lifecycle.context_keeper import ToldContext
from graphmem.model.caller import Role
from graphmem.model.policy import RecallPolicy
from graphmem.recall.planner import Plan

blueprint = JsonBlueprint(
    "lifecycle contexts", __name__, url_prefix="/v1/lifecycle", description="Before a model answers"
)
_LIMITS = RecallPolicy()


class SessionContextBody(SessionFields):
    """What an agent is asked, and where."""

    session = Id(metadata=SESSION)
    query = Text(
        required=True,
        validate=validate.Length(0, _LIMITS.query_max_chars),
        metadata={"example": "What does Ada drink?"},
    )
    max_tokens = fields.Integer(
        strict=True,
        validate=validate.Range(50, 32_000),
        metadata={"description": "Of four characters; else `lifecycle.max_memory_tokens`"},
    )


class ContextSection(Schema):
    """A part of a context."""

    name = fields.String()
    text = fields.String()
    uids = fields.List(fields.String(), metadata={"description": "The memories it rests on"})
    cut = fields.Integer(metadata={"description": "Lines that there was no room for"})


class SessionContextAnswer(Schema):
    """What an agent should know before it answers."""

    text = fields.String()
    plan = fields.Enum(Plan, by_value=True)
    sections = fields.List(fields.Nested(ContextSection))
    memories = fields.List(fields.String())
    tokens = fields.Integer()
    mode = fields.String()
    degraded = fields.List(fields.String())
    trace_id = fields.String()


@blueprint.post("/context")
@requires(Role.READER)
@blueprint.arguments(SessionContextBody)
@blueprint.response(200, SessionContextAnswer)
def context(values: dict[str, Any]) -> Response:
    """Tell what an agent should know before it answers, within a budget."""
    told = keeper().contexts.of(
        values["space"],
        values.get("session"),
        values["query"],
        max_tokens=values.get("max_tokens"),
        caller=g.caller,
    )
    return jsonify(_view(told))


def _view(told: ToldContext) -> dict[str, Any]:
    return {
        "text": told.context.text,
        "plan": told.plan.value,
        "sections": [_section_view(each) for each in told.context.sections],
        "memories": list(told.context.uids),
        "tokens": told.context.tokens,
        "mode": told.mode,
        "degraded": list(told.degraded),
        "trace_id": told.trace_id,
    }


def _section_view(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "text": section.text,
        "uids": list(section.uids),
        "cut": section.cut,
    }
