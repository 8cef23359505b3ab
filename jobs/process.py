"""The jobs process: one scheduler, in a process of its own, never inside a web worker."""

import logging
import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from graphmem.errors import Conflict, StoreUnavailable
from graphmem.model.job import Job, JobState
from graphmem.store.job_runs import JobRuns
from graphmem.upkeep.job_runner import JobRunner
from jobs.schedule import ScheduledJob

log = logging.getLogger(__name__)

_AT_ONCE = 2  # jobs that may run side by side


@dataclass(frozen=True, kw_only=True)
class JobsProcess:
    """The jobs of a table, run at their times."""

    runner: JobRunner
    runs: JobRuns
    schedule: Sequence[ScheduledJob]

    def serve(self) -> None:
        """Run until SIGTERM or Ctrl-C; running jobs then end their batch and their record."""
        told, tell = os.pipe()  # a handler that took a lock could wait for its own thread
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.write(tell, b"."))
        pool = ThreadPoolExecutor(_AT_ONCE)
        scheduler = self._scheduler(pool)
        self._register(self.runner.jobs)
        scheduler.add_job(self._catch_up, id="catch up at the start", misfire_grace_time=None)
        scheduler.start()
        os.read(told, 1)
        self.runner.stop()
        scheduler.shutdown(wait=False)
        pool.shutdown(wait=True)

    def run_job(self, job: ScheduledJob) -> None:
        """Run a job; it is no failure that another process has it or the database is away."""
        try:
            if self.runner.run_once(job.name, job.slot(datetime.now(UTC))) is None:
                log.info("job %s was left to another process", job.name)
        except Conflict as reason:
            log.info("job %s left to another process: %s", job.name, reason.message)
        except StoreUnavailable as reason:
            log.warning("job %s waits for the database: %s", job.name, reason.message)
        self._register([self.runner.named(job.name)])

    def missed_today(self, now: datetime) -> list[ScheduledJob]:
        """The daily jobs whose time of today passed while no process was there."""
        try:
            taken = {state.name: state.slot for state in self.runner.states()}
        except StoreUnavailable:
            return []
        return [
            job
            for job in self.schedule
            if job.is_daily
            and job.is_past(now)
            and (slot := taken.get(job.name)) is not None
            and slot < job.slot(now)
        ]

    def _scheduler(self, pool: ThreadPoolExecutor) -> BackgroundScheduler:
        """A scheduler with every job of the table, which run in a pool."""
        scheduler = BackgroundScheduler(timezone="UTC", executors={"default": pool})
        for job in self.schedule:
            scheduler.add_job(
                self.run_job,
                trigger=job.trigger,
                args=(job,),
                id=job.name,
                misfire_grace_time=job.schedule.grace_seconds,
                coalesce=True,
                max_instances=1,
                replace_existing=True,
            )
        every_hour = CronTrigger(minute=45, timezone="UTC")
        scheduler.add_job(self._catch_up, trigger=every_hour, id="catch up", coalesce=True)
        scheduler.add_listener(
            self._note, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES
        )
        return scheduler

    def _catch_up(self) -> None:
        """Run the daily jobs whose time of today passed while nothing could run them."""
        for job in self.missed_today(datetime.now(UTC)):
            self.run_job(job)

    def _register(self, jobs: Iterable[Job]) -> None:
        """Write down what jobs there are and when each runs, so that every process can show it."""
        now = datetime.now(UTC)
        times = {job.name: job for job in self.schedule}
        states = []
        for job in jobs:
            planned = times.get(job.name)
            states.append(
                JobState(
                    name=job.name,
                    does=job.does,
                    schedule=job.schedule.text,
                    next_run_at=planned.trigger.get_next_fire_time(None, now) if planned else None,
                )
            )
        try:
            self.runs.register(states)
        except StoreUnavailable as reason:
            log.warning("the table of jobs could not be written down: %s", reason.message)

    def _note(self, event: JobEvent) -> None:
        if event.code == EVENT_JOB_ERROR:
            log.warning(
                "job %s could not be recorded: %s", event.job_id, type(event.exception).__name__
            )
            return
        log.warning("the time of job %s passed before it could begin", event.job_id)
        if event.job_id not in {job.name for job in self.schedule}:
            return
        try:
            self.runner.note_missed(event.job_id)
        except StoreUnavailable as reason:
            log.warning(
                "that job %s was missed could not be written down: %s", event.job_id, reason.message
            )
