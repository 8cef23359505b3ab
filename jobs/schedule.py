"""The table of jobs: what runs when. Add a job here and its function in bootstrap."""

from dataclasses import dataclass

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger


@dataclass(frozen=True, kw_only=True)
class ScheduledJob:
    """One line of the table. ``touches`` says what the job may change."""

    name: str
    trigger: BaseTrigger
    touches: str
    grace_seconds: int = 300


SCHEDULE: tuple[ScheduledJob, ...] = (
    ScheduledJob(
        name="embed_pending",
        trigger=IntervalTrigger(minutes=1, timezone="UTC"),
        touches="chunks of memories that wait for their vectors",
    ),
    ScheduledJob(
        name="expire",
        trigger=IntervalTrigger(minutes=5, timezone="UTC"),
        touches="status of memories whose expires_at has passed; retry keys older than a day",
    ),
    ScheduledJob(
        name="forget_traces",
        trigger=CronTrigger(hour=3, minute=30, timezone="UTC"),
        touches="traces older than traces.keep_days",
        grace_seconds=3600,
    ),
)
