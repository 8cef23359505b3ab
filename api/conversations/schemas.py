"""Conversations and turns in requests and answers."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.fields import Flag, Line, RequestSchema, UtcDateTime, WithoutNulls
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField
from graphmem.bounded_fields import Several, Table
from graphmem.conversations.append import Said
from graphmem.conversations.sayings import TURNS_MAX, saying_problems
from graphmem.model.conversation import Conversation, Saying, Turn, TurnRole, TurnVersion
from graphmem.text.times import iso

_TITLE_MAX_CHARS = 200
_USER_MAX_CHARS = 256
_SPACE = {"example": "user:ada"}


class ConversationAnswer(Schema):
    """A conversation."""

    id = fields.String(metadata={"example": "chat-7"})
    space = fields.String()
    title = fields.String(allow_none=True)
    user = fields.String(allow_none=True)
    kept_by = fields.String(
        allow_none=True, metadata={"description": "The room whose calls alone write in it"}
    )
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    turns = fields.Integer(metadata={"description": "How many it has"})


ConversationList = page_of(ConversationAnswer, "Conversations", "Conversations, the latest first.")


class ConversationQuery(RequestSchema):
    """Which space a conversation lies in."""

    space = SpaceField(required=True, metadata=_SPACE)


class ConversationListQuery(PageQuery):
    """Which conversations to list."""

    space = SpaceField(required=True, metadata=_SPACE)


class ConversationChanges(RequestSchema):
    """What to change of a conversation; null takes it away."""

    space = SpaceField(required=True, metadata=_SPACE)
    title = Line(allow_none=True, validate=validate.Length(1, _TITLE_MAX_CHARS))
    user = Line(allow_none=True, validate=validate.Length(1, _USER_MAX_CHARS))


class ChangedAnswer(Schema):
    """A conversation as it is now."""

    conversation = fields.Nested(ConversationAnswer)
    trace_id = fields.String()


class TurnAnswer(Schema):
    """What somebody said, byte for byte."""

    uid = fields.String()
    conversation_id = fields.String()
    role = fields.Enum(TurnRole, by_value=True)
    actor = fields.String(allow_none=True)
    content = fields.String(
        allow_none=True, metadata={"description": "null: its words were kept for some time only"}
    )
    at = fields.DateTime(metadata={"description": "When it was said"})
    recorded_at = fields.DateTime()
    metadata = fields.Dict()
    message_id = fields.String(allow_none=True)
    native = fields.Dict(allow_none=True, metadata={"description": "Values of a room"})
    memories = fields.List(
        fields.String(), metadata={"description": "uids of what is remembered of it"}
    )


TurnList = page_of(
    TurnAnswer,
    "Turns",
    "Turns, oldest first. `next_cursor` is the uid that `before` (or `after`, where that was given)"
    " takes for the next page.",
)


class TurnListQuery(RequestSchema):
    """Which turns of a conversation to list; without a uid the newest."""

    space = SpaceField(required=True, metadata=_SPACE)
    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))
    before = fields.String(load_default=None, metadata={"description": "uid of a turn"})
    after = fields.String(load_default=None, metadata={"description": "uid of a turn"})

    @validates_schema
    def _one_way(self, values: dict[str, Any], **_: object) -> None:
        if values["before"] is not None and values["after"] is not None:
            message = "Give either before or after."
            raise ValidationError(message, "after")


class TurnBody(WithoutNulls):
    """A turn to be kept."""

    role = fields.Enum(TurnRole, by_value=True, required=True)
    content = fields.String(required=True, metadata={"example": "I moved to Lyon."})
    actor = fields.String(metadata={"example": "Ada"})
    at = UtcDateTime(metadata={"description": "When it was said; else now"})
    metadata = Table(keys=fields.String())
    message_id = fields.String(metadata={"example": "m-1"})

    @validates_schema(skip_on_field_errors=False)
    def _rules(self, values: dict[str, Any], **_: object) -> None:
        """The room's own rules, so that all problems are reported at once."""
        if found := saying_problems(values):
            raise ValidationError({name: list(texts) for name, texts in found.items()})


class TurnsBody(RequestSchema):
    """Turns to be kept at the end of a conversation, all or none."""

    space = SpaceField(required=True, metadata=_SPACE)
    turns = Several(
        fields.Nested(TurnBody),
        most=TURNS_MAX,
        required=True,
        validate=validate.Length(min=1),
    )
    remember = Flag(
        load_default=False,
        metadata={"description": "Whether each turn is also a memory, an Observation"},
    )


class KeptTurn(Schema):
    """What became of a turn."""

    uid = fields.String()
    message_id = fields.String()
    memories = fields.List(fields.String())
    outcome = fields.String(metadata={"enum": ["created", "unchanged"]})


class TurnsAnswer(Schema):
    """What became of each turn, in order."""

    turns = fields.List(fields.Nested(KeptTurn))
    trace_id = fields.String()


class PoppedAnswer(Schema):
    """The turn that was taken back."""

    turn = fields.Nested(TurnAnswer)
    trace_id = fields.String()


class DeletedCounts(Schema):
    """How many turns were deleted, and memories of them."""

    turns = fields.Integer()
    memories_retracted = fields.Integer(metadata={"description": "Rested on these turns alone"})
    memories_kept = fields.Integer(metadata={"description": "Rest on other turns or sources too"})


class DeletedAnswer(Schema):
    """What was deleted."""

    counts = fields.Nested(DeletedCounts)
    trace_id = fields.String(metadata={"description": "Each 200 turns have one; this is the last"})


class TurnVersionAnswer(Schema):
    """Words that a turn has or had, and how long."""

    content = fields.String()
    recorded_from = fields.DateTime()
    recorded_until = fields.DateTime(allow_none=True)


TurnHistory = page_of(TurnVersionAnswer, "TurnVersions", "The words of a turn, newest first.")


class TurnHistoryQuery(RequestSchema):
    """A page of the history of a turn."""

    space = SpaceField(required=True, metadata=_SPACE)
    limit = fields.Integer(load_default=10, validate=validate.Range(1, 20))
    cursor = fields.String(load_default=None)


def saying_from(values: dict[str, Any]) -> Saying:
    """What the values of a turn say."""
    return Saying(uid="", **values)


def conversation_view(conversation: Conversation) -> dict[str, Any]:
    """A conversation as answers show it."""
    return {
        "id": conversation.id,
        "space": conversation.space.name,
        "title": conversation.title,
        "user": conversation.user,
        "kept_by": conversation.kept_by,
        "created_at": iso(conversation.created_at),
        "updated_at": iso(conversation.updated_at),
        "turns": conversation.turns,
    }


def turn_view(turn: Turn) -> dict[str, Any]:
    """A turn as answers show it."""
    return {
        "uid": turn.uid,
        "conversation_id": turn.conversation_id,
        "role": turn.role.value,
        "actor": turn.actor,
        "content": None if turn.is_forgotten else turn.content,
        "at": iso(turn.at),
        "recorded_at": iso(turn.recorded_at),
        "metadata": dict(turn.metadata),
        "message_id": turn.message_id,
        "native": None if turn.native is None else dict(turn.native),
        "memories": list(turn.memories),
    }


def kept_view(said: Said) -> dict[str, Any]:
    """What became of a turn, as answers show it."""
    named = {"message_id": said.turn.message_id} if said.turn.message_id else {}
    return {
        "uid": said.turn.uid,
        **named,
        "memories": list(said.memories),
        "outcome": "created" if said.is_new else "unchanged",
    }


def version_view(version: TurnVersion) -> dict[str, Any]:
    """A version of a turn as answers show it."""
    return {
        "content": version.content,
        "recorded_from": iso(version.recorded_from),
        "recorded_until": iso(version.recorded_until),
    }
