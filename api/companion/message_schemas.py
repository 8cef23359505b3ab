"""Messages, sessions and todos in requests and answers, in the words of 001."""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.companion.schemas import Content
from api.conversations.read_turns import ReadTurn
from api.conversations.schemas import TurnAnswer, turn_view
from api.fields import Id, RequestSchema, UtcDateTime, WithoutNulls
from api.paging import PageQuery, page_of
from graphmem.companion.judge_filters import Drop
from graphmem.companion.keeping import Kept
from graphmem.companion.messages import Said
from graphmem.model.companion import (
    RollingSummary,
    Session,
    SessionState,
    SessionSummary,
    Todo,
    TodoKind,
    TodoStatus,
)
from graphmem.model.conversation import Saying, Turn, TurnRole
from graphmem.text.normalise import nfc
from graphmem.text.times import iso

NOW, LATER = "now", "later"
_KEY_MAX_CHARS = 200


class MessageBody(ReadTurn):
    """A message of a user, or of a persona to him."""

    message_id = fields.String(required=True, metadata={"example": "m-1"})
    role = fields.String(
        required=True, validate=validate.OneOf([TurnRole.USER, TurnRole.ASSISTANT])
    )
    content = fields.String(
        required=True, metadata={"example": "I live in Austin and I'll call mom tonight."}
    )
    occurred_at = UtcDateTime(metadata={"description": "When it was said; else now"})
    judge = fields.String(
        load_default=NOW,
        validate=validate.OneOf([NOW, LATER]),
        metadata={"description": "later: a job reads it within a minute"},
    )


class CompanionMessage(TurnAnswer):
    """A message: a turn of the conversation that the room keeps."""

    judged = fields.Boolean(
        allow_none=True, metadata={"description": "null: of what is never judged"}
    )


class CompanionSession(Schema):
    """Messages that follow each other."""

    id = fields.String()
    started_at = fields.DateTime()
    last_activity_at = fields.DateTime()
    ended_at = fields.DateTime(allow_none=True)
    turn_count = fields.Integer(metadata={"description": "Messages of the user"})


class SummaryTextAnswer(Schema):
    """What a session was about."""

    one_liner = fields.String()
    what_mattered = fields.List(fields.String())
    open_loops = fields.List(fields.String())
    commitments = fields.List(fields.String())
    people = fields.List(fields.String())
    tone = fields.String()


class SummaryMetadata(Schema):
    """How the summary of a session was made."""

    source = fields.String()
    format = fields.String()
    parse_error = fields.Boolean(
        metadata={"description": "Rules made it, because a model's answer was none"}
    )
    truncated = fields.Boolean()
    model = fields.String()
    created_at = fields.DateTime()


class SessionSummaryAnswer(Schema):
    """The summary of a session."""

    summary = fields.Nested(SummaryTextAnswer)
    metadata = fields.Nested(SummaryMetadata)


class SessionWithSummary(CompanionSession):
    """A session with its summary, once it has ended."""

    summary = fields.Nested(SessionSummaryAnswer, allow_none=True)


class RollingAnswer(Schema):
    """What was lately spoken of, at one time."""

    text = fields.String()
    model = fields.String()
    created_at = fields.DateTime()


RollingList = page_of(RollingAnswer, "RollingSummaries", "Rolling summaries, the newest first.")


class CuratorAnswer(Schema):
    """When the curator last looked after a user."""

    last_run_at = fields.DateTime()
    last_memory_count_at_run = fields.Integer()


class RollingErrorAnswer(Schema):
    """Why the last rolling summary was not made."""

    reason = fields.String()
    detail = fields.String(allow_none=True)


class StateAnswer(Schema):
    """What lasts of a user with a persona across sessions."""

    message_count = fields.Integer(metadata={"description": "Messages of the user"})
    last_interaction = fields.DateTime(allow_none=True)
    last_user_message = fields.String(allow_none=True)
    curator = fields.Nested(CuratorAnswer, allow_none=True)
    last_rolling_attempt_at = fields.DateTime(allow_none=True)
    last_rolling_success_at = fields.DateTime(allow_none=True)
    last_rolling_error = fields.Nested(RollingErrorAnswer, allow_none=True)


class WholeState(Schema):
    """The state, and the summary of what was lately spoken of."""

    state = fields.Nested(StateAnswer)
    rolling_summary = fields.String(allow_none=True)


class KeptOfMessage(Schema):
    """A memory or todo that a message left."""

    uid = fields.String()
    outcome = fields.String()
    message_id = fields.String()


class DroppedOfMessage(Schema):
    """What a message said and is not kept, by a stable code."""

    reason = fields.String()
    what = fields.String(metadata={"enum": ["memory", "loop"]})
    kind = fields.String(allow_none=True)


class MadeSummaries(Schema):
    """Which summaries a message made due."""

    rolling = fields.Boolean()
    spine_version = fields.Integer(allow_none=True)


class SaidAnswer(Schema):
    """What became of a message."""

    message = fields.Nested(CompanionMessage)
    session = fields.Nested(CompanionSession, allow_none=True)
    state = fields.Nested(StateAnswer)
    memories = fields.List(fields.Nested(KeptOfMessage))
    todos = fields.List(fields.Nested(KeptOfMessage))
    dropped = fields.List(fields.Nested(DroppedOfMessage))
    completed = fields.List(fields.String())
    promoted = fields.List(fields.String())
    skipped = fields.List(fields.String())
    summaries = fields.Nested(MadeSummaries)
    degraded = fields.List(fields.String())
    trace_id = fields.String()


class MessageListQuery(RequestSchema):
    """Which messages to list; without a uid the newest."""

    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))
    before = fields.String(load_default=None, metadata={"description": "uid of a message"})
    after = fields.String(load_default=None, metadata={"description": "uid of a message"})

    @validates_schema
    def _one_way(self, values: dict[str, Any], **_: object) -> None:
        if values["before"] is not None and values["after"] is not None:
            message = "Give either before or after."
            raise ValidationError(message, "after")


MessageList = page_of(
    CompanionMessage,
    "CompanionMessages",
    "Messages, oldest first. `next_cursor` is the uid that `before` (or `after`, where that was"
    " given) takes for the next page.",
)
SessionList = page_of(CompanionSession, "CompanionSessions", "Sessions, the latest first.")


class TodoBody(WithoutNulls):
    """What is about to be done."""

    kind = fields.Enum(TodoKind, by_value=True, required=True)
    content = Content(required=True, metadata={"example": "Call mom tonight."})
    dedupe_key = Id(
        validate=validate.Length(1, _KEY_MAX_CHARS), metadata={"example": "call_mom_tonight"}
    )


class TodoChanges(WithoutNulls):
    """What is to change of a todo."""

    content = Content()
    status = fields.Enum(TodoStatus, by_value=True)


class TodoAnswer(Schema):
    """What is about to be done, or was."""

    uid = fields.String()
    user = fields.String()
    persona = fields.String()
    todo_kind = fields.Enum(TodoKind, by_value=True)
    content = fields.String()
    dedupe_key = fields.String(allow_none=True)
    status = fields.Enum(TodoStatus, by_value=True)
    created_at = fields.DateTime()
    completed_at = fields.DateTime(allow_none=True)


class KeptTodo(Schema):
    """What became of a todo."""

    todo = fields.Nested(TodoAnswer)
    trace_id = fields.String()


class TodoListQuery(PageQuery):
    """Which todos to list."""

    kind = fields.Enum(TodoKind, by_value=True, load_default=None)
    status = fields.Enum(TodoStatus, by_value=True, load_default=None)


TodoList = page_of(TodoAnswer, "Todos", "Todos, the newest first.")


def saying_of(values: dict[str, Any]) -> Saying:
    """What the values of a message say."""
    return Saying(
        uid="",
        role=TurnRole(values["role"]),
        content=values["content"],
        at=values.get("occurred_at"),
        message_id=nfc(values["message_id"]),
    )


def message_view(turn: Turn, *, is_judged: bool | None) -> dict[str, Any]:
    """A message in an answer."""
    return turn_view(turn) | {"judged": is_judged}


def listed_message_view(turn: Turn, waiting: Collection[str]) -> dict[str, Any]:
    """A message of a list; ``waiting`` are the keys of those that wait for their judge."""
    is_user = turn.role is TurnRole.USER
    return message_view(turn, is_judged=turn.key not in waiting if is_user else None)


def session_view(session: Session) -> dict[str, Any]:
    """A session in an answer."""
    return {
        "id": session.uid,
        "started_at": iso(session.started_at),
        "last_activity_at": iso(session.last_activity_at),
        "ended_at": iso(session.ended_at),
        "turn_count": session.turn_count,
    }


def summary_view(summary: SessionSummary | None) -> dict[str, Any] | None:
    """The summary of a session in an answer."""
    if summary is None:
        return None
    return {
        "summary": asdict(summary.text),
        "metadata": {
            "source": "auto_session_summary",
            "format": "json",
            "parse_error": summary.parse_error,
            "truncated": summary.truncated,
            "model": summary.model,
            "created_at": iso(summary.created_at),
        },
    }


def rolling_view(rolling: RollingSummary) -> dict[str, Any]:
    """A rolling summary in an answer."""
    return {
        "text": rolling.text,
        "model": rolling.model,
        "created_at": iso(rolling.created_at),
    }


def state_view(state: SessionState) -> dict[str, Any]:
    """What lasts of a user with a persona, in an answer."""
    curator, error = state.curator, state.last_rolling_error
    return {
        "message_count": state.message_count,
        "last_interaction": iso(state.last_interaction),
        "last_user_message": state.last_user_message,
        "curator": {
            "last_run_at": iso(curator.last_run_at),
            "last_memory_count_at_run": curator.last_memory_count_at_run,
        }
        if curator
        else None,
        "last_rolling_attempt_at": iso(state.last_rolling_attempt_at),
        "last_rolling_success_at": iso(state.last_rolling_success_at),
        "last_rolling_error": {"reason": error.reason, "detail": error.detail} if error else None,
    }


def said_view(said: Said) -> dict[str, Any]:
    """What became of a message, in an answer."""
    verdict = said.verdict

    def kept_view(kept: Kept) -> dict[str, Any]:
        assert kept.memory is not None  # noqa: S101 - it was kept
        outcome, uid = kept.outcome.value, kept.memory.uid
        return {"uid": uid, "outcome": outcome, "message_id": said.turn.message_id}

    return {
        "message": message_view(said.turn, is_judged=said.is_judged),
        "session": session_view(said.session) if said.session else None,
        "state": state_view(said.state),
        "memories": list(map(kept_view, verdict.facts)),
        "todos": list(map(kept_view, verdict.todos)),
        "dropped": list(map(_dropped_view, verdict.dropped)),
        "completed": verdict.completed,
        "promoted": verdict.promoted,
        "skipped": verdict.skipped,
        "summaries": {
            "rolling": said.followed.rolling,
            "spine_version": said.followed.spine_version,
        },
        "degraded": [*verdict.degraded, *said.followed.degraded],
        "trace_id": said.trace_id,
    }


def _dropped_view(drop: Drop) -> dict[str, Any]:
    return {"reason": drop.reason.value, "what": drop.what, "kind": drop.kind}


def todo_view(todo: Todo) -> dict[str, Any]:
    """A todo in an answer."""
    return {
        "uid": todo.uid,
        "user": todo.user,
        "persona": todo.persona,
        "todo_kind": todo.kind.value,
        "content": todo.content,
        "dedupe_key": todo.dedupe_key,
        "status": todo.status.value,
        "created_at": iso(todo.created_at),
        "completed_at": iso(todo.completed_at),
    }
