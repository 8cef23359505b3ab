"""Entities: list them, see what is known of one, merge and split them, and undo that."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.entities.schemas import (
    RELATIONS_SHOWN,
    CardQuery,
    ChangeAnswer,
    ChangeList,
    ChangeListQuery,
    EntityBody,
    EntityCard,
    EntityDetail,
    EntityList,
    EntityListQuery,
    EntityOutcome,
    EntityPatch,
    EntityPlace,
    EntityQuery,
    MergeBody,
    SplitBody,
    change_view,
    entity_answer,
    entity_request,
    entity_view,
    known_view,
    outcome_view,
)
from api.json_blueprint import JsonBlueprint
from api.paging import cursor_of, page_answer
from api.service import service
from graphmem.errors import Forbidden, NotFound
from graphmem.model.caller import Role
from graphmem.model.entity import EntityRef, entity_ref, is_entity_type
from graphmem.model.names import slug_with_signs
from graphmem.model.page import Page
from graphmem.model.writing import Outcome
from graphmem.store.upkeep import Upkeep

_PLACE_OF_LISTED, _PLACE_OF_FOUND = 2, 3  # values of a cursor

blueprint = JsonBlueprint(
    "entities", __name__, url_prefix="/v1/entities", description="Who and what is mentioned"
)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(EntityListQuery)
@blueprint.response(200, EntityList)
def listing(query: dict[str, Any]) -> Response:
    """List the entities that memories of some spaces mention, and those declared there.

    An entity named exactly as the prefix comes first. With a query they are searched by name: those
    called exactly so, signs included, come first, then the best of at most a thousand.
    """
    spaces = query["space"]
    if query["query"]:
        found = service().entities.search(
            spaces,
            query["query"],
            types=query["type"],
            limit=query["limit"],
            after=cursor_of(query, size=_PLACE_OF_FOUND),
        )
        return page_answer(found, entity_view)
    types, name = _prefix(query["prefix"], query["type"])
    if query["prefix"].rpartition(":")[2].strip() and not name:
        return page_answer(Page(items=(), total=0), entity_view)  # no name begins so
    page = service().entities.page(
        spaces,
        types=types,
        prefix=name,
        limit=query["limit"],
        after=cursor_of(query, size=_PLACE_OF_LISTED),
    )
    return page_answer(page, entity_view)


@blueprint.post("")
@requires(Role.WRITER)
@blueprint.arguments(EntityBody)
@blueprint.response(201, EntityOutcome)
@blueprint.alt_response(200, schema=EntityOutcome, description="It was there, and is written over")
def declare(values: dict[str, Any]) -> Response:
    """Declare an entity: what it is called and what is known of it, without any mention.

    It belongs to the owner of the space, in which the key must be allowed to write. One that is
    there, mentioned or declared, keeps its label; what is given is written over.
    """
    done = service().entity_register.declare(
        values["space"], values["type"], entity_request(values), caller=g.caller
    )
    response = jsonify(outcome_view(done))
    is_new = done.answer[0].outcome is Outcome.CREATED
    response.status_code = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return response


@blueprint.patch("/<key>")
@requires(Role.WRITER)
@blueprint.arguments(EntityPatch)
@blueprint.response(200, EntityOutcome)
def correct(values: dict[str, Any], key: str) -> Response:
    """Correct an entity: its description, other names, attributes, or the spelling of its name.

    A merged name leads to what it became.
    """
    done = service().entity_register.revise(
        values["space"], _ref(key), entity_request(values), caller=g.caller
    )
    return jsonify(outcome_view(done))


@blueprint.delete("/<key>")
@requires(Role.WRITER)
@blueprint.query(EntityPlace)
@blueprint.response(204)
def delete(query: dict[str, Any], key: str) -> Response:
    """Delete an entity that nothing mentions or relates to; else 409 says how much does.

    What a merge or split that can be undone needs is not deleted either.
    """
    done = service().entity_register.delete(query["space"], _ref(key), caller=g.caller)
    return Response(status=HTTPStatus.NO_CONTENT, headers={"X-Trace-ID": done.trace_id})


@blueprint.get("/<key>")
@requires(Role.READER)
@blueprint.query(EntityQuery)
@blueprint.response(200, EntityDetail)
def one(query: dict[str, Any], key: str) -> Response:
    """An entity: its names, its mentions, and a summary of what each space knows of it.

    The consolidate job makes summaries once more than five facts are known. A merged name leads to
    what it became.
    """
    spaces = query["space"]
    found = service().recall.known_of(_ref(key), spaces, limit=1, as_of=None, known_at=None)
    if found is None:
        raise NotFound
    summaries = service().of(Upkeep).summaries(spaces, found.entity.key, now=service().clock.now())
    return jsonify(entity_answer(found, summaries))


@blueprint.get("/<key>/card")
@requires(Role.READER)
@blueprint.query(CardQuery)
@blueprint.response(200, EntityCard)
def card(query: dict[str, Any], key: str) -> Response:
    """What is known of an entity: its most important facts.

    A merged name leads to what it became.
    """
    spaces = query["space"]
    found = service().recall.known_of(
        _ref(key), spaces, limit=query["limit"], as_of=query["as_of"], known_at=query["known_at"]
    )
    if found is None:
        raise NotFound
    (meant,) = service().recall.entities_meant([key], spaces, field="key")
    relations = service().relation_reader.of_entities(
        meant, spaces, limit=RELATIONS_SHOWN, as_of=query["as_of"], known_at=query["known_at"]
    )
    return jsonify(known_view(found, relations))


@blueprint.post("/<key>/merge")
@requires(Role.CURATOR)
@blueprint.arguments(MergeBody)
@blueprint.response(200, ChangeAnswer)
def merge(values: dict[str, Any], key: str) -> Response:
    """Merge an entity into another: all its mentions move, and it becomes an alias.

    The answer shows the evidence.
    """
    change = service().entity_keeper.merge(
        values["space"], key, values["into"], caller=g.caller, reason=values["reason"]
    )
    return jsonify(change_view(change))


@blueprint.post("/<key>/split")
@requires(Role.CURATOR)
@blueprint.arguments(SplitBody)
@blueprint.response(200, ChangeAnswer)
def split(values: dict[str, Any], key: str) -> Response:
    """Move some mentions of an entity to another one, which is created if need be."""
    change = service().entity_keeper.split(
        values["space"],
        key,
        values["into"],
        values["memories"],
        caller=g.caller,
        reason=values["reason"],
        relations=values["relations"],
    )
    return jsonify(change_view(change))


@blueprint.get("/merges")
@requires(Role.READER)
@blueprint.query(ChangeListQuery)
@blueprint.response(200, ChangeList)
def changes(query: dict[str, Any]) -> Response:
    """The newest merges and splits of a space, each with its evidence and whether it was undone."""
    owner = query["space"].without_persona
    if not g.caller.may(Role.READER, owner):
        raise Forbidden
    page = service().entities.changes(owner, limit=query["limit"], after=cursor_of(query))
    return page_answer(page, change_view)


@blueprint.post("/merges/<merge_id>/undo")
@requires(Role.CURATOR)
@blueprint.response(HTTPStatus.OK, ChangeAnswer)
def undo(merge_id: str) -> Response:
    """Undo a merge or split: the graph is as before, except what was rewritten since."""
    return jsonify(change_view(service().entity_keeper.undo(merge_id, caller=g.caller)))


def _prefix(text: str, types: list[str]) -> tuple[list[str], str]:
    """The types and the normalised beginning of a name; a prefix may begin with its type."""
    kind, colon, name = text.partition(":")
    if colon and is_entity_type(kind):
        return ([kind] if not types or kind in types else types), slug_with_signs(name)
    return types, slug_with_signs(text)


def _ref(text: str) -> EntityRef:
    try:
        return entity_ref(text)
    except ValueError as error:
        raise NotFound from error
