"""JobRuns: the record of what each run of a job did."""

import json
from collections.abc import Mapping
from datetime import datetime

from graphmem.store.connection import Connection
from graphmem.store.mapping import job_run


class JobRuns:
    """Writes and reads the runs of jobs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(self, uid: str, *, job: str, dry_run: bool, now: datetime) -> None:
        """Record that a run began; runs that never ended are marked as abandoned."""
        self._connection.run("jobs.abandon_runs", job=job, now=now)
        self._connection.run("jobs.start_run", uid=uid, job=job, dry_run=dry_run, started_at=now)

    def finish(self, uid: str, *, now: datetime, counts: Mapping[str, int], error: str | None) -> None:
        """Record how a run ended."""
        self._connection.run(
            "jobs.finish_run",
            uid=uid,
            finished_at=now,
            status="failed" if error else "succeeded",
            counts=json.dumps(dict(counts), sort_keys=True),
            error=error,
        )

    def newest(self, job: str, *, limit: int) -> list[Mapping[str, object]]:
        """The newest runs of a job."""
        return [job_run(row["r"]) for row in self._connection.fetch("jobs.runs", job=job, limit=limit)]
