"""Tracing: what is kept of a write, a change and a job, each in the transaction that it is about."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from graphmem.gateway.preparation import Prepared
from graphmem.model.caller import Caller
from graphmem.model.job import Run
from graphmem.model.memory import Memory
from graphmem.model.space import space_from_key
from graphmem.model.state import Decision
from graphmem.model.trace import TraceKind, TraceRecord, job_trace
from graphmem.model.writing import WriteResult
from graphmem.ports import IdSource


def write_trace(
    uid: str, now: datetime, caller: Caller, prepared: Prepared, results: Iterable[WriteResult]
) -> TraceRecord:
    """The trace of a write: what became of each item."""
    return TraceRecord(
        uid=uid,
        kind=TraceKind.WRITE,
        tenant=caller.tenant,
        spaces=prepared.spaces,
        key_id=caller.key_id,
        created_at=now,
        events=[_event(result) for result in results],
    )


def effect(memory: Memory, outcome: str, reason: str, **detail: object) -> Mapping[str, object]:
    """What a job did to one memory and why, by a stable code."""
    return {
        "space": memory.space.key,
        "uid": memory.uid,
        "outcome": outcome,
        "reason": reason,
        **detail,
    }


def effect_traces(
    decision: Decision, run: Run, *, ids: IdSource, now: datetime
) -> list[TraceRecord]:
    """One trace for each memory that a job changed."""
    return [
        job_trace(
            ids.new("trace"),
            job=run.job,
            run=run.uid,
            space=space_from_key(str(event["space"])),
            event={name: value for name, value in event.items() if name != "space"},
            now=now,
        )
        for event in decision.events
    ]


def _event(result: WriteResult) -> Mapping[str, object]:
    event: dict[str, object] = {"index": result.index, "outcome": result.outcome.value}
    if result.memory:
        event["uid"] = result.memory.uid
    if result.error:
        event["code"] = getattr(result.error, "reason", result.error.code)
    return event
