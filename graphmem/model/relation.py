"""Relations: how one entity stands to another, and which memories say so."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from graphmem.model.entity import EntityRef
from graphmem.model.space import Space

LABEL_MAX_CHARS = 64
MEMORIES_MAX = 1_000  # that a relation rests on


class Direction(StrEnum):
    """Which relations of an entity are meant: those that start at it, end at it, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A relation of a space between two entities of its owner.

    It holds from ``since`` until ``until``, where these are known, and while one of its memories
    does, which are named by their uids; or until it is deleted, where somebody posted it
    ``by_hand``, without one.
    """

    uid: str
    space: Space
    start: EntityRef
    end: EntityRef
    label: str
    created_at: datetime
    weight: float = 1.0
    since: datetime | None = None
    until: datetime | None = None
    memories: tuple[str, ...] = ()
    by_hand: bool = False

    @property
    def key(self) -> str:
        """The unique key of the relation: its uid counts only within its space."""
        return relation_key(self.space, self.uid)

    def overlaps(self, since: datetime | None, until: datetime | None) -> bool:
        """Whether its time and another one overlap or touch."""
        ends_before = self.until is not None and since is not None and self.until < since
        begins_behind = self.since is not None and until is not None and until < self.since
        return not (ends_before or begins_behind)


def relation_key(space: Space, uid: str) -> str:
    """The unique key of a relation."""
    return f"{space.key}|{uid}"


def said_again(relation: Relation, other: Relation) -> Relation:
    """A relation that a request says again, which takes on what that rests on.

    A bound that is unknown is filled in, a known one widened; the larger weight counts.
    """
    begins = [each.since for each in (relation, other) if each.since]
    ends = [each.until for each in (relation, other) if each.until]
    return replace(
        _carried(relation, other),
        since=min(begins, default=None),
        until=max(ends, default=None),
    )


def joined(relation: Relation, other: Relation) -> Relation:
    """Two relations as one: what is open on one side stays so."""
    is_open = relation.since is None or other.since is None
    has_no_end = relation.until is None or other.until is None
    return replace(
        _carried(relation, other),
        since=None if is_open else min(filter(None, (relation.since, other.since))),
        until=None if has_no_end else max(filter(None, (relation.until, other.until))),
    )


def _carried(relation: Relation, other: Relation) -> Relation:
    return replace(
        relation,
        weight=max(relation.weight, other.weight),
        memories=tuple(dict.fromkeys((*relation.memories, *other.memories))),
        by_hand=relation.by_hand or other.by_hand,
    )
