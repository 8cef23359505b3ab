"""Personas: who speaks with the users of a tenant."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.companion.paths import keeper
from api.companion.schemas import PersonaAnswer, PersonaBody, PersonaList, persona_view
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.companion.personas import is_slug
from graphmem.errors import NotFound
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "personas", __name__, url_prefix="/v1/personas", description="Who speaks with users (001)"
)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, PersonaList)
def personas(query: dict[str, Any]) -> Response:
    """List the personas of the key's tenant."""
    page = keeper().personas.page(g.caller.tenant, cursor_of(query, size=1), limit=query["limit"])
    return page_answer(page, persona_view)


@blueprint.get("/<slug>")
@requires(Role.READER)
@blueprint.response(200, PersonaAnswer)
def persona(slug: str) -> Response:
    """Get a persona."""
    if not is_slug(slug):
        raise NotFound
    return jsonify(persona_view(keeper().persona(g.caller.tenant, slug)))


@blueprint.put("/<slug>")
@requires(Role.CURATOR)
@blueprint.arguments(PersonaBody)
@blueprint.response(201, PersonaAnswer)
@blueprint.alt_response(200, schema=PersonaAnswer, description="It was there")
def save_persona(values: dict[str, Any], slug: str) -> Response:
    """Make a persona, or change what is named of one."""
    done = keeper().save_persona(slug, values, caller=g.caller).answer
    response = jsonify(persona_view(done.persona))
    response.status_code = HTTPStatus.CREATED if done.is_new else HTTPStatus.OK
    return response
