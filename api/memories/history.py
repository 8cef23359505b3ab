"""Histories in answers."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from marshmallow import Schema, fields

from api.edges.schemas import EdgeAnswer, edge_view
from api.memories.schemas import MemoryAnswer, memory_view
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField
from graphmem.model.caller import Caller
from graphmem.model.edge import Edge, EdgeType, LineageType
from graphmem.model.memory import Memory
from graphmem.model.space import Space, SpaceKind
from graphmem.store.history import History
from graphmem.text.times import iso

_BOOKKEEPING = {
    "version",
    "updated_at",
    "mention_count",
    "recall_count",
    "last_recalled_at",
    "embedded",
    "status_at",
    "sources",  # are of the memory, not of a version
    "sources_total",
    "turns",
}


class MemoryVersion(Schema):
    """A version of a memory: when it was in force, and what it changed."""

    version = fields.Integer()
    recorded_from = fields.DateTime()
    recorded_until = fields.DateTime(
        allow_none=True, metadata={"description": "null for the present version"}
    )
    changes = fields.Dict(
        keys=fields.String(),
        values=fields.Dict(),
        metadata={
            "description": (
                "field → {from, to}; null where the version before is on the next page or was none"
            )
        },
        allow_none=True,
    )
    memory = fields.Nested(MemoryAnswer)


class LineageAnswer(EdgeAnswer):
    """An edge of a lineage; folds and promotions may lead to another space."""

    space = fields.String(metadata={"description": "The space of the other end"})


class HistoryQuery(PageQuery):
    """A page of the history of a memory."""

    space = SpaceField(load_default=None)


class HistoryAnswer(page_of(MemoryVersion, "Versions", "")):  # type: ignore[misc]
    """The versions of a memory, newest first, and its lineage."""

    lineage = fields.List(fields.Nested(LineageAnswer))


def memory_versions(
    memory: Memory, history: History, *, begins: bool
) -> tuple[dict[str, Any], ...]:
    """A page of the versions of a memory; the first one begins with the present version."""
    versions: list[tuple[Memory, datetime | None]] = [(memory, None)] if begins else []
    versions += [(revision.memory, revision.replaced_at) for revision in history.revisions]
    last = versions[-1][0]
    earlier = [*versions[1:], (None, last.updated_at if history.has_more else last.created_at)]
    return tuple(
        _version(version, before, start, until)
        for (version, until), (before, start) in zip(versions, earlier, strict=True)
    )


def _version(
    memory: Memory, before: Memory | None, start: datetime | None, until: datetime | None
) -> dict[str, Any]:
    return {
        "version": memory.version,
        "recorded_from": iso(start),
        "recorded_until": iso(until),
        "changes": _changes(before, memory) if before else None,
        "memory": memory_view(memory),
    }


def lineage_view(history: History, caller: Caller) -> list[dict[str, Any]]:
    """The lineage as far as it lies in spaces that a caller may see."""
    return [
        edge_view(_as_typed(each.edge, each.space)) | {"space": each.space.name}
        for each in history.lineage
        if caller.may_see(each.space)
    ]


def _as_typed(edge: Edge, space: Space) -> Edge:
    """A fold as a typed graph knows it: its members are PART_OF it (002)."""
    is_typed = space.kind is SpaceKind.ORCHESTRATOR
    if not (is_typed and edge.type is LineageType.FOLDED_FROM):
        return edge
    return replace(edge, type=EdgeType.PART_OF, from_uid=edge.to_uid, to_uid=edge.from_uid)


def _changes(earlier: Memory, later: Memory) -> dict[str, Any]:
    old, new = memory_view(earlier), memory_view(later)
    return {
        name: {"from": old[name], "to": new[name]}
        for name in new
        if name not in _BOOKKEEPING and old[name] != new[name]
    }
