"""Extract job: what a crash or an impatient caller left, and buffers that went quiet, are read."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.lifecycle.buffer import Because, is_idle
from graphmem.lifecycle.keeper import LifecycleKeeper, counts_of
from graphmem.model.caller import caller_of_job
from graphmem.model.extraction import Buffer, Extraction
from graphmem.model.job import Run

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ExtractJob:
    """Reads extractions that nobody reads, and makes quiet buffers due."""

    keeper: LifecycleKeeper

    def run(self, run: Run) -> None:
        """One pass; a dry run counts what it would read."""
        run.counts.update({"extractions": 0, "failed": 0})
        for due in self._work(run, self.keeper.clock.now()):
            if run.must_stop():
                return
            try:
                run.counts.update(self._done(due, run))
            except StoreUnavailable:
                raise
            except Exception as error:
                log.exception("an extraction of %s failed", due.space.key)
                run.counts["failed"] += 1
                code = error.code if isinstance(error, GraphmemError) else type(error).__name__
                run.note_degraded(f"{due.space.key}: {code}")

    def _done(self, due: Extraction | Buffer, run: Run) -> dict[str, int]:
        if run.dry_run:
            return {"extractions": 1}
        caller = caller_of_job(run.job, due.space)
        read = (
            self.keeper.close(due, Because.IDLE, caller=caller)
            if isinstance(due, Buffer)
            else self.keeper.read(due, caller=caller)
        )
        return dict(counts_of([each.extraction for each in read]))

    def _work(self, run: Run, now: datetime) -> Iterator[Extraction | Buffer]:
        """What is due: extractions that wait, the oldest first, then quiet buffers."""
        yield from self.keeper.extractions.waiting(now, space=run.space)
        for buffer in self.keeper.buffers.idle(now, space=run.space):
            if is_idle(buffer, self.keeper.policies.of(buffer.space).lifecycle, now):
                yield buffer
