"""Notebook: what the lifecycle keeps of a space beside its memories (003).

Boxes of memories that were told together, topic traces that join boxes over days, words as they
were said, lines of a profile, reflections, and questions that are worth asking.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from graphmem.model.space import Space


class SealReason(StrEnum):
    """Why a box was sealed."""

    TOPIC_SHIFT = "topic_shift"
    TIME_GAP = "time_gap"
    MAX_MEMORIES = "max_memories"
    FORCED = "forced"
    FLUSH = "flush"


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A memory in a box, by uid, and the topics that it brought."""

    memory: str
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """Memories of a space that were told one after the other, by when that was said.

    ``session`` is the one that began it, ``last_at`` when something was last put in, ``kept_at``
    when that was by the clock. One that is sealed never changes.
    """

    uid: str
    space: Space
    session: str
    created_at: datetime
    last_at: datetime
    kept_at: datetime
    members: tuple[Member, ...] = ()
    topics: tuple[str, ...] = ()
    sealed_at: datetime | None = None
    seal_reason: SealReason | None = None
    trace: str | None = None  # id of its topic trace

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return notebook_key(self.space, self.uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuietBox:
    """The open box of a space: when it was last told, and last put in."""

    space: Space
    last_at: datetime
    kept_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicTrace:
    """A thread of topics through boxes, by when these were told. ``boxes`` are uids."""

    uid: str
    space: Space
    topics: tuple[str, ...]
    first_at: datetime
    last_at: datetime
    boxes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return notebook_key(self.space, self.uid)


class ArtefactType(StrEnum):
    """What words were kept as they were said for."""

    DECISION = "decision"
    CORRECTION = "correction"
    COMMITMENT = "commitment"
    CONSTRAINT = "constraint"
    FACT = "fact"


@dataclass(frozen=True, kw_only=True, slots=True)
class Artefact:
    """The words of a turn that a memory rests on, as they were said."""

    uid: str
    space: Space
    memory: str  # uid
    turn: str  # uid
    type: ArtefactType
    text: str
    noted_at: datetime

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return notebook_key(self.space, self.uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileLine:
    """One line of the profile of a space, with the uids of the memories that it rests on.

    ``importance`` is 0 to 100. ``extraction`` is the uid of the one whose model worded it; a line
    without is what its memory says now. One that was dropped is kept, but not shown.
    """

    uid: str
    space: Space
    text: str
    memories: tuple[str, ...]
    importance: int
    noted_at: datetime
    extraction: str | None = None
    dropped_at: datetime | None = None

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return notebook_key(self.space, self.uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reflection:
    """What was learned of one's own part in a space, in words of a model or of a caller."""

    uid: str
    space: Space
    text: str
    noted_at: datetime
    extraction: str | None = None  # uid of the one whose model said it
    dropped_at: datetime | None = None

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return notebook_key(self.space, self.uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class NotedQuestion:
    """What is worth asking, with the uids of the memories that it is about; priority is 0 to 1.

    ``extraction`` is the uid of the one whose model asks; without, rules ask whether a memory
    holds. ``resolved_by`` is the uid of the extraction that resolved it, or empty for a caller.
    """

    uid: str
    space: Space
    question: str
    priority: float
    memories: tuple[str, ...]
    noted_at: datetime
    context: str = ""
    extraction: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    answer: str | None = None

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return notebook_key(self.space, self.uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownEntity:
    """An entity of a space: what is known of it, and the memory that is told of it.

    ``memory`` is the uid of the weightiest active one, ``content`` what it says, ``version`` its
    version; ``last_at`` is when the newest was stored.
    """

    key: str
    label: str
    facts: int
    activities: int
    relations: int
    last_at: datetime
    memory: str
    content: str
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookLine:
    """A line, and the uids of the memories that it rests on."""

    text: str
    uids: tuple[str, ...] = ()


def notebook_key(space: Space, uid: str) -> str:
    """The unique key of a record: its uid counts only within its space."""
    return f"{space.key}|{uid}"
