"""The table of jobs: what runs when. Add a job here and in ``graphmem/upkeep/catalogue.py``."""

from dataclasses import dataclass
from datetime import datetime

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger

_DAY = 24 * 60


@dataclass(frozen=True, kw_only=True)
class ScheduledJob:
    """One line of the table. A start that is late by more than the grace counts as missed."""

    name: str
    when: str
    trigger: BaseTrigger
    period_minutes: int
    grace_seconds: int = 300

    @property
    def is_daily(self) -> bool:
        """Whether it runs once a day."""
        return self.period_minutes == _DAY

    def is_past(self, now: datetime) -> bool:
        """Whether its time of this day has passed."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        first: datetime | None = self.trigger.get_next_fire_time(None, midnight)
        return first is not None and first <= now

    def slot(self, now: datetime) -> int:
        """The number of the period that a moment lies in: all processes fire in the same one, and one of them runs."""
        return int(now.timestamp()) // (60 * self.period_minutes)


def _every(name: str, minutes: int, when: str, *, offset: int = 0, grace_seconds: int = 300) -> ScheduledJob:
    """Every so many minutes; the offset lets jobs that build on each other begin one after the other."""
    trigger = CronTrigger(minute=f"{offset}-59/{minutes}", timezone="UTC")
    return ScheduledJob(name=name, when=when, trigger=trigger, period_minutes=minutes, grace_seconds=grace_seconds)


def _daily(name: str, hour: int, minute: int) -> ScheduledJob:
    trigger = CronTrigger(hour=hour, minute=minute, timezone="UTC")
    when = f"daily at {hour}:{minute:02} UTC"
    return ScheduledJob(name=name, when=when, trigger=trigger, period_minutes=_DAY, grace_seconds=3600)


SCHEDULE: tuple[ScheduledJob, ...] = (
    _every("embed_pending", 1, "every minute", grace_seconds=60),
    _every("expire", 5, "every 5 minutes"),
    _every("curate_dedupe", 10, "every 10 minutes, where a space is due"),
    _every("curate_fold", 10, "every 10 minutes, where repeats were put away", offset=2),
    _every("consolidate", 10, "every 10 minutes, where a space is due", offset=4),
    _every("detect_contradictions", 10, "every 10 minutes, where a space was consolidated", offset=6),
    _daily("decay_commitments", 2, 50),
    _daily("archive", 3, 0),
    _daily("prune_traces", 3, 30),
    _daily("integrity", 4, 0),
)
