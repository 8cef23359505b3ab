"""The schedules of jobs as triggers of the scheduler. What runs when, each job says itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from graphmem.model.job import ByHand, Daily, Every, Job

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class ScheduledJob:
    """A job with the trigger that fires it."""

    name: str
    schedule: Every | Daily
    trigger: BaseTrigger

    @property
    def is_daily(self) -> bool:
        """Whether it runs once a day."""
        return isinstance(self.schedule, Daily)

    def is_past(self, now: datetime) -> bool:
        """Whether its time of this day has passed."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        first: datetime | None = self.trigger.get_next_fire_time(None, midnight)
        return first is not None and first <= now

    def slot(self, now: datetime) -> int:
        """The number of the period of a moment; all processes fire in it, and one of them runs."""
        return int(now.timestamp()) // self.schedule.period_seconds


def scheduled(jobs: Iterable[Job]) -> tuple[ScheduledJob, ...]:
    """The jobs that run by themselves."""
    return tuple(
        ScheduledJob(name=job.name, schedule=job.schedule, trigger=_trigger(job.schedule))
        for job in jobs
        if not isinstance(job.schedule, ByHand)
    )


def _trigger(schedule: Every | Daily) -> BaseTrigger:
    if isinstance(schedule, Daily):
        return CronTrigger(hour=schedule.hour, minute=schedule.minute, timezone="UTC")
    if schedule.minutes:
        minute = f"{schedule.offset}-59/{schedule.minutes}"
        return CronTrigger(minute=minute, timezone="UTC")
    # counted from one moment, so that all processes fire together
    return IntervalTrigger(seconds=schedule.seconds, start_date=_EPOCH, timezone="UTC")
