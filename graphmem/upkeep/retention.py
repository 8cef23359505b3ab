"""Retention: traces are kept for some days."""

from collections.abc import Mapping
from datetime import timedelta

from graphmem.ports import Clock
from graphmem.store.traces import Traces


class TraceRetention:
    """Forgets traces older than some days."""

    def __init__(self, traces: Traces, *, clock: Clock, keep_days: int) -> None:
        self._traces = traces
        self._clock = clock
        self._keep = timedelta(days=keep_days)

    def run(self, *, dry_run: bool = False, space_key: str = "") -> Mapping[str, int]:  # noqa: ARG002 - traces span spaces
        """One pass; says how many traces were forgotten."""
        return {"forgotten": self._traces.forget(self._clock.now() - self._keep, dry_run=dry_run)}
