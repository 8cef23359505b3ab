"""Transfer: conversations and turns as lines of an export, and back."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from marshmallow import fields, validate

from graphmem.conversations.sayings import (
    long_id_problem,
    normalised,
    saying_problems,
    texts_of,
)
from graphmem.conversations.take_in import KeptTurn, Outcomes, TakeInConversations, TakeInTurns
from graphmem.errors import GraphmemError, InvalidInput, PolicyRefused
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Operation
from graphmem.gateway.validation import is_uid
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.model.caller import Caller
from graphmem.model.conversation import Conversation, Saying, Turn, TurnRole
from graphmem.model.page import every_item
from graphmem.model.space import Space
from graphmem.store.turns import Conversations
from graphmem.text.normalise import nfc, one_line
from graphmem.text.times import iso

_AT_ONCE = 100
_LINE_MAX_CHARS = 256
_SOURCE_MAX_CHARS = 4_000
_UID_MAX_CHARS = 128
T = TypeVar("T")
_FIRST_NUMBER = -(2**62)


class _ConversationLine(Line):
    id = fields.String(required=True)
    title = fields.String(allow_none=True, validate=validate.Length(1, _LINE_MAX_CHARS))
    user = fields.String(allow_none=True, validate=validate.Length(1, _LINE_MAX_CHARS))
    kept_by = fields.String(allow_none=True, validate=validate.Length(1, _LINE_MAX_CHARS))
    created_at = Moment(required=True)
    updated_at = Moment(required=True)


class _FromTurnLine(Line):
    uid = fields.String(required=True, validate=validate.Length(1, _UID_MAX_CHARS))
    said_by = fields.String(required=True, validate=validate.Length(1, _SOURCE_MAX_CHARS))


class _TurnLine(Line):
    uid = fields.String(required=True)
    conversation_id = fields.String(required=True)
    role = fields.Enum(TurnRole, by_value=True, required=True)
    content = fields.String(required=True)
    actor = fields.String(allow_none=True)
    at = Moment(required=True)
    recorded_at = Moment(required=True)
    metadata = fields.Dict(keys=fields.String(), load_default=dict)
    message_id = fields.String(allow_none=True)
    native = fields.Dict(keys=fields.String(), allow_none=True)
    forgotten = fields.String(allow_none=True, validate=validate.Regexp("[0-9a-f]{64}$"))
    memories = fields.List(fields.Nested(_FromTurnLine), load_default=list)


@dataclass(frozen=True, kw_only=True)
class ConversationTransfer:
    """The conversations of a space, the latest first."""

    conversations: Conversations
    gateway: Gateway
    kind: str = "conversation"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The conversations of a space."""
        for each in _every(self.conversations, space):
            yield {
                "id": each.id,
                "title": each.title,
                "user": each.user,
                "kept_by": each.kept_by,
                "created_at": iso(each.created_at),
                "updated_at": iso(each.updated_at),
            }

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Begin conversations that are not here."""
        return _written(
            [_loaded(_conversation, value, space) for value in values],
            lambda some: TakeInConversations(space=space, conversations=some),
            self.gateway,
            caller,
        )


@dataclass(frozen=True, kw_only=True)
class TurnTransfer:
    """The turns of a space, conversation by conversation, in their order."""

    conversations: Conversations
    gateway: Gateway
    kind: str = "turn"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The turns of a space, each with the memories that are of it."""
        for conversation in _every(self.conversations, space):
            for turns in self._some(conversation):
                memories = self.conversations.sources_of(turns)
                for turn in turns:
                    yield _line(turn, memories[turn.key])

    def _some(self, conversation: Conversation) -> Iterator[Sequence[Turn]]:
        """All turns of a conversation, some at a time."""
        behind, has_more = _FIRST_NUMBER, True
        while has_more:
            found = self.conversations.turns_after(conversation.key, behind, limit=_AT_ONCE)
            has_more = found.has_more
            if found.turns:
                behind = found.turns[-1].number
                yield found.turns

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Add turns that are not here."""

        def operation(turns: Sequence[KeptTurn]) -> TakeInTurns:
            texts = [
                text for each in turns for text in texts_of(each.conversation_id, [each.saying])
            ]
            return TakeInTurns(space=space, turns=turns, screened=texts)

        loaded = [_loaded(_turn, value, space) for value in values]
        return _written(loaded, operation, self.gateway, caller)


def _every(conversations: Conversations, space: Space) -> Iterator[Conversation]:
    return every_item(partial(conversations.page, space, limit=_AT_ONCE))


def _line(turn: Turn, memories: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "uid": turn.uid,
        "conversation_id": turn.conversation_id,
        "role": turn.role.value,
        "content": turn.content,
        "actor": turn.actor,
        "at": iso(turn.at),
        "recorded_at": iso(turn.recorded_at),
        "metadata": dict(turn.metadata),
        "message_id": turn.message_id,
        "native": None if turn.native is None else dict(turn.native),
        **({"forgotten": turn.digest} if turn.is_forgotten else {}),
        "memories": [{"uid": uid, "said_by": said_by} for uid, said_by in memories],
    }


def _loaded(load: Callable[[Any, Space], T], value: Any, space: Space) -> T | InvalidInput:  # noqa: ANN401 - any JSON
    """What a line holds, or what is wrong with it."""
    try:
        return load(value, space)
    except InvalidInput as error:
        return error


def _conversation(value: Any, space: Space) -> Conversation:  # noqa: ANN401 - any JSON
    values = checked(_ConversationLine(), "conversation", value)
    values["id"] = nfc(values["id"])
    _refuse({"conversation.id": long_id_problem(values["id"])})
    for name in ("title", "user"):
        values[name] = one_line(values[name]) if values.get(name) else None
    return Conversation(space=space, **values)


def _turn(value: Any, space: Space) -> KeptTurn:  # noqa: ANN401, ARG001 - any JSON
    values = checked(_TurnLine(), "turn", value)
    conversation_id, memories = nfc(values.pop("conversation_id")), values.pop("memories")
    problems: dict[str, str | None] = {
        f"turn.{name}": texts[0] for name, texts in saying_problems(values).items()
    }
    problems["turn.conversation_id"] = long_id_problem(conversation_id)
    problems["turn.uid"] = None if is_uid(values["uid"]) else "Must be the uid of a turn."
    _refuse(problems)
    return KeptTurn(
        conversation_id=conversation_id,
        saying=normalised(Saying(**values)),
        memories=[(each["uid"], each["said_by"]) for each in memories],
    )


def _refuse(problems: Mapping[str, str | None]) -> None:
    if found := {path: [problem] for path, problem in problems.items() if problem}:
        raise InvalidInput(found)


def _written(
    loaded: Sequence[T | InvalidInput],
    operation_of: Callable[[Sequence[T]], Operation[Any, Outcomes]],
    gateway: Gateway,
    caller: Caller,
) -> list[str | GraphmemError]:
    """Write what was loaded in one operation, or where one of it is refused, each alone."""
    good = [each for each in loaded if not isinstance(each, InvalidInput)]
    outcomes = iter(_outcomes(good, operation_of, gateway, caller))
    return [each if isinstance(each, InvalidInput) else next(outcomes) for each in loaded]


def _outcomes(
    good: Sequence[T],
    operation_of: Callable[[Sequence[T]], Operation[Any, Outcomes]],
    gateway: Gateway,
    caller: Caller,
) -> Outcomes:
    if not good:
        return ()
    try:
        return gateway.execute(operation_of(good), caller).answer
    except PolicyRefused as error:
        if len(good) == 1:
            return (error,)
        each = (_outcomes([one], operation_of, gateway, caller) for one in good)
        return tuple(outcome for (outcome,) in each)
