"""Judge job: messages that nobody judged, because of a crash or as asked, are judged."""

import logging
from dataclasses import dataclass

from graphmem.companion.messages import Messages
from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.model.caller import caller_of_job
from graphmem.model.job import Run
from graphmem.model.space import space_from_key
from graphmem.store.messages import Waiting, waiting_messages

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JudgeJob:
    """Judges what waits."""

    messages: Messages

    def run(self, run: Run) -> None:
        """One pass; a dry run counts what it would judge."""
        run.counts.update({"judged": 0, "failed": 0})
        connection = self.messages.judging.connection
        for waiting in waiting_messages(connection, self.messages.clock.now()):
            if run.must_stop():
                return
            if run.space in {"", waiting.space}:
                self._judge(waiting, run)

    def _judge(self, waiting: Waiting, run: Run) -> None:
        space = space_from_key(waiting.space)
        if run.dry_run:
            run.counts["judged"] += 1
            return
        try:
            caller = caller_of_job(run.job, space)
            verdict = self.messages.judge_waiting(waiting, space, caller=caller)
            run.counts["judged"] += verdict.is_judged
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("a message of %s was not judged", space.key)
            run.counts["failed"] += 1
            code = error.code if isinstance(error, GraphmemError) else type(error).__name__
            run.note_degraded(f"{space.key}: {code}")
