"""Jobs: what one run of a job may do, and what it did."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class RunStatus(StrEnum):
    """How a run went."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"  # its time was up, or it was asked to stop: the next run goes on
    FAILED = "failed"
    ABANDONED = "abandoned"  # its process died
    MISSED = "missed"  # its time came while no process was there to begin it


_EXAMPLES = 10
_PUTS_AWAY = frozenset({"archived", "merged", "superseded"})


def _never() -> bool:
    return False


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

    def count(self, events: Iterable[Mapping[str, object]]) -> None:
        """Count what a batch did, by outcome, and where."""
        for event in events:
            self.counts[str(event["outcome"])] += 1
            self.spaces.add(str(event["space"]))
            if self.dry_run and event["outcome"] in _PUTS_AWAY:
                self.gone.add(f"{event['space']}|{event['uid']}")


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
    def seconds(self) -> float | None:
        """How long it took."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else None


@dataclass(frozen=True, kw_only=True, slots=True)
class JobState:
    """What is known of a job: what it does, when it runs, how its runs went, and who runs it now."""

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
