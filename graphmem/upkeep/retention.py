"""Retention: traces, bulletins and records of runs are kept for some days, and so are the files of bulletins."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from graphmem.adapters.workspaces import Workspaces
from graphmem.model.job import Run
from graphmem.ports import Clock
from graphmem.store.bulletins import Bulletins
from graphmem.store.job_runs import JobRuns
from graphmem.store.traces import Traces


class Retention:
    """Forgets traces, bulletins and records of runs older than some days."""

    def __init__(
        self,
        traces: Traces,
        runs: JobRuns,
        bulletins: Bulletins,
        *,
        workspaces: Workspaces,
        clock: Clock,
        keep_days: int,
    ) -> None:
        self._traces = traces
        self._runs = runs
        self._bulletins = bulletins
        self._workspaces = workspaces
        self._clock = clock
        self._keep = timedelta(days=keep_days)

    def run(self, run: Run) -> None:
        """One pass over all traces; they span spaces, so there is none for a single one."""
        before = self._clock.now() - self._keep
        run.counts["forgotten"] = self._traces.forget(before, dry_run=run.dry_run)
        run.counts["bulletins_forgotten"] = self._bulletins.forget(before, dry_run=run.dry_run)
        run.counts["runs_forgotten"] = self._runs.forget(before, dry_run=run.dry_run)
        run.counts["files_forgotten"] = 0
        for path in self._old_files(before):
            if not run.dry_run:
                path.unlink(missing_ok=True)
            run.counts["files_forgotten"] += 1

    def _old_files(self, before: datetime) -> Iterator[Path]:
        """The files of bulletins and investigations from before a time."""
        for space in self._workspaces.present():
            workspace = self._workspaces.of(space)
            for folder in (workspace.bulletins, workspace.diagnostics):
                yield from (
                    path
                    for path in folder.glob("*.json")
                    if path.stat().st_mtime < before.timestamp()
                )
