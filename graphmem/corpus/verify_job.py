"""Verify job: commits of pushes that were cut before their proof are proved, or marked (000)."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from graphmem.corpus.keeper import CorpusKeeper
from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.model.job import Run

log = logging.getLogger(__name__)

_AFTER = timedelta(seconds=30)  # a push that runs proves its own


@dataclass(frozen=True, kw_only=True)
class VerifyJob:
    """Proves what waits for its proof."""

    keeper: CorpusKeeper

    def run(self, run: Run) -> None:
        """One pass; a dry run counts what it would do."""
        run.counts.update({"proved": 0, "failed": 0})
        before = self.keeper.clock.now() - _AFTER
        failed = (space for space, _ in self.keeper.fallback.failed())
        due = [*self.keeper.corpora.unproved(before, space=run.space), *failed]
        for space in dict.fromkeys(due):
            if run.space and space.key != run.space:
                continue
            if run.must_stop():
                return
            try:
                result = self.keeper.settle(space, run)
                if result:
                    run.counts["proved" if result.ok else "failed"] += 1
            except StoreUnavailable:
                raise
            except GraphmemError as error:
                log.exception("the proof of a commit of %s failed", space.key)
                run.counts["failed"] += 1
                run.note_degraded(f"{space.key}: {error.code}")
