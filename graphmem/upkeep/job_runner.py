"""Runs: a job works under a lease, and leaves a record of what it did."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

from graphmem.errors import Conflict, GraphmemError, InvalidInput, NotFound, StoreUnavailable
from graphmem.model.job import Job, JobState, Run, RunRecord, RunStatus
from graphmem.ports import Clock, IdSource
from graphmem.store.connection import Connection
from graphmem.store.job_runs import JobRuns
from graphmem.store.leases import Heartbeat, lease_holder, release_lease, take_lease

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0  # after which the job of a process that died is taken over


class JobRunner:
    """Runs jobs by name."""

    def __init__(
        self,
        connection: Connection,
        *,
        jobs: Iterable[Job],
        clock: Clock,
        ids: IdSource,
        holder: str,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._connection = connection
        self._runs = JobRuns(connection)
        self._jobs = {job.name: job for job in jobs}
        self._clock = clock
        self._ids = ids
        self._holder = holder
        self._lease_seconds = lease_seconds
        self._kept: dict[str, str] = {}  # leases that could not be given back, and their holders
        self._stopping = threading.Event()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that there are, by name."""
        return tuple(self._jobs[name] for name in sorted(self._jobs))

    def named(self, name: str) -> Job:
        """The job of a name.

        Raises:
            NotFound: there is none.
        """
        if name not in self._jobs:
            msg = f"There is no job of that name; there are {', '.join(sorted(self._jobs))}."
            raise NotFound(msg)
        return self._jobs[name]

    def states(self) -> list[JobState]:
        """What is known of each job, also of those that never ran, by name."""
        known = {state.name: state for state in self._runs.states(now=self._clock.now())}
        return [
            replace(known.get(job.name) or JobState(name=job.name), does=job.does)
            for job in self.jobs
        ]

    def stop(self) -> None:
        """Let the runs that are on end after their present batch, and begin no other."""
        self._stopping.set()

    def run(
        self,
        name: str,
        *,
        dry_run: bool = False,
        space_key: str = "",
        by_hand: bool = False,
        repair: bool = False,
        watch: Callable[[Run], None] | None = None,
    ) -> RunRecord:
        """Run a job under its lease and record it; an error is recorded, not raised.

        ``watch`` is shown how far it is.

        A run in one space has a lease of its own, so it never keeps the job from the other spaces.

        Raises:
            NotFound: there is no such job. InvalidInput: it works on all spaces together, and one
            was named. Conflict: it is running already; the message says who runs it. Or this
            process is about to end.
        """
        job = self.named(name)
        if space_key and job.spans_spaces:
            raise InvalidInput({"space": ["This job works on all spaces together: leave it out."]})
        with self._leased(job, space_key) as (lease, holder):
            run = Run(
                uid=self._ids.new("run"),
                job=name,
                dry_run=dry_run,
                space=space_key,
                by_hand=by_hand,
                repair=repair,
            )
            return self._watched(job, run, lease, holder, watch)

    def run_once(self, name: str, slot: int) -> RunRecord | None:
        """Run a job for one time of its schedule, in one of all processes.

        None when another one had it.

        ``slot`` is the number of that time; numbers grow.

        Raises:
            NotFound, Conflict: see run.
            StoreUnavailable: the database does not answer; the job was told.
        """
        job = self.named(name)
        try:
            with self._leased(job, "") as (lease, holder):
                if not self._runs.claim_slot(name, slot):
                    return None
                return self._watched(
                    job, Run(uid=self._ids.new("run"), job=name), lease, holder, None
                )
        except StoreUnavailable as error:
            if job.without_store:
                job.without_store(error)
            raise

    @contextmanager
    def _leased(self, job: Job, space_key: str) -> Iterator[tuple[str, str]]:
        """Hold the lease of a job, or of a job in one space; yields its name and us, its holder."""
        if self._stopping.is_set():
            message = "This process is about to end."
            raise Conflict(message)
        everywhere, holder = f"job:{job.name}", f"{self._holder}:{self._ids.new('lease')}"
        if space_key and (other := lease_holder(self._connection, everywhere, clock=self._clock)):
            self._refuse(job, other)
        lease = f"{everywhere}|{space_key}" if space_key else everywhere
        if kept := self._kept.get(lease):
            release_lease(self._connection, lease, holder=kept)
            self._kept.pop(lease, None)
        taken = take_lease(
            self._connection, lease, holder=holder, clock=self._clock, seconds=self._lease_seconds
        )
        if not taken.is_ours:
            self._refuse(job, taken.holder)
        try:
            yield lease, holder
        finally:
            self._release(lease, holder)

    def _refuse(self, job: Job, holder: str) -> NoReturn:
        msg = f"The job {job.name} is running already, in the process {holder}."
        raise Conflict(msg)

    def _watched(
        self, job: Job, run: Run, lease: str, holder: str, watch: Callable[[Run], None] | None
    ) -> RunRecord:
        """Run a job while its lease is renewed.

        It must stop when its time is up, or the lease is lost.
        """
        deadline = time.monotonic() + job.budget_seconds
        beat = Heartbeat(
            self._connection,
            lease,
            holder=holder,
            clock=self._clock,
            seconds=self._lease_seconds,
            on_beat=lambda: self._runs.note(run),
            watch=(lambda: watch(run)) if watch else None,
        )
        run.is_over = lambda: self._stopping.is_set() or beat.is_lost or time.monotonic() > deadline
        with beat:
            return self._recorded(job, run, holder)

    def note_missed(self, name: str) -> None:
        """Record that the time of a job came while no process could begin it."""
        self._runs.note_missed(
            self._ids.new("run"), job=name, holder=self._holder, now=self._clock.now()
        )

    def _release(self, lease: str, holder: str) -> None:
        try:
            release_lease(self._connection, lease, holder=holder)
        except StoreUnavailable:
            self._kept[lease] = holder
            log.warning(
                "the lease %s could not be given back; the next run does, or it runs out by itself",
                lease,
            )

    def _recorded(self, job: Job, run: Run, holder: str) -> RunRecord:
        self._runs.start(run, holder=holder, now=self._clock.now())
        began = time.monotonic()
        error: str | None = None
        try:
            job.function(run)
        except Exception as problem:
            log.exception("job %s failed", job.name)
            # the text of a driver error may hold a query with its parameters: only our own
            # sentences are kept
            error = (
                problem.message if isinstance(problem, GraphmemError) else type(problem).__name__
            )
        status = (
            RunStatus.FAILED if error else RunStatus.PARTIAL if run.was_cut else RunStatus.SUCCEEDED
        )
        record = self._runs.finish(
            run, status, now=self._clock.now(), seconds=time.monotonic() - began, error=error
        )
        log.info("job %s: %s %s", job.name, status, error or dict(record.counts))
        return record
