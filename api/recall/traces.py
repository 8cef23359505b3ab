"""Traces: what a write, recall or job did, and why a memory came back or not."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields, validate

from api.auth import requires
from api.fields import RequestSchema
from api.json_blueprint import JsonBlueprint
from api.lookup import found_memory
from api.memories.schemas import SpaceQuery
from api.service import service
from graphmem.errors import InvalidInput
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.model.caller import Role
from graphmem.model.trace import TraceKind
from graphmem.recall.reasons import Reason
from graphmem.recall.trace_view import trace_view
from graphmem.text.plain_view import plain_view

blueprint = JsonBlueprint(
    "traces", __name__, url_prefix="/v1/traces", description="Why something came back or not"
)


class TraceAnswer(Schema):
    """What one write, recall or job did."""

    trace_id = fields.String()
    kind = fields.String(
        metadata={"description": "write, recall, status, edge, entity, or the name of a job"}
    )
    created_at = fields.DateTime()
    spaces = fields.List(fields.String())
    key_id = fields.String(
        metadata={"description": "The API key that asked for it; a job gives its name"}
    )
    query = fields.String(
        allow_none=True,
        metadata={"description": "At most 200 characters, hidden if it may be secret"},
    )
    request = fields.Dict()
    events = fields.List(fields.Dict())


class WhyAnswer(Schema):
    """Why a memory came back from a recall, or why it did not."""

    returned = fields.Boolean()
    reason = fields.String(metadata={"enum": list(Reason)})
    detail = fields.Dict()


class TraceQuery(RequestSchema):
    """How a trace is shown."""

    view = fields.String(load_default="json", validate=validate.OneOf(["json", "plain"]))


@blueprint.get("/<trace_id>")
@requires(Role.READER)
@blueprint.query(TraceQuery)
@blueprint.response(200, TraceAnswer)
def trace(query: dict[str, Any], trace_id: str) -> Response:
    """What a write, recall or job did; ``view=plain`` shows it as text, one value a line.

    The trace of a recall is there half a second later at the latest.
    """
    found = service().explainer.trace_of(g.caller, trace_id)
    shown = trace_view(found, service().of(GovernanceKeeper).events_of(found))
    if query["view"] == "plain":
        return Response(plain_view(shown), content_type="text/plain; charset=utf-8")
    return jsonify(shown)


@blueprint.get("/<trace_id>/why/<uid>")
@requires(Role.READER)
@blueprint.query(SpaceQuery)
@blueprint.response(200, WhyAnswer)
def why(query: dict[str, Any], trace_id: str, uid: str) -> Response:
    """Why a memory that the key may read came back from a recall, or why it did not."""
    found = service().explainer.trace_of(g.caller, trace_id)
    if found.kind != TraceKind.RECALL:
        raise InvalidInput({"trace_id": ["Must be the trace of a recall."]})
    answer = service().explainer.why(found, found_memory(uid, query["space"]))
    return jsonify(returned=answer.returned, reason=answer.reason.value, detail=dict(answer.detail))
