"""Retention: what is kept for some days only is forgotten, room by room."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from graphmem.model.job import Every, Job, Run
from graphmem.ports import Clock
from graphmem.rooms import Prune


@dataclass(frozen=True, kw_only=True)
class Retention:
    """Forgets what is older than some days."""

    prunes: Sequence[Prune]
    clock: Clock
    keep_days: int

    def run(self, run: Run) -> None:
        """Forget what rooms keep for some days; it spans all spaces."""
        before = self.clock.now() - timedelta(days=self.keep_days)
        for prune in self.prunes:
            run.counts[prune.counted_as] += prune.forget(before, run)
            if run.was_cut:
                return


def retention_job(retention: Retention) -> Job:
    """The job that forgets."""
    return Job(
        name="prune_traces",
        does="removes what is kept for a while: traces, bulletins, runs, vectors of old versions",
        schedule=Every(minutes=30, offset=15),
        function=retention.run,
        spans_spaces=True,
    )
