"""Calls of an AI under its contract: what it recalls, what it records, and why."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.governance.paths import keeper
from api.governance.schemas import (
    CallQuery,
    GovernedRecallAnswer,
    GovernedRecallBody,
    GovernedRecordBody,
    ImposedAnswer,
    ImposedBody,
    RecordAnswer,
    WholeCallAnswer,
    call_view,
)
from api.idempotency import IDEMPOTENCY_HEADER, idempotency_key
from api.json_blueprint import JsonBlueprint
from graphmem.governance.call_form import call_request
from graphmem.governance.events import item_view
from graphmem.governance.imposed import Imposing
from graphmem.governance.keeper import CallView
from graphmem.model.caller import Role
from graphmem.model.governance import ItemKind

blueprint = JsonBlueprint(
    "governed calls",
    __name__,
    url_prefix="/v1/governed",
    description="Memory under a contract, with a trace that says why (004)",
)


@blueprint.post("/<profile>/recall")
@requires(Role.WRITER)
@blueprint.arguments(GovernedRecallBody)
@blueprint.query(CallQuery)
@blueprint.response(200, GovernedRecallAnswer)
@blueprint.doc(parameters=[IDEMPOTENCY_HEADER])
def recall(values: dict[str, Any], query: dict[str, Any], profile: str) -> Response:
    """What an AI is to know before it answers."""
    call = _called(profile, values, recalls=True, records=False)
    context = {
        kind.value: [item for item in call.recalled if item["kind"] == kind.value]
        for kind in ItemKind
    }
    return jsonify(call_view(call, query, "recalled") | {"context": context})


@blueprint.post("/<profile>/record")
@requires(Role.WRITER)
@blueprint.arguments(GovernedRecordBody)
@blueprint.query(CallQuery)
@blueprint.response(200, RecordAnswer)
@blueprint.doc(parameters=[IDEMPOTENCY_HEADER])
def record(values: dict[str, Any], query: dict[str, Any], profile: str) -> Response:
    """Keep what was said and done, as far as the contract lets it be kept."""
    call = _called(profile, values, recalls=False, records=True)
    return jsonify(call_view(call, query, "written"))


@blueprint.post("/<profile>/calls")
@requires(Role.WRITER)
@blueprint.arguments(GovernedRecordBody)
@blueprint.query(CallQuery)
@blueprint.response(200, WholeCallAnswer)
@blueprint.doc(parameters=[IDEMPOTENCY_HEADER])
def whole_call(values: dict[str, Any], query: dict[str, Any], profile: str) -> Response:
    """Recall, then record, at once."""
    call = _called(profile, values, recalls=True, records=True)
    return jsonify(call_view(call, query, "recalled", "written"))


@blueprint.post("/<profile>/imposed")
@requires(Role.ADMIN)
@blueprint.arguments(ImposedBody)
@blueprint.response(201, ImposedAnswer)
def impose(values: dict[str, Any], profile: str) -> Response:
    """Let an item of the highest authority in: a snippet, or with a key a fact."""
    imposing = Imposing(space=values["space"], text=values["text"], key=values.get("key"))
    item, events, trace_id = keeper().impose(profile, imposing, caller=g.caller)
    response = jsonify(item=item_view(item), events=list(events), trace_id=trace_id)
    response.status_code = HTTPStatus.CREATED
    return response


def _called(profile: str, values: dict[str, Any], **how: bool) -> CallView:
    request = call_request(g.caller.tenant, profile, values, **how)
    return keeper().call(request, caller=g.caller, retry=idempotency_key())
