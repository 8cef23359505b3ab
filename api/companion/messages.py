"""Messages of users with personas, their sessions, and todos."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.companion.message_schemas import (
    NOW,
    KeptTodo,
    MessageBody,
    MessageList,
    MessageListQuery,
    RollingList,
    SaidAnswer,
    SessionList,
    SessionWithSummary,
    TodoBody,
    TodoChanges,
    TodoList,
    TodoListQuery,
    WholeState,
    listed_message_view,
    rolling_view,
    said_view,
    saying_of,
    session_view,
    state_view,
    summary_view,
    todo_view,
)
from api.companion.paths import keeper, known_persona_space, user_space
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.errors import InvalidInput
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "companion messages",
    __name__,
    url_prefix="/v1/companions",
    description="What users and personas say to each other (001)",
)


@blueprint.post("/<user>/<persona>/messages")
@requires(Role.WRITER)
@blueprint.arguments(MessageBody)
@blueprint.response(201, SaidAnswer)
@blueprint.alt_response(200, schema=SaidAnswer, description="A message of that id was there")
def say(values: dict[str, Any], user: str, persona: str) -> Response:
    """Keep a message, and what it says of the user: memories and todos, in one call."""
    user_space(user, role=Role.WRITER)
    space = user_space(user, persona, role=Role.WRITER)
    try:
        said = keeper().messages.say(
            space, saying_of(values), caller=g.caller, judges_now=values["judge"] == NOW
        )
    except InvalidInput as error:
        paths = {path.removeprefix("turns.0."): texts for path, texts in error.fields.items()}
        raise InvalidInput(paths) from error
    response = jsonify(said_view(said))
    response.status_code = HTTPStatus.CREATED if said.is_new else HTTPStatus.OK
    return response


@blueprint.get("/<user>/<persona>/messages")
@requires(Role.READER)
@blueprint.query(MessageListQuery)
@blueprint.response(200, MessageList)
def messages(query: dict[str, Any], user: str, persona: str) -> Response:
    """List the newest messages, oldest first."""
    space = known_persona_space(user, persona)
    before, after = query["before"], query["after"]
    some, total, waiting = keeper().messages.page(
        space, before=before, after=after, limit=query["limit"]
    )
    last = some.turns[-1 if after else 0].uid if some.has_more else None
    return jsonify(
        items=[listed_message_view(turn, waiting) for turn in some.turns],
        total=total,
        next_cursor=last,
    )


@blueprint.get("/<user>/<persona>/state")
@requires(Role.READER)
@blueprint.response(200, WholeState)
def state(user: str, persona: str) -> Response:
    """Get what lasts of a user with a persona across sessions; empty before his first message."""
    found = keeper().messages.state(known_persona_space(user, persona))
    return jsonify(state=state_view(found), rolling_summary=found.rolling_summary)


@blueprint.get("/<user>/<persona>/sessions")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, SessionList)
def sessions(query: dict[str, Any], user: str, persona: str) -> Response:
    """List the sessions of a user with a persona, the latest first."""
    space = known_persona_space(user, persona)
    page = keeper().messages.session_page(space, cursor_of(query, size=2), limit=query["limit"])
    return page_answer(page, session_view)


@blueprint.get("/<user>/<persona>/sessions/<uid>")
@requires(Role.READER)
@blueprint.response(200, SessionWithSummary)
def session(user: str, persona: str, uid: str) -> Response:
    """Get a session with its summary."""
    found = keeper().messages.session(known_persona_space(user, persona), uid)
    summary = keeper().summaries.of_session(found)
    return jsonify(session_view(found) | {"summary": summary_view(summary)})


@blueprint.get("/<user>/<persona>/rolling-summaries")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, RollingList)
def rolling_summaries(query: dict[str, Any], user: str, persona: str) -> Response:
    """List the rolling summaries of a user with a persona, the newest first."""
    space = known_persona_space(user, persona)
    page = keeper().summaries.rolling_page(space, cursor_of(query, size=2), limit=query["limit"])
    return page_answer(page, rolling_view)


@blueprint.get("/<user>/<persona>/todos")
@requires(Role.READER)
@blueprint.query(TodoListQuery)
@blueprint.response(200, TodoList)
def todos(query: dict[str, Any], user: str, persona: str) -> Response:
    """List the todos of a user with a persona, the newest first."""
    space = known_persona_space(user, persona)
    page = keeper().todos.page(
        space,
        kind=query["kind"],
        status=query["status"],
        after=cursor_of(query, size=2),
        limit=query["limit"],
    )
    return page_answer(page, todo_view)


@blueprint.post("/<user>/<persona>/todos")
@requires(Role.WRITER)
@blueprint.arguments(TodoBody)
@blueprint.response(201, KeptTodo)
@blueprint.alt_response(200, schema=KeptTodo, description="It was pending")
def state_todo(values: dict[str, Any], user: str, persona: str) -> Response:
    """Keep a todo; one that is pending under its key stays as it is."""
    space = known_persona_space(user, persona)
    user_space(user, persona, role=Role.WRITER)
    done = keeper().todos.state(
        space, values["kind"], values["content"], values.get("dedupe_key"), caller=g.caller
    )
    response = jsonify(todo=todo_view(done.todo), trace_id=done.trace_id)
    response.status_code = HTTPStatus.CREATED if done.is_new else HTTPStatus.OK
    return response


@blueprint.patch("/<user>/<persona>/todos/<uid>")
@requires(Role.WRITER)
@blueprint.arguments(TodoChanges)
@blueprint.response(200, KeptTodo)
def change_todo(values: dict[str, Any], user: str, persona: str, uid: str) -> Response:
    """Change the words or the status of a todo; one that ended may be pending again."""
    space = user_space(user, persona, role=Role.WRITER)
    done = keeper().todos.change(
        space,
        uid,
        content=values.get("content"),
        status=values.get("status"),
        caller=g.caller,
    )
    return jsonify(todo=todo_view(done.answer), trace_id=done.trace_id)
