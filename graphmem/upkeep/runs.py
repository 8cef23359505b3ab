"""Runs: a job works under a lease, so one process at a time does it, and leaves a record of what it did."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graphmem.errors import Conflict, GraphmemError, NotFound
from graphmem.ports import Clock, IdSource
from graphmem.store.connection import Connection
from graphmem.store.job_runs import JobRuns
from graphmem.store.leases import release_lease, take_lease

log = logging.getLogger(__name__)

LEASE_SECONDS = 600.0

JobFunction = Callable[..., Mapping[str, int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class JobReport:
    """What one run did."""

    uid: str
    job: str
    counts: Mapping[str, int]
    error: str | None


class JobRunner:
    """Runs jobs by name."""

    def __init__(
        self,
        connection: Connection,
        *,
        functions: Mapping[str, JobFunction],
        clock: Clock,
        ids: IdSource,
        holder: str,
    ) -> None:
        self._connection = connection
        self._runs = JobRuns(connection)
        self._functions = dict(functions)
        self._clock = clock
        self._ids = ids
        self._holder = holder

    @property
    def names(self) -> tuple[str, ...]:
        """The jobs that there are."""
        return tuple(sorted(self._functions))

    def run(self, job: str, *, dry_run: bool = False, space_key: str = "") -> JobReport:
        """Run a job under its lease and record it; an error is recorded, not raised.

        Raises:
            NotFound: there is no such job.
            Conflict: another process is running it.
        """
        if job not in self._functions:
            msg = f"There is no job of that name; there are {', '.join(self.names)}."
            raise NotFound(msg)
        lease, holder = f"job:{job}", f"{self._holder}:{self._ids.new('lease')}"
        if not take_lease(self._connection, lease, holder=holder, clock=self._clock, seconds=LEASE_SECONDS):
            msg = f"The job {job} is running in another process."
            raise Conflict(msg)
        try:
            return self._recorded(job, dry_run=dry_run, space_key=space_key)
        finally:
            release_lease(self._connection, lease, holder=holder)

    def _recorded(self, job: str, *, dry_run: bool, space_key: str) -> JobReport:
        uid = self._ids.new("run")
        self._runs.start(uid, job=job, dry_run=dry_run, now=self._clock.now())
        counts: Mapping[str, int] = {}
        error: str | None = None
        try:
            counts = self._functions[job](dry_run=dry_run, space_key=space_key)
        except Exception as problem:
            log.exception("job %s failed", job)
            # the text of a driver error may hold a query with its parameters: only our own sentences are kept
            error = problem.message if isinstance(problem, GraphmemError) else type(problem).__name__
        self._runs.finish(uid, now=self._clock.now(), counts=counts, error=error)
        log.info("job %s: %s", job, error or dict(counts))
        return JobReport(uid=uid, job=job, counts=counts, error=error)
