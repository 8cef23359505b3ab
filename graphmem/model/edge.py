"""Edges: typed, weighted relations between two memories of one space."""

import hashlib
import re
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


class LineageType(StrEnum):
    """Where a memory was made from; drawn by upkeep, never by callers."""

    FOLDED_FROM = "FOLDED_FROM"
    PROMOTED_FROM = "PROMOTED_FROM"
    SUMMARY_OF = "SUMMARY_OF"


def edge_type(name: str) -> EdgeType:
    """The type of a name, also in the camel-case form of 002: RELATED_TO, RelatedTo, relatedTo.

    Raises:
        ValueError: there is no such type.
    """
    wanted = name.replace("_", "").upper()
    for known in EdgeType:
        if known.replace("_", "") == wanted:
            return known
    msg = f"Must be one of {', '.join(EdgeType)}."
    raise ValueError(msg)


def edge_uid(from_key: str, edge_type: EdgeType | LineageType, to_key: str) -> str:
    """The uid of an edge whose caller gave none: the same ends and type always give the same."""
    digest = hashlib.sha256(f"{from_key}|{edge_type}|{to_key}".encode()).hexdigest()
    return f"e-{digest[:24]}"


def is_made_edge_uid(uid: str) -> bool:
    """Whether edge_uid made it, which counts only between memories of that space."""
    return re.fullmatch(r"e-[0-9a-f]{24}", uid) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """An edge between two memories; ``weight`` is 0 to 1. Its uid is unique in their space."""

    uid: str
    from_uid: str
    to_uid: str
    type: EdgeType | LineageType
    weight: float
    created_at: datetime
    reason: str | None = None
    link_type: str | None = None
