"""Edges: typed, weighted relations between two memories of one space."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EdgeType(StrEnum):
    """The five types of 002; the values are the relationship types in the graph."""

    UPDATES = "UPDATES"
    CONTRADICTS = "CONTRADICTS"
    RELATED_TO = "RELATED_TO"
    CAUSED_BY = "CAUSED_BY"
    PART_OF = "PART_OF"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """An edge between two memories; one per (from, type, to). ``weight`` is 0 to 1."""

    uid: str
    from_uid: str
    to_uid: str
    type: EdgeType
    weight: float
    created_at: datetime
    reason: str | None = None
    link_type: str | None = None
