"""Entities: list them, see what is known of one, merge and split them, and undo that."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.entities.schemas import (
    CardQuery,
    ChangeAnswer,
    ChangeList,
    ChangeListQuery,
    EntityCard,
    EntityDetail,
    EntityList,
    EntityListQuery,
    EntityQuery,
    MergeBody,
    SplitBody,
    change_view,
    entity_answer,
    entity_view,
    known_view,
)
from api.json_blueprint import JsonBlueprint
from api.paging import cursor_of, page_answer
from api.service import service
from graphmem.errors import Forbidden, NotFound
from graphmem.model.caller import Role
from graphmem.model.entity import EntityRef, entity_ref, is_entity_type
from graphmem.model.names import slug_with_signs
from graphmem.store.upkeep import Upkeep

blueprint = JsonBlueprint(
    "entities", __name__, url_prefix="/v1/entities", description="Who and what is mentioned"
)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(EntityListQuery)
@blueprint.response(200, EntityList)
def listing(query: dict[str, Any]) -> Response:
    """List the entities that memories of some spaces mention.

    An entity named exactly as the prefix comes first.
    """
    spaces = query["space"]
    types, name = _prefix(query["prefix"], query["type"])
    page = service().entities.page(
        spaces,
        types=types,
        prefix=name,
        limit=query["limit"],
        after=cursor_of(query),
    )
    return page_answer(page, entity_view)


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
    return jsonify(known_view(found))


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
