"""Conversations: list them, read what was said, append to them, take back."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.conversations.schemas import (
    ChangedAnswer,
    ConversationAnswer,
    ConversationChanges,
    ConversationList,
    ConversationListQuery,
    ConversationQuery,
    DeletedAnswer,
    PoppedAnswer,
    TurnAnswer,
    TurnHistory,
    TurnHistoryQuery,
    TurnList,
    TurnListQuery,
    TurnsAnswer,
    TurnsBody,
    conversation_view,
    kept_view,
    saying_from,
    turn_view,
    version_view,
)
from api.json_blueprint import JsonBlueprint
from api.paging import cursor_of, page_answer
from api.service import service
from graphmem.conversations.keeper import ConversationKeeper, Deleted
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "conversations",
    __name__,
    url_prefix="/v1/conversations",
    description="What was said, word for word",
)


def _keeper() -> ConversationKeeper:
    return service().of(ConversationKeeper)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(ConversationListQuery)
@blueprint.response(200, ConversationList)
def listing(query: dict[str, Any]) -> Response:
    """List the conversations of exactly one space, the latest first."""
    page = _keeper().conversations.page(query["space"], cursor_of(query), limit=query["limit"])
    return page_answer(page, conversation_view)


@blueprint.get("/<conversation:conversation_id>")
@requires(Role.READER)
@blueprint.query(ConversationQuery)
@blueprint.response(200, ConversationAnswer)
def one(query: dict[str, Any], conversation_id: str) -> Response:
    """Get a conversation. Its id is one percent-encoded segment, or `?id=` without a segment."""
    return jsonify(conversation_view(_keeper().find(query["space"], conversation_id)))


@blueprint.patch("/<conversation:conversation_id>")
@requires(Role.WRITER)
@blueprint.arguments(ConversationChanges)
@blueprint.response(200, ChangedAnswer)
def change(values: dict[str, Any], conversation_id: str) -> Response:
    """Change the title or the user of a conversation."""
    space = values.pop("space")
    done = _keeper().edit(space, conversation_id, values, caller=g.caller)
    return jsonify(conversation=conversation_view(done.answer), trace_id=done.trace_id)


@blueprint.delete("/<conversation:conversation_id>")
@requires(Role.WRITER)
@blueprint.query(ConversationQuery)
@blueprint.response(200, DeletedAnswer)
def delete(query: dict[str, Any], conversation_id: str) -> Response:
    """Delete a conversation with all its turns, and what is remembered of these alone.

    New turns open it again, without the old ones. Large ones go in steps; where one fails, the
    same call goes on.
    """
    return _deleted(_keeper().delete(query["space"], conversation_id, caller=g.caller))


@blueprint.get("/<conversation:conversation_id>/turns")
@requires(Role.READER)
@blueprint.query(TurnListQuery)
@blueprint.response(200, TurnList)
def turns(query: dict[str, Any], conversation_id: str) -> Response:
    """List the newest turns, or those before or after one; oldest first.

    There are fewer than `limit` where they are long.
    """
    found, total = _keeper().turns(conversation_id=conversation_id, **query)
    edge = None
    if found.has_more:
        edge = found.turns[-1 if query["after"] is not None else 0].uid
    return jsonify(items=list(map(turn_view, found.turns)), total=total, next_cursor=edge)


@blueprint.post("/<conversation:conversation_id>/turns")
@requires(Role.WRITER)
@blueprint.arguments(TurnsBody)
@blueprint.response(201, TurnsAnswer)
@blueprint.alt_response(200, schema=TurnsAnswer, description="Nothing is new")
def append(values: dict[str, Any], conversation_id: str) -> Response:
    """Append turns, all or none; the first ones begin the conversation.

    A message that is there with the same content is `unchanged`, with another it is 409.
    """
    done = _keeper().append(
        values["space"],
        conversation_id,
        [saying_from(each) for each in values["turns"]],
        caller=g.caller,
        remember=values["remember"],
    )
    response = jsonify(turns=list(map(kept_view, done.answer)), trace_id=done.trace_id)
    is_new = any(each.is_new for each in done.answer)
    response.status_code = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return response


@blueprint.post("/<conversation:conversation_id>/turns/pop")
@requires(Role.WRITER)
@blueprint.arguments(ConversationQuery)
@blueprint.response(200, PoppedAnswer)
def pop(values: dict[str, Any], conversation_id: str) -> Response:
    """Take the newest turn back, and what is remembered of it; its message id is free again."""
    turn, trace_id = _keeper().pop(values["space"], conversation_id, caller=g.caller)
    return jsonify(turn=turn_view(turn), trace_id=trace_id)


@blueprint.get("/<conversation:conversation_id>/turns/<uid>")
@requires(Role.READER)
@blueprint.query(ConversationQuery)
@blueprint.response(200, TurnAnswer)
def turn(query: dict[str, Any], conversation_id: str, uid: str) -> Response:
    """Get one turn."""
    return jsonify(turn_view(_keeper().find_turn(query["space"], conversation_id, uid)))


@blueprint.delete("/<conversation:conversation_id>/turns/<uid>")
@requires(Role.WRITER)
@blueprint.query(ConversationQuery)
@blueprint.response(200, DeletedAnswer)
def delete_turn(query: dict[str, Any], conversation_id: str, uid: str) -> Response:
    """Delete a turn, and what is remembered of it alone."""
    done = _keeper().delete_turn(query["space"], conversation_id, uid, caller=g.caller)
    return _deleted(done)


@blueprint.get("/<conversation:conversation_id>/turns/<uid>/history")
@requires(Role.READER)
@blueprint.query(TurnHistoryQuery)
@blueprint.response(200, TurnHistory)
def history(query: dict[str, Any], conversation_id: str, uid: str) -> Response:
    """The words of a turn, newest first: a source that says something else revises its turn."""
    keeper = _keeper()
    found = keeper.find_turn(query["space"], conversation_id, uid)
    page = keeper.conversations.versions(found, cursor_of(query), limit=query["limit"])
    return page_answer(page, version_view)


def _deleted(deleted: Deleted) -> Response:
    counts = {
        "turns": deleted.turns,
        "memories_retracted": deleted.retracted,
        "memories_kept": deleted.kept,
    }
    return jsonify(counts=counts, trace_id=deleted.trace_id)
