"""Conversations: what was said, word for word, in the order in which it arrived."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.model.space import Space

ID_MAX_CHARS = 256  # of a new conversation or message; memories brought longer ones
TURN_MAX_CHARS = 1_000_000
TURNS_SHOWN = 32  # of a memory, the newest


class TurnRole(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A conversation of a space. ``turns`` counts those that are not taken back.

    ``numbered`` is the number of its last turn. It is there since ``created_at``; None: nobody
    said anything in it, or all of it was deleted.
    """

    id: str
    space: Space
    title: str | None = None
    user: str | None = None
    kept_by: str | None = None  # the room whose calls alone write in it
    created_at: datetime | None = None
    updated_at: datetime | None = None
    turns: int = 0
    numbered: int = 0

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|id``."""
        return conversation_key(self.space, self.id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saying:
    """What was said and is to be kept as a turn; ``at`` None: now.

    ``uid`` is what its turn is called. ``recorded_at`` is given where another system kept it.
    """

    uid: str
    role: TurnRole
    content: str
    actor: str | None = None
    at: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    message_id: str | None = None
    native: Mapping[str, object] | None = None
    recorded_at: datetime | None = None
    forgotten: str | None = None  # the digest of words that were kept for some time only

    @property
    def digest(self) -> str:
        """What stands for its words, also for those that are forgotten."""
        return self.forgotten or words_digest(self.content)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What somebody said in a conversation, byte for byte.

    Where only its head was read, its content is empty, but not its digest.

    ``number`` is its place in the order of arrival, ``message_id`` what its caller calls it within
    the conversation. ``memories`` are the uids of what is remembered of it.
    """

    uid: str
    space: Space
    conversation_id: str
    number: int
    role: TurnRole
    content: str
    digest: str  # of its content
    at: datetime
    recorded_at: datetime
    changed_at: datetime  # since when it has these words
    actor: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    message_id: str | None = None
    native: Mapping[str, object] | None = None
    version: int = 1
    is_retracted: bool = False
    is_forgotten: bool = False  # its words were to be kept for some time only
    memories: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return turn_key(self.space, self.uid)

    @property
    def conversation_key(self) -> str:
        """The key of its conversation."""
        return conversation_key(self.space, self.conversation_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnVersion:
    """Words that a turn once had, and how long."""

    content: str
    recorded_from: datetime
    recorded_until: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class FromTurn:
    """That a memory is of a turn: their keys, and the name of the memory's source that said it.

    ``words`` stands for what the memory said then.
    """

    memory: str
    turn: str
    said_by: str
    words: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnChanges:
    """What a write does to conversations, as data. All are given in their final form.

    ``reworded`` are pairs of a turn before and after; of a popped turn the message id is free.
    """

    conversations: tuple[Conversation, ...] = ()
    created: tuple[Turn, ...] = ()
    reworded: tuple[tuple[Turn, Turn], ...] = ()
    retracted: tuple[Turn, ...] = ()
    links: tuple[FromTurn, ...] = ()
    unlinked: tuple[FromTurn, ...] = ()
    # memories, each with the name of a source that left it
    left_sources: frozenset[tuple[str, str]] = frozenset()
    # memories, each with what stands for words of it that were taken back
    taken_words: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changes."""
        return any((self.conversations, self.reworded, self.links, self.unlinked))


def words_digest(content: str) -> str:
    """What stands for the exact words of a turn."""
    return hashlib.sha256(content.encode()).hexdigest()


def conversation_key(space: Space, conversation_id: str) -> str:
    """The unique key of a conversation: its id counts only within its space."""
    return f"{space.key}|{conversation_id}"


def turn_key(space: Space, uid: str) -> str:
    """The unique key of a turn: its uid counts only within its space."""
    return f"{space.key}|{uid}"
