"""Relations between entities: post, list, delete."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.json_blueprint import JsonBlueprint
from api.paging import cursor_of, page_answer
from api.relations.schemas import (
    RelationBody,
    RelationList,
    RelationListQuery,
    RelationOutcome,
    RelationPlace,
    relation_request,
    relation_view,
)
from api.service import service
from graphmem.errors import NotFound
from graphmem.gateway.validation import is_uid
from graphmem.model.caller import Role
from graphmem.recall.relations import RelationQuestion

_PLACE = 2  # values of a cursor

blueprint = JsonBlueprint(
    "relations", __name__, url_prefix="/v1/relations", description="How entities stand together"
)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(RelationListQuery)
@blueprint.response(200, RelationList)
def listing(query: dict[str, Any]) -> Response:
    """List relations, or those within one to three steps of an entity, the nearest first."""
    after, limit = cursor_of(query, size=_PLACE), query.pop("limit")
    spaces = query.pop("space")
    del query["cursor"]
    page = service().relation_reader.page(
        RelationQuestion(spaces=spaces, **query), after, limit=limit
    )
    return page_answer(page, relation_view)


@blueprint.post("")
@requires(Role.WRITER)
@blueprint.arguments(RelationBody)
@blueprint.response(201, RelationOutcome)
@blueprint.alt_response(200, schema=RelationOutcome, description="It was there at that time")
def post(values: dict[str, Any]) -> Response:
    """Let two entities stand in a relation, which rests on a memory or, without one, on this call.

    The same at a time that overlaps is one relation, which takes the memory on.
    """
    done = service().relation_keeper.post(relation_request(values), caller=g.caller)
    posted = done.answer
    outcome = "revised" if posted.is_changed else "unchanged"
    notes = {"not_taken": list(posted.not_taken)} if posted.not_taken else {}
    response = jsonify(
        outcome="created" if posted.is_new else outcome,
        relation=relation_view(posted.relation),
        **notes,
        trace_id=done.trace_id if done.events else None,
    )
    response.status_code = HTTPStatus.CREATED if posted.is_new else HTTPStatus.OK
    return response


@blueprint.delete("/<uid>")
@requires(Role.WRITER)
@blueprint.query(RelationPlace)
@blueprint.response(204)
def delete(query: dict[str, Any], uid: str) -> Response:
    """Delete a relation of a space."""
    if not is_uid(uid):
        raise NotFound
    done = service().relation_keeper.delete(query["space"], uid, caller=g.caller)
    return Response(status=HTTPStatus.NO_CONTENT, headers={"X-Trace-ID": done.trace_id})
