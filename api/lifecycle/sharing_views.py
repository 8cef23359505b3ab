"""Sharing: a memory is copied to the space that is shared in its tenant."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.json_blueprint import JsonBlueprint
from api.lifecycle.paths import keeper
from api.lifecycle.schemas import ShareAnswer, ShareBody
from api.lookup import found_memory, tagged
from api.memories.schemas import SpaceQuery, memory_view
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "sharing", __name__, url_prefix="/v1/memories", description="Sharing memories"
)


@blueprint.post("/<uid>/share")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.arguments(ShareBody)
@blueprint.response(201, ShareAnswer)
@blueprint.alt_response(200, schema=ShareAnswer, description="It was shared before")
def share(query: dict[str, Any], values: dict[str, Any], uid: str) -> Response:
    """Copy a memory to namespace:shared, once. The copy is retracted with it, and comes back so."""
    memory = found_memory(uid, values.get("space") or query["space"])
    done = keeper().sharing.share(memory, caller=g.caller)
    copy = done.answer.copy
    response = jsonify(memory=memory_view(copy), trace_id=done.trace_id)
    response.status_code = HTTPStatus.CREATED if done.answer.is_new else HTTPStatus.OK
    return tagged(response, copy)
