"""Tracing: what is kept of a write, and what a job did to a memory."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from graphmem.model.caller import Caller
from graphmem.model.edge import EdgeType
from graphmem.model.event import Effect, Event
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Decision
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.model.writing import WriteReport, WriteResult

_LOGGED = {Status.SUPERSEDED: Effect.SUPERSEDED, Status.RETRACTED: Effect.RETRACTED}


def write_trace(
    report: WriteReport, spaces: tuple[str, ...], caller: Caller, now: datetime
) -> TraceRecord:
    """The trace of a write: what became of each item. ``spaces`` are all that it names, by key."""
    return TraceRecord(
        uid=report.trace_id,
        kind=TraceKind.WRITE,
        tenant=caller.tenant,
        spaces=spaces,
        key_id=caller.key_id,
        created_at=now,
        events=[_shown(result) for result in report.results],
    )


def effect(memory: Memory, what: Effect, reason: StrEnum, **detail: object) -> Event:
    """What a job did to a memory, and why."""
    return Event(
        space=memory.space.key, subject=memory.uid, effect=what, reason=reason, detail=detail
    )


def status_events(before: Mapping[str, Memory], decision: Decision) -> list[Event]:
    """Which memories were superseded or retracted, each with what took its place (002, logs)."""
    replaced_by = {
        ends[2]: edge.from_uid
        for (ends, _), edge in decision.edges.items()
        if edge.type is EdgeType.UPDATES
    }
    return [
        Event(
            space=memory.space.key,
            subject=memory.uid,
            effect=_LOGGED[memory.status],
            detail={"replaced_by": replaced_by.get(memory.key), "reason": memory.status_reason},
        )
        for memory in decision.changed
        if memory.status in _LOGGED and before[memory.key].status is not memory.status
    ]


def _shown(result: WriteResult) -> dict[str, object]:
    shown: dict[str, object] = {"index": result.index, "outcome": result.outcome.value}
    if result.memory:
        shown["uid"] = result.memory.uid
    if result.not_taken:
        shown["not_taken"] = list(result.not_taken)
    if result.retracted_before:
        shown["retracted_before"] = result.retracted_before
    if result.error:
        shown["code"] = getattr(result.error, "reason", result.error.code)
    return shown
