"""Relations: how one entity stands to another, and which memories say so."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from graphmem.model.entity import EntityRef

LABEL_MAX_CHARS = 64
MEMORIES_MAX = 1_000  # that a relation rests on


class Direction(StrEnum):
    """Which relations of an entity are meant: those that start at it, end at it, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A relation between two entities of an owner, whose space ``space`` is, by key.

    It holds from ``since`` until ``until``, where these are known, and while one of its memories
    does, which are named by their keys. ``by_hand`` are the spaces, by key, in which somebody
    posted it without a memory: there it holds until it is deleted.
    """

    uid: str
    space: str
    start: EntityRef
    end: EntityRef
    label: str
    created_at: datetime
    weight: float = 1.0
    since: datetime | None = None
    until: datetime | None = None
    memories: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()

    def overlaps(self, since: datetime | None, until: datetime | None) -> bool:
        """Whether its time and another one overlap or touch."""
        ends_before = self.until is not None and since is not None and self.until < since
        begins_behind = self.since is not None and until is not None and until < self.since
        return not (ends_before or begins_behind)


def widened(relation: Relation, since: datetime | None, until: datetime | None) -> Relation:
    """A relation that was said again (design, The same again).

    An unknown bound is filled in, a known one widened; but it still holds when it was first said.
    """
    said = relation.created_at
    if relation.since is not None:
        since = min(relation.since, since or relation.since)
    elif since is not None and since > said:
        since = None
    if relation.until is not None:
        until = max(relation.until, until or relation.until)
    elif until is not None and until <= said:
        until = None
    return replace(relation, since=since, until=until)
