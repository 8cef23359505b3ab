"""Edges between memories: draw, list, remove."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify
from flask.views import MethodView
from marshmallow import RAISE

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


@blueprint.route("")
class EdgesView(MethodView):
    """All edges."""

    @requires(Role.READER)
    @blueprint.arguments(EdgeListQuery, location="query", unknown=RAISE)
    @blueprint.response(200, EdgeList)
    def get(self, query: dict[str, Any]) -> Response:
        """List edges by the memory that they start from, or those that touch one memory."""
        page = service().edges.page(
            query["space"],
            types=query["type"],
            memory_uid=query["memory"],
            limit=query["limit"],
            after=cursor_of(query),
        )
        return page_answer(page, edge_view)

    @requires(Role.WRITER)
    @blueprint.arguments(EdgeBody)
    @blueprint.response(201, EdgeOutcome)
    @blueprint.alt_response(
        200, schema=EdgeOutcome, description="The edge was there and is revised"
    )
    def post(self, values: dict[str, Any]) -> Response:
        """Draw an edge. One of the same ends and type is revised and keeps its uid.

        UPDATES supersedes its end.
        """
        operation = DrawEdge(request=EdgeRequest(**values))
        done = service().gateway.execute(operation, g.caller)
        drawn = done.answer
        outcome = "created" if drawn.is_new else "revised"
        response = jsonify(outcome=outcome, edge=edge_view(drawn.edge), trace_id=done.trace_id)
        response.status_code = HTTPStatus.CREATED if drawn.is_new else HTTPStatus.OK
        return response


@blueprint.route("/<uid>")
class EdgeView(MethodView):
    """One edge."""

    @requires(Role.WRITER)
    @blueprint.arguments(SpaceQuery, location="query", unknown=RAISE)
    @blueprint.response(204)
    def delete(self, query: dict[str, Any], uid: str) -> Response:
        """Remove an edge; the trace of it stays.

        What it superseded stays superseded until it is restored.
        """
        space, edge = found_edge(uid, query["space"])
        done = service().gateway.execute(RemoveEdge(space=space, edge=edge), g.caller)
        return Response(status=HTTPStatus.NO_CONTENT, headers={"X-Trace-ID": done.trace_id})
