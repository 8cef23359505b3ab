"""Operation: one change of the graph, as data with a pure decision. The gateway runs them all."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from graphmem.gateway.reactions import Changes, Resting
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller, Role
from graphmem.model.event import Event
from graphmem.model.job import Run
from graphmem.model.space import Space, space_from_key
from graphmem.model.state import Decision
from graphmem.model.trace import TraceRecord, job_trace
from graphmem.ports import IdSource

State = TypeVar("State")
Answer = TypeVar("Answer")
Actor = Caller | Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided(Generic[Answer]):
    """What an operation decided: the answer, what changes, and the events that say so.

    ``records`` are changes of a room's own records, in a form that only its operation knows.
    ``reactions`` are what rooms change because of it. Nothing of a refused one is kept.
    """

    answer: Answer
    events: tuple[Event, ...] = ()
    memories: Decision = field(default_factory=Decision)
    records: Any = None
    reactions: tuple[tuple[Any, Any], ...] = ()  # each reaction with what it changes
    is_refused: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed(Generic[Answer]):
    """What became of an operation, and the trace that says why."""

    answer: Answer
    events: tuple[Event, ...]
    trace_id: str


class Operation(ABC, Generic[State, Answer]):
    """One change of the graph: what it locks and reads, what it decides, and how that is written.

    ``spaces`` are authorised in ``role`` before anything is read.
    """

    kind: ClassVar[str]  # of its trace
    role: ClassVar[Role] = Role.WRITER

    @property
    @abstractmethod
    def spaces(self) -> Sequence[Space]:
        """The spaces that it changes."""

    @property
    def texts(self) -> Sequence[str]:
        """What somebody put into words for it, such as a reason; it is screened."""
        return ()

    def check(self) -> None:
        """Refuse what is wrong in itself, before anything is read.

        Raises:
            InvalidInput: something is.
        """

    @abstractmethod
    def read(self, transaction: Workbench) -> State:
        """Lock and read what the decision needs.

        The order of locks: claims, conversations and records of rooms, entities, memories; each
        kind by key.
        """

    def spaces_found(self, state: State) -> Sequence[Space]:  # noqa: ARG002
        """The spaces that only reading tells; their memory must be switched on too."""
        return ()

    @abstractmethod
    def decide(self, state: State, now: datetime) -> Decided[Answer]:
        """Decide; pure.

        Raises:
            GraphmemError: it is refused, and nothing changes.
        """

    def react(self, state: State, decided: Decided[Answer], now: datetime) -> Decided[Answer]:  # noqa: ARG002
        """Let rooms decide what follows for their records."""
        return decided

    def status_events(self, state: State, decided: Decided[Answer]) -> Sequence[Event]:  # noqa: ARG002
        """Which memories it supersedes or retracts."""
        return ()

    @abstractmethod
    def apply(self, transaction: Workbench, decided: Decided[Answer]) -> None:
        """Write what was decided."""

    def traces(
        self, decided: Decided[Answer], actor: Actor, *, trace_id: str, ids: IdSource, now: datetime
    ) -> list[TraceRecord]:
        """What is kept of it: one trace of a call, one for each event of a job.

        What followed from a call in spaces that its caller may not see has a trace of its own.
        """
        if isinstance(actor, Run):
            return [_job_trace(event, actor, ids.new("trace"), now) for event in decided.events]
        spaces = {each.space for each in decided.events}
        visible = {space for space in spaces if actor.may_see(space_from_key(space))}
        seen = [each for each in decided.events if each.space in visible]
        unseen = [each for each in decided.events if each.space not in visible]
        traces = [_call_trace(self.kind, seen, actor, trace_id, now)] if seen else []
        if unseen:
            traces.append(_call_trace(self.kind, unseen, actor, ids.new("trace"), now))
        return traces


def _call_trace(
    kind: str, events: Sequence[Event], caller: Caller, uid: str, now: datetime
) -> TraceRecord:
    return TraceRecord(
        uid=uid,
        kind=kind,
        tenant=caller.tenant,
        spaces=tuple(dict.fromkeys(event.space for event in events)),
        key_id=caller.key_id,
        created_at=now,
        events=[event.shown for event in events],
    )


def _job_trace(event: Event, run: Run, uid: str, now: datetime) -> TraceRecord:
    return job_trace(
        uid,
        job=run.job,
        run=run.uid,
        space=space_from_key(event.space),
        event=event.shown,
        now=now,
    )


def with_reactions(
    decided: Decided[Answer], resting: Resting, changes: Changes, now: datetime
) -> Decided[Answer]:
    """A decision together with what rooms decide because of it."""
    if not changes or not resting:
        return decided
    answers = [(reaction, *reaction.decide(records, changes, now)) for reaction, records in resting]
    return replace(
        decided,
        reactions=tuple((reaction, change) for reaction, change, _ in answers),
        events=(*decided.events, *(event for _, _, events in answers for event in events)),
    )


def apply_reactions(transaction: Workbench, decided: Decided[Any]) -> None:
    """Write what rooms decided."""
    for reaction, change in decided.reactions:
        reaction.apply(transaction, change)
