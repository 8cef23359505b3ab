"""What a persona may know for a message, and the context that it is told."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.companion.paths import keeper, known_persona_space, readable, user_space
from api.companion.recall_schemas import (
    CompanionContext,
    CompanionContextBody,
    CompanionContextQuery,
    CompanionRecallAnswer,
    CompanionRecallBody,
    context_view,
    found_view,
)
from api.json_blueprint import JsonBlueprint
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "companion recall",
    __name__,
    url_prefix="/v1/companions",
    description="What personas know of users (001)",
)


@blueprint.post("/<user>/<persona>/recall")
@requires(Role.READER)
@blueprint.arguments(CompanionRecallBody)
@blueprint.response(200, CompanionRecallAnswer)
def recall(values: dict[str, Any], user: str, persona: str) -> Response:
    """Find what matters for a query, which of it a context takes, and entity cards."""
    spaces = readable(known_persona_space(user, persona))
    found = keeper().recall.find(
        spaces, values["query"], limit=values.get("limit"), caller=g.caller
    )
    return jsonify(found_view(found))


@blueprint.get("/<user>/<persona>/context")
@requires(Role.READER)
@blueprint.query(CompanionContextQuery)
@blueprint.response(200, CompanionContext)
def context(query: dict[str, Any], user: str, persona: str) -> Response:
    """Get what the persona is to be told before it answers, within a budget of tokens."""
    return _context(query, user, persona)


@blueprint.post("/<user>/<persona>/context")
@requires(Role.READER)
@blueprint.arguments(CompanionContextBody)
@blueprint.response(200, CompanionContext)
def context_for(values: dict[str, Any], user: str, persona: str) -> Response:
    """The same for a message that may be too long or too private for a path."""
    return _context(values, user, persona)


def _context(values: dict[str, Any], user: str, persona: str) -> Response:
    answer = keeper().contexts.build(
        readable(user_space(user, persona)),
        query=values.get("query"),
        budget=values.get("budget"),
        caller=g.caller,
    )
    return jsonify(context_view(answer))
