"""The table of jobs: what runs when. Add a job here and in ``graphmem/upkeep/catalogue.py``."""

from dataclasses import dataclass

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger


@dataclass(frozen=True, kw_only=True)
class ScheduledJob:
    """One line of the table. A start that is late by more than the grace counts as missed."""

    name: str
    when: str
    trigger: BaseTrigger
    grace_seconds: int = 300


def _every(minutes: int) -> BaseTrigger:
    return IntervalTrigger(minutes=minutes, timezone="UTC")


def _daily(hour: int, minute: int) -> BaseTrigger:
    return CronTrigger(hour=hour, minute=minute, timezone="UTC")


SCHEDULE: tuple[ScheduledJob, ...] = (
    ScheduledJob(name="embed_pending", when="every minute", trigger=_every(1), grace_seconds=60),
    ScheduledJob(name="expire", when="every 5 minutes", trigger=_every(5)),
    ScheduledJob(name="decay_commitments", when="daily at 2:50 UTC", trigger=_daily(2, 50), grace_seconds=3600),
    ScheduledJob(name="archive", when="daily at 3:00 UTC", trigger=_daily(3, 0), grace_seconds=3600),
    ScheduledJob(name="curate_dedupe", when="every 10 minutes, where a space is due", trigger=_every(10)),
    ScheduledJob(name="curate_fold", when="every 10 minutes, where repeats were put away", trigger=_every(10)),
    ScheduledJob(name="consolidate", when="every 10 minutes, where a space is due", trigger=_every(10)),
    ScheduledJob(name="detect_contradictions", when="every 10 minutes, where it was consolidated", trigger=_every(10)),
    ScheduledJob(name="integrity", when="daily at 4:00 UTC", trigger=_daily(4, 0), grace_seconds=3600),
    ScheduledJob(name="prune_traces", when="daily at 3:30 UTC", trigger=_daily(3, 30), grace_seconds=3600),
)
