"""Recalled: a memory as far as a context tells of it."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.memory import Memory
from graphmem.recall.candidates import Candidate


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """A memory that a context may tell: what it says, and when that was said or stored."""

    key: str
    content: str
    said_at: datetime
    is_episode: bool = False

    @property
    def space_key(self) -> str:
        """The key of the space that it belongs to."""
        return self.key.partition("|")[0]


def recalled_from_candidate(candidate: Candidate) -> Recalled:
    """What a recall found."""
    return Recalled(
        key=candidate.key,
        content=candidate.content,
        said_at=candidate.said_at or candidate.updated_at,
        is_episode=candidate.is_episode,
    )


def recalled_from_memory(memory: Memory) -> Recalled:
    """A memory that was read whole."""
    return Recalled(
        key=memory.key,
        content=memory.content,
        said_at=memory.occurred_at or memory.created_at,
        is_episode=memory.is_episode,
    )
