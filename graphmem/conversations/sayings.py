"""Sayings: what is wrong with turns that are to be kept, and what is remembered of them. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from graphmem.gateway.screening import leaves
from graphmem.gateway.validation import NOT_STORABLE, json_problem
from graphmem.intake.splitting import CONTENT_MAX_CHARS, whole_and_parts
from graphmem.model.conversation import ID_MAX_CHARS, TURN_MAX_CHARS, Saying, TurnRole
from graphmem.model.memory import MemoryType
from graphmem.model.policy import WritePolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space
from graphmem.model.writing import Dedupe, WriteRequest
from graphmem.text.normalise import is_storable, nfc, one_line, shows_something, with_layout

TURNS_MAX = 100  # of one call
CALL_MAX_CHARS = 4_000_000  # of the contents of one call together
READ_MAX_CHARS = 32_000  # of a turn that a room reads for what it says
NOT_READABLE = f"Must be 1 to {READ_MAX_CHARS:,} characters that show something."
AHEAD_MAX = timedelta(minutes=5)  # of the own time of a turn that a room reads
TOO_FAR_AHEAD = "Must not be more than 5 minutes ahead."
_METADATA_DEPTH = 100
_WRITE = WritePolicy()
Problems = dict[str, list[str]]


def id_problem(conversation_id: str) -> str | None:
    """What is wrong with the id of a new conversation or message, in NFC."""
    if not is_storable(conversation_id):
        return NOT_STORABLE
    if not 1 <= len(conversation_id) <= ID_MAX_CHARS:
        return f"Must be 1 to {ID_MAX_CHARS} characters, is {len(conversation_id):,}."
    return None if one_line(conversation_id) else "Must show something."


def long_id_problem(conversation_id: str) -> str | None:
    """What is wrong with the id of a conversation that memories may have brought."""
    if not is_storable(conversation_id):
        return NOT_STORABLE
    most = _WRITE.name_max_chars
    return None if 1 <= len(conversation_id) <= most else f"Must be 1 to {most} characters."


def saying_problems(fields: Mapping[str, Any]) -> Problems:
    """What is wrong with one turn, by field; a field that is absent is not checked."""
    checks: Mapping[str, Callable[[Any], str | None]] = {
        "content": _content_problem,
        "actor": _actor_problem,
        "message_id": lambda value: id_problem(nfc(value)),
        "metadata": lambda value: json_problem(
            value, depth=_METADATA_DEPTH, most_bytes=_WRITE.metadata_max_bytes
        ),
    }
    found = {
        name: check(fields[name]) for name, check in checks.items() if fields.get(name) is not None
    }
    return {name: [problem] for name, problem in found.items() if problem}


def reading_problems(fields: Mapping[str, Any]) -> Problems:
    """What is wrong with a turn that a room is to read, by field: it has to be short enough."""
    found = saying_problems(fields)
    content = fields.get("content")
    if content is not None and "content" not in found and not is_readable(content):
        found["content"] = [NOT_READABLE]
    return found


def is_readable(content: str) -> bool:
    """Whether a room may read a turn for what it says."""
    return len(content) <= READ_MAX_CHARS and shows_something(with_layout(content))


def _content_problem(content: str) -> str | None:
    if len(content) > TURN_MAX_CHARS:
        return f"At most {TURN_MAX_CHARS:,} characters, is {len(content):,}."
    return None if is_storable(content) else NOT_STORABLE


def _actor_problem(actor: str) -> str | None:
    most = _WRITE.name_max_chars
    if len(actor) > 4 * most:
        return f"Must be 1 to {most} characters."
    if not is_storable(actor):
        return NOT_STORABLE
    return None if 1 <= len(one_line(actor)) <= most else f"Must be 1 to {most} characters."


def normalised(saying: Saying) -> Saying:
    """A saying with its names in the form that they are kept in; its content stays as it is."""
    return replace(
        saying,
        actor=one_line(saying.actor) if saying.actor else None,
        message_id=nfc(saying.message_id) if saying.message_id else None,
    )


def texts_of(conversation_id: str, sayings: Iterable[Saying]) -> Sequence[str]:
    """All texts that are screened; contents also in the form of memories, where that is another."""
    texts = [conversation_id]
    for saying in sayings:
        formed = with_layout(saying.content)
        texts += [saying.content] if formed in saying.content else [saying.content, formed]
        texts += [text for text in (saying.actor, saying.message_id) if text]
        texts += leaves(dict(saying.metadata))
    return texts


def remembered(space: Space, conversation_id: str, saying: Saying, uid: str) -> list[WriteRequest]:
    """What is remembered of a turn: an observation, several for a long text, none for a blank one.

    ``uid`` is what the first memory is called, if it is a new one.
    """
    if not shows_something(with_layout(saying.content)):
        return []
    is_user = saying.role is TurnRole.USER
    source = Source(
        type=SourceType.CHANNEL_TRANSCRIPT,
        conversation_id=conversation_id,
        captured_by=CapturedBy.USER if is_user else CapturedBy.SYSTEM,
    )

    def request(number: int, text: str) -> WriteRequest:
        return WriteRequest(
            space=space.name,
            content=text,
            type=MemoryType.OBSERVATION,
            actor=saying.actor or saying.role.value,
            dedupe=Dedupe.NONE,
            source=source,
            occurred_at=saying.at,
            said=saying,
            proposed_uid=f"{uid}-{number}" if number else uid,
        )

    content = saying.content
    if len(content) <= CONTENT_MAX_CHARS:
        return [request(0, content)]
    return whole_and_parts("A turn", content, request)
