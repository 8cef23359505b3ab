"""Users whom personas know: who they are, and the memories of them."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.companion.paths import keeper, readable, user_space
from api.companion.schemas import (
    FactBody,
    FactList,
    FactListQuery,
    KeptCompanionMemory,
    OverridesAnswer,
    OverridesBody,
    SeedAnswer,
    SeedBody,
    SpineAnswer,
    SpineQuery,
    SuggestionList,
    UserAnswer,
    UserBody,
    fact_from,
    fact_view,
    kept_fact_view,
    seed_view,
    spine_view,
    suggestion_view,
    user_view,
)
from api.json_blueprint import JsonBlueprint
from api.paging import cursor_of, page_answer
from graphmem.errors import InvalidInput, NotFound
from graphmem.model.caller import Role
from graphmem.model.writing import Outcome
from graphmem.store.companions import find_user

blueprint = JsonBlueprint(
    "companions",
    __name__,
    url_prefix="/v1/companions",
    description="Personas that remember their users (001)",
)

_SUGGESTIONS_MAX = 200


@blueprint.get("/<user>")
@requires(Role.READER)
@blueprint.response(200, UserAnswer)
def user(user: str) -> Response:
    """Get a user."""
    return jsonify(user_view(keeper().user(user_space(user))))


@blueprint.put("/<user>")
@requires(Role.WRITER)
@blueprint.arguments(UserBody)
@blueprint.response(201, UserAnswer)
@blueprint.alt_response(200, schema=UserAnswer, description="He was known")
def save_user(values: dict[str, Any], user: str) -> Response:
    """Make a user known, or change his email; his first message does so too."""
    done = keeper().save_user(user_space(user, role=Role.WRITER), values, caller=g.caller).answer
    response = jsonify(user_view(done.user))
    response.status_code = HTTPStatus.CREATED if done.is_new else HTTPStatus.OK
    return response


@blueprint.get("/<user>/seed")
@requires(Role.READER)
@blueprint.response(200, SeedAnswer)
def seed(user: str) -> Response:
    """Get what an operator wrote of a user; empty where nobody did."""
    return jsonify(seed_view(find_user(keeper().connection, user_space(user))))


@blueprint.put("/<user>/seed")
@requires(Role.WRITER)
@blueprint.arguments(SeedBody)
@blueprint.response(200, SeedAnswer)
def save_seed(values: dict[str, Any], user: str) -> Response:
    """Write what personas are told of a user from the start."""
    space = user_space(user, role=Role.WRITER)
    done = keeper().save_user(space, {"seed": values["content"]}, caller=g.caller).answer
    return jsonify(seed_view(done.user))


@blueprint.get("/<user>/memories")
@requires(Role.READER)
@blueprint.query(FactListQuery)
@blueprint.response(200, FactList)
def memories(query: dict[str, Any], user: str) -> Response:
    """List the memories of a user; with a persona also those that only this one sees."""
    space = user_space(user, query["persona"])
    page = keeper().facts(
        readable(space),
        kind=query["type"],
        status=query["status"],
        after=cursor_of(query, size=2),
        limit=query["limit"],
    )
    return page_answer(page, fact_view)


@blueprint.post("/<user>/memories")
@requires(Role.WRITER)
@blueprint.arguments(FactBody)
@blueprint.response(201, KeptCompanionMemory)
@blueprint.alt_response(200, schema=KeptCompanionMemory, description="Its key was known")
def store(values: dict[str, Any], user: str) -> Response:
    """Keep a memory of a user; what is known under its key is united with it."""
    user_space(user, role=Role.WRITER)
    space = user_space(user, values.get("persona"), role=Role.WRITER)
    try:
        done = keeper().store(space, fact_from(values), caller=g.caller)
    except NotFound as error:
        raise InvalidInput({"persona": [error.message]}) from error
    assert done.answer is not None  # noqa: S101 - without a message nobody else has it
    (kept,) = done.answer.facts
    response = jsonify(kept_fact_view(kept, done.trace_id))
    is_new = kept.outcome is Outcome.CREATED
    response.status_code = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return response


@blueprint.get("/<user>/entity-overrides")
@requires(Role.READER)
@blueprint.response(200, OverridesAnswer)
def overrides(user: str) -> Response:
    """Get what variants of names mean for a user."""
    return jsonify(overrides=dict(keeper().overrides_of(user_space(user))), merges=[])


@blueprint.put("/<user>/entity-overrides")
@requires(Role.WRITER)
@blueprint.arguments(OverridesBody)
@blueprint.response(200, OverridesAnswer)
def save_overrides(values: dict[str, Any], user: str) -> Response:
    """Say what variants mean; what is stored under new ones is merged, which can be undone."""
    space = user_space(user, role=Role.WRITER)
    merges = keeper().overrides.save(space, values["overrides"], caller=g.caller)
    return jsonify(overrides=values["overrides"], merges=list(merges))


@blueprint.get("/<user>/entity-suggestions")
@requires(Role.READER)
@blueprint.response(200, SuggestionList)
def entity_suggestions(user: str) -> Response:
    """List entities of a user whose names are near each other; merge them by the entity merge."""
    found = keeper().suggestions(user_space(user))
    shown = found[:_SUGGESTIONS_MAX]
    return jsonify(items=list(map(suggestion_view, shown)), total=len(found), next_cursor=None)


@blueprint.get("/<user>/spine")
@requires(Role.READER)
@blueprint.query(SpineQuery)
@blueprint.response(200, SpineAnswer)
def spine(query: dict[str, Any], user: str) -> Response:
    """Get the latest long summary of a user; what is open with a persona, if one is named."""
    return _spine(user, query["persona"], None)


@blueprint.get("/<user>/spine/<int:version>")
@requires(Role.READER)
@blueprint.query(SpineQuery)
@blueprint.response(200, SpineAnswer)
def spine_version(query: dict[str, Any], user: str, version: int) -> Response:
    """Get a version of the long summary of a user."""
    if version < 1:
        raise NotFound
    return _spine(user, query["persona"], version)


def _spine(user: str, persona: str | None, version: int | None) -> Response:
    user_space(user)
    space = user_space(user, persona)
    found = keeper().summaries.spine(readable(space), version)
    if found is None:
        raise NotFound
    policy = keeper().policies.of(space).companion.summaries
    return jsonify(spine_view(found, persona, policy))
