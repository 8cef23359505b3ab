"""Judge: what an engine says of a message, before filters, and which messages it reads. Pure.

Only the present message is judged; the window helps to understand it (001, Shadow Judge).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from graphmem.model.companion import Message
from graphmem.model.extraction import EngineName
from graphmem.model.policy.companion import JudgePolicy
from graphmem.text.normalise import nfc

_ENDS = " .,!?;:"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedMemory:
    """A memory as an engine states it. Nothing in it is trusted until the filters have seen it."""

    type: str
    content: str
    subtype: Mapping[str, object] = field(default_factory=dict)
    entity_refs: tuple[object, ...] = ()
    entity_label: object = None
    importance: object = None
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedLoop:
    """An open loop as an engine states it; ``dedupe_key`` says the same of a paraphrase."""

    kind: str
    content: str
    dedupe_key: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """All that an engine says of a message, in the order in which it was said."""

    memories: tuple[JudgedMemory, ...] = ()
    loops: tuple[JudgedLoop, ...] = ()
    engine: EngineName = EngineName.RULES
    degraded: tuple[str, ...] = ()


def window_of(
    messages: Sequence[Message], present: Message, policy: JudgePolicy
) -> tuple[Message, ...]:
    """What an engine reads: the present message and a few that the user said before it.

    Of the latest ones of some minutes the newest stay that say different things, oldest first.
    What assistants say is never read.
    """
    since = present.at - timedelta(minutes=policy.window_minutes)
    said = (each for each in messages if each.is_user and each.uid != present.uid)
    recent = sorted(
        (each for each in said if since <= each.at <= present.at), key=lambda each: each.at
    )
    latest = recent[::-1][: policy.window_messages]
    return tuple(_different((present, *latest))[: policy.window_read][::-1])


def _different(messages: Iterable[Message]) -> list[Message]:
    """The first message of each normal form."""
    found: dict[str, Message] = {}
    for message in messages:
        found.setdefault(normalised_content(message.content), message)
    return list(found.values())


def normalised_content(text: str) -> str:
    """The form in which two contents say the same: case, layout and last signs do not count."""
    bare = " ".join(nfc(text).lower().split())
    return bare.rstrip(_ENDS) or bare
