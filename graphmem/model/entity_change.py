"""Changes of entities: two become one, or one becomes two; each can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ChangeKind(StrEnum):
    """What became of an entity."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityState:
    """An entity as a change finds it."""

    key: str  # within its space: person:john_doe
    label: str
    aliases: tuple[str, ...]
    mentions: int
    is_merged: bool = False
    is_declared: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityChange:
    """A merge or split, what it rests on, and whether it was undone.

    ``space`` is a key without persona.
    """

    uid: str
    kind: ChangeKind
    space: str
    from_key: str
    into_key: str
    evidence: Mapping[str, object]
    moved: int
    created_at: datetime
    key_id: str
    into_is_new: bool = False
    aliases_before: Sequence[str] = ()
    aliases: Sequence[str] | None = None  # what a merge makes of the names of the other one
    undone_at: datetime | None = None
