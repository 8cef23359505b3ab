"""Histories in answers."""

from typing import Any

from marshmallow import Schema, fields

from api.schemas.edges import EdgeAnswer, edge_view
from api.schemas.memories import MemoryAnswer, memory_view
from graphmem.model.memory import Memory
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
}


class MemoryVersion(Schema):
    """One version of a memory, from when until when it was in force, and what made it differ from the one before."""

    version = fields.Integer()
    recorded_from = fields.DateTime()
    recorded_until = fields.DateTime(
        allow_none=True, metadata={"description": "null for the present version"}
    )
    changes = fields.Dict(
        keys=fields.String(),
        values=fields.Dict(),
        metadata={
            "description": "field → {from, to}; null where the version before is on the next page or was none"
        },
        allow_none=True,
    )
    memory = fields.Nested(MemoryAnswer)


class HistoryAnswer(Schema):
    """The versions of a memory, newest first, and its lineage."""

    items = fields.List(fields.Nested(MemoryVersion))
    total = fields.Integer()
    next_cursor = fields.String(allow_none=True)
    lineage = fields.List(fields.Nested(EdgeAnswer))


def history_view(memory: Memory, history: History, *, begins: bool) -> dict[str, Any]:
    """A page of a history; the first one begins with the present version."""
    present = [(memory, None)] if begins else []
    versions = [
        *present,
        *((revision.memory, revision.replaced_at) for revision in history.revisions),
    ]
    before = [version for version, _ in versions[1:]] + [None]
    starts = [until for _, until in versions[1:]]
    is_whole = not history.has_more
    last_start = versions[-1][0].created_at if is_whole else versions[-1][0].updated_at
    return {
        "items": [
            {
                "version": version.version,
                "recorded_from": iso(start),
                "recorded_until": iso(until),
                "changes": _changes(earlier, version) if earlier else None,
                "memory": memory_view(version),
            }
            for (version, until), earlier, start in zip(
                versions, before, [*starts, last_start], strict=True
            )
        ],
        "total": history.total + 1,
        "lineage": [edge_view(edge) for edge in history.lineage],
    }


def _changes(earlier: Memory, later: Memory) -> dict[str, Any]:
    old, new = memory_view(earlier), memory_view(later)
    return {
        name: {"from": old[name], "to": new[name]}
        for name in new
        if name not in _BOOKKEEPING and old[name] != new[name]
    }
