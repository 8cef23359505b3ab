"""Traces: keeping them, reading them, and writing those of recalls behind the answers."""

import atexit
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.errors import StoreUnavailable
from graphmem.model.trace import TraceKind, TraceRecord, of_the_result
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import trace_from_node
from graphmem.text.secrets import without_secrets

log = logging.getLogger(__name__)

_FLUSH_SECONDS = 0.5  # how much a crash may lose
_BUFFERED_MAX = 5_000  # while the database is away; the oldest are dropped first
_BATCH = 500


def save_trace(transaction: Transaction, trace: TraceRecord) -> None:
    """Keep the trace of a write within its transaction."""
    save_traces(transaction, [trace])


def save_traces(transaction: Transaction, traces: Sequence[TraceRecord]) -> None:
    """Keep the traces of several writes within their one transaction."""
    transaction.run("traces.save_many", traces=[_values(trace) for trace in traces])


class Traces:
    """Reads traces, and keeps those of what changed nothing else."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_uid(self, tenant: str, uid: str) -> TraceRecord | None:
        """One trace of a tenant."""
        rows = self._connection.fetch("traces.by_uid", tenant=tenant, uid=uid)
        return trace_from_node(rows[0]["t"]) if rows else None

    def save(self, trace: TraceRecord) -> None:
        """Keep the trace of what changed nothing else."""
        self._connection.write(lambda transaction: save_trace(transaction, trace))


class Journal:
    """Recalls that are still to be written down: a thread writes them behind, twice a second.

    It writes at once when the counts of more than ``counts_most`` memories wait. A clean stop loses
    none; a crash at most the last half second. Of the recalls of one second the first
    ``whole_per_second`` are kept with their candidates, the others with their results alone.
    """

    def __init__(self, connection: Connection, *, whole_per_second: int, counts_most: int) -> None:
        self._connection = connection
        self._counts_most = counts_most
        self._whole_per_second = whole_per_second
        self._second, self._in_second = 0, 0
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._is_due = threading.Event()  # to write before the next half second is over
        self._thread: threading.Thread | None = None
        self._traces: list[TraceRecord] = []
        self._counts: dict[str, int] = defaultdict(int)
        self._last: dict[str, datetime] = {}

    def _begun(self) -> threading.Thread:
        thread = threading.Thread(target=self._write_behind, name="journal", daemon=True)
        thread.start()
        atexit.register(self.close)
        return thread

    def remember(self, trace: TraceRecord, recalled: Sequence[str]) -> None:
        """Note a recall and the keys of the memories that came back."""
        with self._lock:
            self._traces.append(trace if self._is_whole(trace.created_at) else of_the_result(trace))
            if dropped := self._traces[:-_BUFFERED_MAX]:
                log.warning(
                    "%d traces of recalls were dropped: the database does not take them",
                    len(dropped),
                )
                del self._traces[: len(dropped)]
            for key in recalled:
                self._counts[key] += 1
                self._last[key] = trace.created_at
            if len(self._counts) > self._counts_most:
                self._is_due.set()
            if self._thread is None and not self._stop.is_set():
                self._thread = self._begun()

    def _is_whole(self, at: datetime) -> bool:
        """Whether a recall is among the first of its second."""
        second = int(at.timestamp())
        is_new = second > self._second  # recalls end in another order than they begin
        self._in_second = 1 if is_new else self._in_second + 1
        self._second = max(second, self._second)
        return self._in_second <= self._whole_per_second

    def flush(self) -> None:
        """Write down what was noted; what the database does not take is kept for the next time.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        with self._writing:
            with self._lock:
                traces, counts, last = self._traces, self._counts, self._last
                self._traces, self._counts, self._last = [], defaultdict(int), {}
            try:
                self._save(traces, counts, last)
            except StoreUnavailable:
                with self._lock:
                    self._traces = [*traces, *self._traces][-_BUFFERED_MAX:]
                    for key, count in counts.items():
                        self._counts[key] += count
                        self._last.setdefault(key, last[key])
                raise

    def close(self) -> None:
        """Write down the rest and stop."""
        self._stop.set()
        self._is_due.set()
        atexit.unregister(self.close)
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)
        try:
            self.flush()
        except StoreUnavailable:
            log.warning(
                "traces and counts of the last recalls are lost: the database does not answer"
            )

    def _write_behind(self) -> None:
        while not self._stop.is_set():
            self._is_due.wait(_FLUSH_SECONDS)
            self._is_due.clear()
            try:
                self.flush()
            except StoreUnavailable:
                log.warning("traces of recalls wait for the database")
            except Exception:
                log.exception("traces of recalls could not be written")

    def _save(
        self, traces: Sequence[TraceRecord], counts: Mapping[str, int], last: Mapping[str, datetime]
    ) -> None:
        keys = sorted(counts)
        if not traces and not keys:
            return

        def work(transaction: Transaction) -> None:
            for start in range(0, len(traces), _BATCH):
                save_traces(transaction, traces[start : start + _BATCH])
            for start in range(0, len(keys), _BATCH):
                rows = [
                    {"key": key, "count": counts[key], "at": last[key]}
                    for key in keys[start : start + _BATCH]
                ]
                transaction.run("traces.count_recalls", space_rows=rows)

        self._connection.write(work)


def _values(trace: TraceRecord) -> dict[str, Any]:
    """The properties of a trace; no text in it holds a secret. A recall has uids as its events."""
    events = trace.events if trace.kind == TraceKind.RECALL else without_secrets(trace.events)
    request = without_secrets(trace.request)
    return {
        "uid": trace.uid,
        "kind": trace.kind,
        "tenant": trace.tenant,
        "spaces": list(trace.spaces),
        "key_id": trace.key_id,
        "created_at": trace.created_at.isoformat(),  # as text: quicker to send
        "events": json.dumps(list(events), ensure_ascii=False, separators=(",", ":")),
        "query": trace.query,
        "request": json.dumps(request, ensure_ascii=False, sort_keys=True) if request else None,
    }
