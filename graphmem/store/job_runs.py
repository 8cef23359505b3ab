"""Jobs and their runs: what is known of each."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from graphmem.model.job import JobState, Run, RunRecord, RunStatus
from graphmem.model.page import Cursor, Page
from graphmem.store.connection import Connection, Row
from graphmem.store.mapping import job_state, run_record
from graphmem.store.pages import read_page

_LAST = datetime(9999, 12, 30, tzinfo=UTC)


class JobRuns:
    """Writes and reads jobs and their runs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def register(self, jobs: Sequence[JobState]) -> None:
        """Keep what jobs do and when they run."""
        rows = [
            {
                "name": job.name,
                "does": job.does,
                "schedule": job.schedule,
                "next_run_at": job.next_run_at,
            }
            for job in jobs
        ]
        self._connection.run("jobs.register", jobs=rows)

    def claim_slot(self, job: str, slot: int) -> bool:
        """Take the time of a scheduled run; says whether it is ours, or another process has it."""
        return bool(self._connection.run("jobs.claim_slot", job=job, slot=slot))

    def start(self, run: Run, *, holder: str, now: datetime) -> None:
        """Record that a run began; runs that never ended are marked as abandoned."""
        self._connection.run("jobs.abandon_runs", job=run.job, space=run.space, now=now)
        self._connection.run(
            "jobs.start_run",
            uid=run.uid,
            job=run.job,
            dry_run=run.dry_run,
            space=run.space,
            by_hand=run.by_hand,
            holder=holder,
            started_at=now,
        )

    def note(self, run: Run) -> None:
        """Record how far a run has come."""
        self._connection.run("jobs.note_counts", uid=run.uid, counts=_text(run.counts))

    def finish(
        self,
        run: Run,
        status: RunStatus,
        *,
        now: datetime,
        seconds: float = 0.0,
        error: str | None = None,
    ) -> RunRecord:
        """Record how a run ended, and count it; of those that did nothing the last one is kept."""
        counts = dict(run.counts) | {"spaces": len(run.spaces)}
        self._connection.run(
            "jobs.finish_run",
            uid=run.uid,
            finished_at=now,
            status=status.value,
            counts=_text(counts),
            examples=json.dumps(run.examples, ensure_ascii=False) if run.examples else None,
            degraded=list(run.degraded),
            error=error,
            seconds=seconds,
        )
        record = run_record(self._connection.fetch("jobs.run", uid=run.uid)[0]["r"])
        if record.did_nothing:
            self._connection.run("jobs.replace_idle_run", job=run.job, uid=run.uid)
        return record

    def note_missed(self, uid: str, *, job: str, holder: str, now: datetime) -> None:
        """Record that the time of a job came while no process could begin it."""
        self._connection.run("jobs.note_missed", uid=uid, job=job, holder=holder, now=now)

    def newest(
        self,
        job: str,
        *,
        limit: int,
        patterns: Sequence[str] | None = None,
        after: Cursor | None = None,
    ) -> Page[RunRecord]:
        """One page of the runs of a job, newest first.

        All of them, or those in single spaces whose keys match one of some expressions. A cursor
        is the start of a run, in ISO form, and its uid.
        """
        started_at, uid = after or (_LAST.isoformat(), "")
        filters = {"job": job, "every": patterns is None, "space_patterns": list(patterns or ())}
        return read_page(
            self._connection,
            "jobs.runs",
            "jobs.count_runs",
            filters=filters,
            cursor={
                "cursor_time": datetime.fromisoformat(str(started_at)),
                "cursor_uid": uid,
            },
            limit=limit,
            item_of=lambda row: run_record(row["r"]),
            cursor_of=_cursor,
        )

    def states(self, *, now: datetime) -> list[JobState]:
        """What is known of each job, by name."""
        return [
            job_state(row["j"], row["holder"], row["r"])
            for row in self._connection.fetch("jobs.states", now=now)
        ]


def _text(counts: Mapping[str, int]) -> str:
    return json.dumps(dict(counts), sort_keys=True)


def _cursor(row: Row) -> Cursor:
    run = run_record(row["r"])
    return (run.started_at.isoformat(), run.uid)
