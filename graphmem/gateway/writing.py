"""Writing: many memories at once. Requests are checked and embedded, then written in one operation.

Small writes that arrive while another is under way share its transaction; the answer to a retry
key is given again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any

from graphmem.errors import (
    Conflict,
    GraphmemError,
    InvalidInput,
    PolicyRefused,
)
from graphmem.gateway.decide import decide
from graphmem.gateway.edges import EdgeRequest, edge_problems, reasons_of
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.group_commit import GroupCommit
from graphmem.gateway.item import Item, selection_for
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Actor, Decided
from graphmem.gateway.preparation import Preparation, Prepared
from graphmem.gateway.replay import answer_text, is_stored, memory_keys, report_from
from graphmem.gateway.tracing import write_trace
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.event import Event
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.model.writing import (
    ROLLED_BACK,
    IdempotencyKey,
    Outcome,
    WriteReport,
    WriteRequest,
    WriteResult,
)
from graphmem.ports import Clock, IdSource, Vector
from graphmem.store.edges import Edges
from graphmem.store.idempotency import lock_answer, save_answer
from graphmem.store.memories import memories_by_key
from graphmem.store.traces import Traces

_COMBINED_ITEMS_MAX = 16  # items of a request that shares its transaction
_COMBINED_JOBS_MAX = 32


class RolledBack(GraphmemError):
    """Another item of this atomic batch was refused, so nothing was stored."""

    code = ROLLED_BACK


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one caller sent, and how the trace of it is called."""

    prepared: Prepared
    caller: Caller
    trace_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteAnswer:
    """A report for each caller; a replay is the answer that a retry key was given before."""

    reports: tuple[WriteReport, ...]
    is_replay: bool = False


@dataclass(frozen=True, kw_only=True)
class WriteMemories(MemoryOperation[WriteAnswer]):
    """Write what one or several callers sent; each gets a report and a trace of its own.

    Items were authorised one by one when they were prepared, because one that is refused takes no
    other with it. They are numbered through, as their vectors are.
    """

    kind = TraceKind.WRITE

    parts: Sequence[Part]
    items: Sequence[Item]
    policy: Policy
    atomic: bool = False
    edges: Sequence[EdgeRequest] = ()
    idempotency: IdempotencyKey | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The spaces of the edges."""
        return sorted({edge.space for edge in self.edges})

    @property
    def texts(self) -> Sequence[str]:
        """The reasons of the edges."""
        return reasons_of(self.edges)

    def check(self) -> None:
        """Refuse what is wrong with the edges.

        Raises:
            InvalidInput: see check_edges.
        """
        check_edges(self.edges)

    def selection(self) -> Selection:
        """All that its items and edges need."""
        return selection_for(self.items, self.edges)

    def read(self, transaction: Workbench) -> GraphState:
        """The report that the retry key stands for, else the selection."""
        if self.idempotency and (answer := lock_answer(transaction, self.idempotency)):
            memories = memories_by_key(transaction, memory_keys(answer))
            return GraphState(records=report_from(answer, memories))
        return super().read(transaction)

    def decide(self, state: GraphState, now: datetime) -> Decided[WriteAnswer]:
        """Decide every item in order.

        Raises:
            InvalidInput, Conflict: an edge cannot be drawn.
        """
        if isinstance(state.records, WriteReport):
            return Decided(answer=WriteAnswer(reports=(state.records,), is_replay=True))
        decision = decide(state, self.items, self.edges, policy=self.policy, now=now)
        return Decided(
            answer=WriteAnswer(reports=_reports(self.parts, decision.results)),
            events=decision.events,
            memories=decision,
            is_refused=self.atomic and any(result.error for result in decision.results),
        )

    def apply(self, transaction: Workbench, decided: Decided[WriteAnswer]) -> None:
        """Write what was decided, and keep the answer to the retry key."""
        if decided.answer.is_replay:
            return
        super().apply(transaction, decided)
        report = decided.answer.reports[0]
        if self.idempotency and is_stored(report.results):
            save_answer(transaction, self.idempotency, answer_text(report))

    def traces(
        self,
        decided: Decided[WriteAnswer],
        actor: Actor,  # noqa: ARG002
        *,
        trace_id: str,  # noqa: ARG002
        ids: IdSource,  # noqa: ARG002
        now: datetime,
    ) -> list[TraceRecord]:
        """One trace for each caller; a replay was traced when it was first answered."""
        if decided.answer.is_replay:
            return []
        return [
            self._trace(part, report, decided.events, now)
            for part, report in zip(self.parts, decided.answer.reports, strict=True)
        ]

    def _trace(
        self, part: Part, report: WriteReport, events: Sequence[Event], now: datetime
    ) -> TraceRecord:
        """The trace of a caller, with what rooms did in the spaces that were written."""
        trace = write_trace(report, part.prepared.spaces, part.caller, now)
        uids = {result.memory.uid for result in report.results if result.memory}
        own = [
            event.shown
            for event in events
            if event.space in part.prepared.spaces and _is_of(event, uids)
        ]
        return replace(trace, events=[*trace.events, *own])


def _is_of(event: Event, uids: Collection[str]) -> bool:
    """Whether an event is of a caller's own memories, as that of another's is not."""
    replaced_by = event.detail.get("replaced_by")
    is_status = "replaced_by" in event.detail
    return not is_status or event.subject in uids or replaced_by in uids


def _numbered(parts: Sequence[Part]) -> tuple[list[Item], dict[int, Sequence[Vector]]]:
    """The items of all parts, numbered through, and their vectors by these numbers."""
    pairs = [
        (part, replace(item, call=call))
        for call, part in enumerate(parts)
        for item in part.prepared.items
    ]
    items = [replace(item, index=number) for number, (_, item) in enumerate(pairs)]
    vectors = {
        number: part.prepared.vectors[item.index]
        for number, (part, item) in enumerate(pairs)
        if item.index in part.prepared.vectors
    }
    return items, vectors


def _reports(parts: Sequence[Part], results: Sequence[WriteResult]) -> tuple[WriteReport, ...]:
    """The results by part, each with the numbers that its caller gave the items."""
    ends = accumulate((len(part.prepared.items) for part in parts), initial=0)
    return tuple(
        _report(part, results[start:end])
        for part, (start, end) in zip(parts, pairwise(ends), strict=True)
    )


def _report(part: Part, results: Sequence[WriteResult]) -> WriteReport:
    stored = [
        replace(result, index=item.index)
        for result, item in zip(results, part.prepared.items, strict=True)
    ]
    everything = sorted((*stored, *part.prepared.refused), key=lambda result: result.index)
    return WriteReport(results=tuple(everything), trace_id=part.trace_id)


def check_edges(requests: Sequence[EdgeRequest]) -> None:
    """Refuse edges that are not valid.

    Raises:
        InvalidInput: what is wrong, by ``edges.<number>.<field>``.
    """
    wrong: dict[str, list[str]] = {}
    for index, request in enumerate(requests):
        wrong |= edge_problems(request, path=f"edges.{index}.")
    if wrong:
        raise InvalidInput(wrong)


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Writes memories for callers."""

    gateway: Gateway
    preparation: Preparation
    policy: Policy
    edges: Edges
    traces: Traces
    clock: Clock
    ids: IdSource
    _group_commit: GroupCommit[Part, WriteReport] = field(init=False)

    def __post_init__(self) -> None:
        """Small writes share a transaction."""
        group = GroupCommit(self._write_together, jobs_max=_COMBINED_JOBS_MAX)
        object.__setattr__(self, "_group_commit", group)

    def write(
        self,
        requests: Sequence[WriteRequest | GraphmemError],
        *,
        caller: Caller,
        atomic: bool = False,
        edges: Sequence[EdgeRequest] = (),
        with_vectors: bool = True,
        idempotency: IdempotencyKey | None = None,
    ) -> WriteReport:
        """Write memories; one result per request, in order, and a bad one takes no other with it.

        An error in place of a request is answered as it is. With ``atomic`` all are stored or
        none, and so it is with ``edges`` among them and what is there. Without ``with_vectors`` a
        job makes the vectors later.

        Raises:
            Conflict: the idempotency key belongs to another request; an edge's uid is that of
                another edge.
            InvalidInput, Forbidden: an edge cannot be drawn.
            StoreUnavailable: the database does not answer; nothing was stored.
        """
        prepared = self.preparation.check(requests, caller)
        atomic = atomic or bool(edges)
        if atomic and prepared.refused:
            return self._nothing_stored(prepared, prepared.refused, caller)
        if not prepared.items and not edges:
            return self._nothing_stored(prepared, (), caller)
        ready = self.preparation.embed(prepared) if with_vectors else prepared.without_vectors()
        part = self._part(ready, caller)
        if not atomic and idempotency is None and len(ready.items) <= _COMBINED_ITEMS_MAX:
            return self._group_commit.submit(part)
        report = self._write_alone(part, atomic=atomic, edges=edges, idempotency=idempotency)
        if atomic and any(result.error for result in report.results):
            refused = [result for result in report.results if result.error]
            return self._nothing_stored(ready, refused, caller)
        return report

    def correct(
        self, request: WriteRequest, *, caller: Caller, expected_version: int | None = None
    ) -> tuple[WriteResult, str]:
        """Change exactly the given fields of the memory that the request names; and its trace.

        The request repeats the present content, actor and source where it does not change them.

        Raises:
            NotFound: there is no such memory.
            Conflict: it has another version than the expected one.
            InvalidInput, Forbidden, PolicyRefused: as for a write.
        """
        prepared = self.preparation.check([request], caller, are_corrections=True)
        items = tuple(replace(item, expected_version=expected_version) for item in prepared.items)
        ready = self.preparation.embed(replace(prepared, items=items))
        report = (
            self._group_commit.submit(self._part(ready, caller))
            if items
            else self._nothing_stored(ready, (), caller)
        )
        (result,) = report.results
        if result.error:
            raise result.error
        return result, report.trace_id

    def refusals(
        self,
        requests: Sequence[WriteRequest],
        edges: Sequence[EdgeRequest] = (),
        *,
        caller: Caller,
    ) -> tuple[GraphmemError, ...]:
        """What a write refuses before it looks at memories: rights, values, screening, uids."""
        checked = self.preparation.check(requests, caller)
        refused = [result.error for result in checked.refused if result.error]
        try:
            check_edges(edges)
            self._check_edge_uids(edges, caller)
        except (Conflict, InvalidInput) as error:
            refused.append(error)
        return tuple(refused)

    def _check_edge_uids(self, edges: Sequence[EdgeRequest], caller: Caller) -> None:
        named = [
            (each.space, each.uid, (each.from_uid, each.type, each.to_uid))
            for each in edges
            if each.uid
        ]
        uids = sorted({uid for _, uid, _ in named})
        stored = self.edges.by_uids(caller.tenant, uids) if uids else ()
        ends_of = {(s, edge.uid): (edge.from_uid, edge.type, edge.to_uid) for s, edge in stored}
        for space, uid, ends in named:
            if ends_of.setdefault((space, uid), ends) != ends:
                message = f"Another edge of this space has the uid {uid}."
                raise Conflict(message)

    def _part(self, prepared: Prepared, caller: Caller) -> Part:
        return Part(prepared=prepared, caller=caller, trace_id=self.ids.new("trace"))

    def _write_alone(self, part: Part, **options: Any) -> WriteReport:  # noqa: ANN401 - its fields
        items, vectors = _numbered([part])
        operation = WriteMemories(
            parts=(part,), items=items, vectors=vectors, policy=self.policy, **options
        )
        return self.gateway.execute(operation, part.caller).answer.reports[0]

    def _write_together(self, parts: Sequence[Part]) -> Sequence[WriteReport]:
        """Write what several callers sent in one transaction."""
        items, vectors = _numbered(parts)
        operation = WriteMemories(parts=parts, items=items, vectors=vectors, policy=self.policy)
        return self.gateway.execute(operation, parts[0].caller).answer.reports

    def _nothing_stored(
        self, prepared: Prepared, refused: Sequence[WriteResult], caller: Caller
    ) -> WriteReport:
        """The report of a call that stored nothing.

        Refusals by policy leave a trace, malformed input does not.
        """
        rejected = {result.index: result for result in (*prepared.refused, *refused)}
        for item in prepared.items:
            rolled_back = WriteResult(index=item.index, outcome=Outcome.REFUSED, error=RolledBack())
            rejected.setdefault(item.index, rolled_back)
        results = tuple(rejected[index] for index in sorted(rejected))
        report = WriteReport(results=results, trace_id=self.ids.new("trace"))
        if any(isinstance(result.error, PolicyRefused) for result in results):
            self.traces.save(write_trace(report, prepared.spaces, caller, self.clock.now()))
        return report
