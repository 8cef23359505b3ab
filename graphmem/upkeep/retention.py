"""Retention: traces, bulletins and records of runs are kept for some days."""

from datetime import timedelta

from graphmem.model.job import Run
from graphmem.ports import Clock
from graphmem.store.bulletins import Bulletins
from graphmem.store.job_runs import JobRuns
from graphmem.store.traces import Traces


class Retention:
    """Forgets traces, bulletins and records of runs older than some days."""

    def __init__(self, traces: Traces, runs: JobRuns, bulletins: Bulletins, *, clock: Clock, keep_days: int) -> None:
        self._traces = traces
        self._runs = runs
        self._bulletins = bulletins
        self._clock = clock
        self._keep = timedelta(days=keep_days)

    def run(self, run: Run) -> None:
        """One pass over all traces; they span spaces, so there is none for a single one."""
        before = self._clock.now() - self._keep
        run.counts["forgotten"] = self._traces.forget(before, dry_run=run.dry_run)
        run.counts["bulletins_forgotten"] = self._bulletins.forget(before, dry_run=run.dry_run)
        run.counts["runs_forgotten"] = self._runs.forget(before, dry_run=run.dry_run)
