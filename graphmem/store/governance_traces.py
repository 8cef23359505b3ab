"""Traces of governed calls: packed, since each tells the whole of its items, and led to these."""

import json
import zlib
from datetime import datetime
from typing import Any

from graphmem.model.job import Run
from graphmem.model.page import Cursor, Page
from graphmem.model.trace import TraceRecord
from graphmem.store.connection import Connection
from graphmem.store.forgetting import Forgetting
from graphmem.store.mapping import trace_from_node

_FIRST_TIME = "0001-01-01T00:00:00+00:00"


def packed_trace(trace: TraceRecord) -> dict[str, Any]:
    """The properties of the trace of a call but its times."""
    events = json.dumps(list(trace.events), ensure_ascii=False, separators=(",", ":"))
    return {
        "uid": trace.uid,
        "kind": trace.kind,
        "tenant": trace.tenant,
        "spaces": list(trace.spaces),
        "key_id": trace.key_id,
        "packed": zlib.compress(events.encode()),
        "request": json.dumps(dict(trace.request), ensure_ascii=False, sort_keys=True),
    }


class GovernedTraces:
    """Reads the traces of items, and forgets those whose time has passed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_item(self, key: str, after: Cursor | None, *, limit: int) -> Page[TraceRecord]:
        """One page of the traces that tell of an item, the oldest first."""
        time, uid = after or (_FIRST_TIME, "")
        rows = self._connection.fetch(
            "governance.traces_of",
            space_key=key,
            cursor_time=datetime.fromisoformat(str(time)),
            cursor_key=uid,
            limit=limit + 1,
        )
        (counted,) = self._connection.fetch("governance.count_traces_of", space_key=key)
        traces = [trace_from_node(row["t"]) for row in rows]
        last = traces[limit - 1] if len(traces) > limit else None
        return Page(
            items=tuple(traces[:limit]),
            total=counted["total"],
            next=(last.created_at.isoformat(), last.uid) if last else None,
        )

    def forget(self, before: datetime, run: Run) -> int:
        """Forget those whose own time lies before another; says how many."""
        forgetting = Forgetting(connection=self._connection, run=run)
        return forgetting.older(
            "governance.forget_traces", "governance.count_old_traces", before=before
        )
