"""Contexts: what an agent should know before it answers."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from api.auth import requires
from api.fields import Id, Text, WithoutNulls
from api.json_blueprint import JsonBlueprint
from api.lifecycle.paths import keeper
from api.lifecycle.session_fields import SESSION, visible_space_of
from api.service import service
from api.space_fields import SpaceField
from graphmem.conversations.sayings import id_problem
from graphmem.lifecycle.context import Section
from graphmem.lifecycle.context_keeper import Told
from graphmem.model.caller import Role
from graphmem.model.policy import RecallPolicy
from graphmem.recall.planner import Plan

blueprint = JsonBlueprint(
    "lifecycle contexts", __name__, url_prefix="/v1/lifecycle", description="Before a model answers"
)
_LIMITS = RecallPolicy()
_MISSING = "Missing data for required field."


class SessionContextBody(WithoutNulls):
    """What an agent is asked, and where."""

    space = SpaceField(
        metadata={
            "example": "user:ada",
            "description": "May be left out where the session tells it",
        }
    )
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

    @validates_schema(skip_on_field_errors=False)
    def _session(self, values: dict[str, Any], **_: object) -> None:
        session = values.get("session")
        if session is not None and (problem := id_problem(session)):
            raise ValidationError({"session": [problem]})

    @validates_schema
    def _space(self, values: dict[str, Any], **_: object) -> None:
        is_told = service().policy.lifecycle.namespaces_enabled and "session" in values
        if "space" not in values and not is_told:
            raise ValidationError({"space": [_MISSING]})

    @post_load
    def _with_space(self, values: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"space": values.get("space") or visible_space_of(values["session"]), **values}


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


def _view(told: Told) -> dict[str, Any]:
    return {
        "text": told.context.text,
        "plan": told.plan.value,
        "sections": [_section_view(each) for each in told.context.sections],
        "memories": list(told.context.memories),
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
