"""Feedback: whether a memory that came back from a recall was useful, and what that counts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.model.conversation import conversation_key
from graphmem.model.memory import memory_key
from graphmem.model.space import Space

NOTE_MAX_CHARS = 200
NOTES_MAX = 20  # of one memory, the newest


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackCounts:
    """How often a memory was useful and was not, and how often it is a negative example."""

    feedback_up: int = 0
    feedback_down: int = 0
    negative_hits: int = 0

    def __add__(self, other: "FeedbackCounts") -> "FeedbackCounts":
        """The counts of both."""
        return FeedbackCounts(
            feedback_up=self.feedback_up + other.feedback_up,
            feedback_down=self.feedback_down + other.feedback_down,
            negative_hits=self.negative_hits + other.negative_hits,
        )

    def __sub__(self, other: "FeedbackCounts") -> "FeedbackCounts":
        """These counts without others."""
        return FeedbackCounts(
            feedback_up=self.feedback_up - other.feedback_up,
            feedback_down=self.feedback_down - other.feedback_down,
            negative_hits=self.negative_hits - other.negative_hits,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Feedback:
    """Whether a memory of a space was useful when a recall gave it, with a note why.

    ``is_vote`` and ``is_example`` say which counts of the memory took it in: that of ups and downs,
    and that of negative examples, which only take in what was not useful.
    """

    space: Space
    recall: str  # the uid of its trace
    memory: str  # its uid
    useful: bool
    at: datetime
    note: str | None = None
    is_vote: bool
    is_example: bool

    @property
    def key(self) -> str:
        """The unique key of the node: one for each recall and memory."""
        return f"{self.space.key}|{self.recall}|{self.memory}"

    @property
    def memory_key(self) -> str:
        """The key of the memory."""
        return memory_key(self.space, self.memory)

    @property
    def counts(self) -> FeedbackCounts:
        """What the memory counts of it."""
        return FeedbackCounts(
            feedback_up=int(self.is_vote and self.useful),
            feedback_down=int(self.is_vote and not self.useful),
            negative_hits=int(self.is_example and not self.useful),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LastRecall:
    """What the last recall of a session gave. Of its query only a hash is kept."""

    space: Space
    session: str
    recall: str  # the uid of its trace
    memories: Sequence[str]  # keys, in the order of the result
    query_hash: str
    at: datetime

    @property
    def key(self) -> str:
        """The unique key of the node: a session has one."""
        return conversation_key(self.space, self.session)


def query_hash(query: str) -> str:
    """The SHA-256 of a query."""
    return hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()
