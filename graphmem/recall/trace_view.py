"""Trace view: a trace as callers and the command line see it. Pure."""

from collections.abc import Sequence
from typing import Any

from graphmem.model.space import space_from_key
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.text.times import iso


def trace_view(found: TraceRecord, events: Sequence[Any]) -> dict[str, Any]:
    """A trace as it is shown; ``events`` are its own, or what its room makes of them."""
    names = [space_from_key(key).name for key in found.spaces]
    return {
        "trace_id": found.uid,
        "kind": found.kind,
        "created_at": iso(found.created_at),
        "spaces": names,
        "key_id": found.key_id,
        "query": found.query,
        "request": dict(found.request),
        "events": _candidates(found, names) if found.kind == TraceKind.RECALL else list(events),
    }


def _candidates(found: TraceRecord, names: Sequence[str]) -> list[dict[str, Any]]:
    """The candidates of a recall in their order."""
    returned: Any = found.request.get("returned", 0)
    candidates: Sequence[Any] = found.events
    return [
        {
            "uid": uid,
            "space": names[space],
            "rank": rank,
            "score": score,
            "returned": rank <= returned,
        }
        for rank, (space, uid, score) in enumerate(candidates, start=1)
    ]
