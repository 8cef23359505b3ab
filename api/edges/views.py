"""Edges between memories: draw, list, remove."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.edges.schemas import EdgeBody, EdgeList, EdgeListQuery, EdgeOutcome, edge_view
from api.json_blueprint import JsonBlueprint
from api.lookup import found_edge
from api.memories.schemas import SpaceQuery
from api.paging import cursor_of, page_answer
from api.service import service
from graphmem.gateway.edges import DrawEdge, EdgeRequest, RemoveEdge
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "edges", __name__, url_prefix="/v1/edges", description="How memories relate"
)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(EdgeListQuery)
@blueprint.response(200, EdgeList)
def listing(query: dict[str, Any]) -> Response:
    """List edges by the memory that they start from, or those that touch one memory."""
    page = service().edges.page(
        query["space"],
        types=query["type"],
        memory_uid=query["memory"],
        limit=query["limit"],
        after=cursor_of(query),
    )
    return page_answer(page, edge_view)


@blueprint.post("")
@requires(Role.WRITER)
@blueprint.arguments(EdgeBody)
@blueprint.response(201, EdgeOutcome)
@blueprint.alt_response(200, schema=EdgeOutcome, description="The edge was there and is revised")
def draw(values: dict[str, Any]) -> Response:
    """Draw an edge. One of the same uid, or without one of the same ends, is revised.

    UPDATES supersedes its end.
    """
    operation = DrawEdge(request=EdgeRequest(**values))
    done = service().gateway.execute(operation, g.caller)
    drawn = done.answer
    outcome = "created" if drawn.is_new else "revised"
    response = jsonify(outcome=outcome, edge=edge_view(drawn.edge), trace_id=done.trace_id)
    response.status_code = HTTPStatus.CREATED if drawn.is_new else HTTPStatus.OK
    return response


@blueprint.delete("/<uid>")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.response(204)
def remove(query: dict[str, Any], uid: str) -> Response:
    """Remove an edge; the trace of it stays.

    What it superseded stays superseded until it is restored.
    """
    space, edge = found_edge(uid, query["space"])
    done = service().gateway.execute(RemoveEdge(space=space, edge=edge), g.caller)
    return Response(status=HTTPStatus.NO_CONTENT, headers={"X-Trace-ID": done.trace_id})
