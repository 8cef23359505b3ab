"""Jobs: what each does and when it runs, what one run of it may do, and what it did."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.errors import GraphmemError
from graphmem.model.event import Effect, Event


class RunStatus(StrEnum):
    """How a run went."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"  # its time was up, or it was asked to stop: the next run goes on
    FAILED = "failed"
    ABANDONED = "abandoned"  # its process died
    MISSED = "missed"  # its time came while no process was there to begin it


_EXAMPLES = 10
_PUTS_AWAY = frozenset({Effect.ARCHIVED, Effect.MERGED, Effect.SUPERSEDED})


def _never() -> bool:
    return False


_MINUTE, _DAY = 60, 24 * 60 * 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Every:
    """Every so many minutes or seconds.

    The offset, in minutes, lets jobs that build on each other begin one after the other. A start
    that is late by more than the grace counts as missed. ``where`` says which spaces are due.
    """

    minutes: int = 0
    seconds: int = 0
    offset: int = 0
    where: str = ""
    grace_seconds: int = 300

    @property
    def period_seconds(self) -> int:
        """From one start to the next."""
        return self.minutes * _MINUTE or self.seconds

    @property
    def text(self) -> str:
        """When it runs, in words."""
        unit, number = ("minute", self.minutes) if self.minutes else ("second", self.seconds)
        often = f"every {unit}" if number == 1 else f"every {number} {unit}s"
        return f"{often}, {self.where}" if self.where else often


@dataclass(frozen=True, kw_only=True, slots=True)
class Daily:
    """Once a day, at a time in UTC; it is caught up within the hour."""

    hour: int
    minute: int
    grace_seconds: int = 3600

    @property
    def period_seconds(self) -> int:
        """From one start to the next."""
        return _DAY

    @property
    def text(self) -> str:
        """When it runs, in words."""
        return f"daily at {self.hour}:{self.minute:02} UTC"


@dataclass(frozen=True, kw_only=True, slots=True)
class ByHand:
    """Only when somebody asks for it."""

    @property
    def text(self) -> str:
        """When it runs, in words."""
        return "by hand"


Schedule = Every | Daily | ByHand


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job: what it does, when it runs, and how long one run may take before the next goes on."""

    name: str
    does: str
    schedule: Schedule
    function: "Callable[[Run], None]"
    budget_seconds: float = 300.0
    spans_spaces: bool = False  # it works on all of them together, never on one
    by_command_only: bool = False  # a service that is on must not do it to itself
    # told where its time came and the store was away
    without_store: Callable[[GraphmemError], None] | None = None


@dataclass(kw_only=True, slots=True)
class Run:
    """What one run of a job may do, and what it did so far.

    ``space`` is the key of the only space that it works in, or empty for all. ``by_hand`` says that
    somebody asked for it: then a job also works where it is switched off or not yet due.
    """

    uid: str
    job: str
    dry_run: bool = False
    space: str = ""
    by_hand: bool = False
    repair: bool = False
    is_over: Callable[[], bool] = _never
    counts: Counter[str] = field(default_factory=Counter)
    spaces: set[str] = field(default_factory=set)  # those that it found work in
    examples: dict[str, list[str]] = field(default_factory=dict)  # some of what was found
    gone: set[str] = field(
        default_factory=set
    )  # keys of what a dry run would have put away, for the steps after it
    was_cut: bool = False  # it ended before all was done
    degraded: list[str] = field(default_factory=list)  # what did not work, so that rules had to do

    def must_stop(self) -> bool:
        """Whether to end here; asked between batches while there is more to do."""
        self.was_cut = self.was_cut or self.is_over()
        return self.was_cut

    def note_example(self, what: str, key: str) -> None:
        """Keep some of what was found, by the keys of memories."""
        if len(found := self.examples.setdefault(what, [])) < _EXAMPLES:
            found.append(key)

    def note_degraded(self, what: str) -> None:
        """Say once what did not work."""
        if what not in self.degraded:
            self.degraded.append(what)

    def count(self, events: Iterable[Event]) -> None:
        """Count what a step did, by effect, and where."""
        for event in events:
            self.counts[event.counted_as or event.effect.value] += 1
            self.spaces.add(event.space)
            if self.dry_run and event.effect in _PUTS_AWAY:
                self.gone.add(f"{event.space}|{event.subject}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What is kept of a run."""

    uid: str
    job: str
    status: RunStatus
    dry_run: bool
    space: str
    by_hand: bool
    counts: Mapping[str, int]
    examples: Mapping[str, Sequence[str]]
    degraded: tuple[str, ...]
    error: str | None
    started_at: datetime
    finished_at: datetime | None
    holder: str

    @property
    def did_nothing(self) -> bool:
        """Whether a run by schedule found nothing to do, or to tell."""
        is_quiet = not (any(self.counts.values()) or self.examples or self.degraded)
        by_itself = not (self.by_hand or self.dry_run or self.space)
        return self.status is RunStatus.SUCCEEDED and is_quiet and by_itself

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else None


@dataclass(frozen=True, kw_only=True, slots=True)
class JobState:
    """What is known of a job: what it does, when, how its runs went, who runs it now."""

    name: str
    does: str = ""
    schedule: str | None = None
    next_run_at: datetime | None = None
    slot: int | None = None  # the number of the last time of its schedule that was taken
    totals: Mapping[RunStatus, int] = field(default_factory=dict)
    last_started_at: datetime | None = None
    last_succeeded_at: datetime | None = None
    last_seconds: float | None = None
    holder: str | None = None
    last_run: RunRecord | None = None
