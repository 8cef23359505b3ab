"""Running the table: one scheduler, in a process of its own, never inside a web worker."""

import logging
import signal

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.blocking import BlockingScheduler

from graphmem.errors import Conflict, StoreUnavailable
from graphmem.upkeep.runs import JobRunner
from jobs.schedule import SCHEDULE

log = logging.getLogger(__name__)


def build_scheduler(runner: JobRunner) -> BlockingScheduler:
    """A scheduler with every job of the table."""
    scheduler = BlockingScheduler(timezone="UTC", executors={"default": ThreadPoolExecutor(2)})
    for job in SCHEDULE:
        scheduler.add_job(
            run_job,
            trigger=job.trigger,
            args=(runner, job.name),
            id=job.name,
            misfire_grace_time=job.grace_seconds,
            coalesce=True,
            max_instances=1,
            replace_existing=True,
        )
    scheduler.add_listener(_report, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
    return scheduler


def run_job(runner: JobRunner, name: str) -> None:
    """Run one job; another process that has it, or a database that is away, is no failure of this one."""
    try:
        runner.run(name)
    except Conflict as reason:
        log.info("job %s left to another process: %s", name, reason.message)
    except StoreUnavailable as reason:
        log.warning("job %s waits for the database: %s", name, reason.message)


def serve(scheduler: BlockingScheduler) -> None:
    """Run until SIGTERM or Ctrl-C, then let the running jobs finish."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: scheduler.shutdown(wait=False))
    scheduler.start()


def _report(event: JobEvent) -> None:
    log.warning("scheduler event %s for job %s", event.code, event.job_id)
