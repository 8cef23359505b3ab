"""Trace: what one write, recall or job did and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from graphmem.model.space import Space


class TraceKind(StrEnum):
    """What a trace is of, besides jobs, which give their own names."""

    WRITE = "write"
    RECALL = "recall"
    STATUS = "status"
    EDGE = "edge"
    ENTITY = "entity"
    TURN = "turn"
    RELATION = "relation"
    EXTRACTION = "extraction"
    SHARE = "share"
    FEEDBACK = "feedback"
    PERSONA = "persona"
    COMPANION = "companion"
    GOVERNANCE = "governance"
    CONTRACT = "contract"
    NOTEBOOK = "notebook"
    CORPUS = "corpus"


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceRecord:
    """What one write, recall or job did and why. ``spaces`` are keys; ``query`` is redacted.

    The events of a write say what became of each item; those of a recall are its candidates in
    their order, each as (number of its space, uid, score), of which the first
    ``request["returned"]`` came back, and of which there were ``request["candidates"]``. Behind
    the result some are left out; where there were many recalls the score is None.
    """

    uid: str
    kind: str
    tenant: str
    spaces: tuple[str, ...]
    key_id: str
    created_at: datetime
    events: Sequence[object] = ()
    query: str | None = None
    request: Mapping[str, object] = field(default_factory=dict)
    forget_at: datetime | None = None  # of what has a time of its own


def of_the_result(trace: TraceRecord) -> TraceRecord:
    """The trace of a recall with no more than the uids that came back."""
    returned = trace.request.get("returned")
    events: Sequence[Any] = trace.events[: int(str(returned))]
    return replace(trace, events=[(space, uid, None) for space, uid, _ in events])


def job_trace(
    uid: str, *, job: str, run: str, space: Space, event: Mapping[str, object], now: datetime
) -> TraceRecord:
    """The trace of one thing that a run of a job did in a space; ``request`` names the run."""
    return TraceRecord(
        uid=uid,
        kind=job,
        tenant=space.tenant,
        spaces=(space.key,),
        key_id=job,
        created_at=now,
        events=[event],
        request={"run": run},
    )
