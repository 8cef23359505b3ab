"""What a data set consists of: cases, each a space of its own with turns and questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

Entry = TypeVar("Entry")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One memory to be stored. ``id`` and ``session`` are for scoring only and are never sent."""

    id: str
    content: str
    actor: str
    occurred_at: datetime
    conversation_id: str
    session: str

    @property
    def text(self) -> str:
        """What the baselines see."""
        return f"{self.actor}: {self.content}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One question and what should be found for it.

    ``kind`` is for reports only and is never sent.
    """

    id: str
    text: str
    kind: str
    gold_turns: frozenset[str] = frozenset()
    gold_sessions: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Case:
    """One space: its turns in order, and the questions to it."""

    name: str
    space: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    sessions: Mapping[str, str] = field(init=False, repr=False)  # turn id → session

    def __post_init__(self) -> None:
        """Know the session of every turn."""
        object.__setattr__(self, "sessions", {turn.id: turn.session for turn in self.turns})


def spread(entries: Sequence[Entry], count: int | None) -> list[Entry]:
    """At most so many entries, evenly from the whole: the sets are sorted by kind."""
    if count is None or count >= len(entries):
        return list(entries)
    return [entries[index * len(entries) // count] for index in range(count)]
