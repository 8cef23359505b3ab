"""The table of jobs: what runs when. Add a job here and in ``graphmem/upkeep/catalogue.py``."""

from dataclasses import dataclass
from datetime import UTC, datetime

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

_MINUTE, _DAY = 60, 24 * 60 * 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class ScheduledJob:
    """One line of the table. A start that is late by more than the grace counts as missed."""

    name: str
    when: str
    trigger: BaseTrigger
    period_seconds: int
    grace_seconds: int = 300

    @property
    def is_daily(self) -> bool:
        """Whether it runs once a day."""
        return self.period_seconds == _DAY

    def is_past(self, now: datetime) -> bool:
        """Whether its time of this day has passed."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        first: datetime | None = self.trigger.get_next_fire_time(None, midnight)
        return first is not None and first <= now

    def slot(self, now: datetime) -> int:
        """The number of the period that a moment lies in: all processes fire in the same one, and one of them runs."""
        return int(now.timestamp()) // self.period_seconds


def _every(
    name: str, minutes: int, when: str, *, offset: int = 0, grace_seconds: int = 300
) -> ScheduledJob:
    """Every so many minutes.

    The offset lets jobs that build on each other begin one after the other.
    """
    trigger = CronTrigger(minute=f"{offset}-59/{minutes}", timezone="UTC")
    return ScheduledJob(
        name=name,
        when=when,
        trigger=trigger,
        period_seconds=minutes * _MINUTE,
        grace_seconds=grace_seconds,
    )


def _daily(name: str, hour: int, minute: int) -> ScheduledJob:
    trigger = CronTrigger(hour=hour, minute=minute, timezone="UTC")
    when = f"daily at {hour}:{minute:02} UTC"
    return ScheduledJob(
        name=name, when=when, trigger=trigger, period_seconds=_DAY, grace_seconds=3600
    )


def _every_seconds(name: str, seconds: int) -> ScheduledJob:
    """Every so many seconds, counted from one moment, so that all processes fire together."""
    trigger = IntervalTrigger(seconds=seconds, start_date=_EPOCH, timezone="UTC")
    grace_seconds = max(seconds, _MINUTE)
    when = f"every {seconds} seconds"
    return ScheduledJob(
        name=name, when=when, trigger=trigger, period_seconds=seconds, grace_seconds=grace_seconds
    )


def schedule(worker_interval_seconds: int) -> tuple[ScheduledJob, ...]:
    """The table, with the interval at which the ingest folders are looked into (002)."""
    return (_every_seconds("ingest", worker_interval_seconds), *_TABLE)


_TABLE: tuple[ScheduledJob, ...] = (
    _every("embed_pending", 1, "every minute", grace_seconds=60),
    _every("expire", 5, "every 5 minutes"),
    _every("curate_dedupe", 10, "every 10 minutes, where a space is due"),
    _every("curate_fold", 10, "every 10 minutes, where repeats were put away", offset=2),
    _every("consolidate", 10, "every 10 minutes, where a space is due", offset=4),
    _every(
        "detect_contradictions", 10, "every 10 minutes, where a space was consolidated", offset=6
    ),
    _daily("decay_commitments", 2, 50),
    _daily("archive", 3, 0),
    _daily("prune_traces", 3, 30),
    _daily("integrity", 4, 0),
)
