"""The gateway: authorise, validate, screen, embed, then one transaction: lock, read, decide, apply, trace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from graphmem.errors import GraphmemError, PolicyRefused
from graphmem.gateway.answers import answer_text, is_stored, memory_keys, report_from
from graphmem.gateway.decide import Item, decide, selection_for
from graphmem.gateway.indexing import index_entry
from graphmem.gateway.preparation import Preparation, Prepared
from graphmem.model.caller import Caller
from graphmem.model.memory import Memory
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.writing import IdempotencyKey, Outcome, WriteReport, WriteRequest, WriteResult
from graphmem.ports import Clock, Embedder, IdSource, Vector
from graphmem.store.connection import Connection, Transaction
from graphmem.store.idempotency import lock_answer, save_answer
from graphmem.store.memories import memories_by_key
from graphmem.store.writes import Enrichment, TraceRecord, apply_decision, read_state, save_trace

Decide = Callable[[GraphState], Decision]


class RolledBack(GraphmemError):
    """Another item of this atomic batch was refused, so nothing was stored."""

    code = "rolled_back"


class _UndoError(Exception):
    """Leaves the transaction of an atomic batch without committing it."""

    def __init__(self, results: Sequence[WriteResult]) -> None:
        super().__init__()
        self.results = tuple(results)


class Gateway:
    """The one way in. Each write is authorised, checked, decided by a pure function and traced."""

    def __init__(
        self,
        connection: Connection,
        *,
        embedder: Embedder,
        clock: Clock,
        ids: IdSource,
        policy: Policy,
        source_roots: Sequence[Path] = (),
    ) -> None:
        self._connection = connection
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._preparation = Preparation(
            embedder=embedder, ids=ids, policy=policy, source_roots=tuple(root.resolve() for root in source_roots)
        )

    def write(
        self,
        requests: Sequence[WriteRequest | GraphmemError],
        *,
        caller: Caller,
        atomic: bool = False,
        idempotency: IdempotencyKey | None = None,
    ) -> WriteReport:
        """Write memories; one result per request, in order, and a bad one never takes others with it.

        An error in place of a request is answered as it is. With ``atomic`` all are stored or none.

        Raises:
            Conflict: the idempotency key belongs to another request.
            StoreUnavailable: the database does not answer; nothing was stored.
        """
        prepared = self._preparation.check(requests, caller)
        if atomic and prepared.refused:
            return self._refused(prepared, prepared.refused, caller)
        if not prepared.items:
            return self._refused(prepared, (), caller)
        prepared = self._preparation.embed(prepared)
        now = self._clock.now()
        trace_id = self._ids.new("trace")

        def work(transaction: Transaction) -> WriteReport:
            if idempotency and (answer := lock_answer(transaction, idempotency)):
                return report_from(answer, memories_by_key(transaction, memory_keys(answer)))
            decision = self._decide_and_apply(
                transaction,
                selection_for(prepared.items),
                lambda state: decide(state, prepared.items, policy=self._policy, now=now),
                prepared.vectors,
                atomic=atomic,
            )
            results = tuple(sorted((*decision.results, *prepared.refused), key=lambda result: result.index))
            report = WriteReport(results=results, trace_id=trace_id)
            save_trace(transaction, _trace(trace_id, now, caller, prepared.items, results))
            if idempotency and is_stored(results):
                save_answer(transaction, idempotency, answer_text(report))
            return report

        try:
            return self._connection.write(work)
        except _UndoError as undo:
            return self._refused(prepared, [result for result in undo.results if result.error], caller)

    def run(
        self,
        selection: Selection,
        decider: Decide,
        *,
        kind: str,
        space: Space,
        vectors: Mapping[int, Sequence[Vector]] | None = None,
    ) -> Decision:
        """Run another decider over a selection of one space, the same way as a write: atomic and traced."""
        now = self._clock.now()
        trace_id = self._ids.new("trace")

        def work(transaction: Transaction) -> Decision:
            decision = self._decide_and_apply(transaction, selection, decider, vectors or {})
            if not decision.is_empty:
                trace = TraceRecord(
                    uid=trace_id,
                    kind=kind,
                    tenant=space.tenant,
                    spaces=(space.key,),
                    key_id=kind,
                    created_at=now,
                    events=decision.events,
                )
                save_trace(transaction, trace)
            return decision

        return self._connection.write(work)

    def _decide_and_apply(
        self,
        transaction: Transaction,
        selection: Selection,
        decider: Decide,
        vectors: Mapping[int, Sequence[Vector]],
        *,
        atomic: bool = False,
    ) -> Decision:
        decision = decider(read_state(transaction, selection))
        if atomic and any(result.error for result in decision.results):
            raise _UndoError(decision.results)
        enrichment = Enrichment(index_fields=self._index_fields, vectors=vectors, embedder=self._embedder.name)
        apply_decision(transaction, decision, enrichment, selection.claims)
        return decision

    def _index_fields(self, memory: Memory) -> Mapping[str, str]:
        return asdict(index_entry(memory, self._policy.index))

    def _refused(self, prepared: Prepared, refused: Sequence[WriteResult], caller: Caller) -> WriteReport:
        """The report of a call that stored nothing. Refusals by policy leave a trace, malformed input does not."""
        rejected = {result.index: result for result in (*prepared.refused, *refused)}
        for item in prepared.items:
            rolled_back = WriteResult(index=item.index, outcome=Outcome.REFUSED, error=RolledBack())
            rejected.setdefault(item.index, rolled_back)
        results = tuple(rejected[index] for index in sorted(rejected))
        trace_id = self._ids.new("trace")
        if any(isinstance(result.error, PolicyRefused) for result in results):
            trace = _trace(trace_id, self._clock.now(), caller, prepared.items, results)
            self._connection.write(lambda transaction: save_trace(transaction, trace))
        return WriteReport(results=results, trace_id=trace_id)


def _trace(
    uid: str, now: datetime, caller: Caller, items: Sequence[Item], results: Sequence[WriteResult]
) -> TraceRecord:
    return TraceRecord(
        uid=uid,
        kind="write",
        tenant=caller.tenant,
        spaces=tuple(sorted({item.space.key for item in items})),
        key_id=caller.key_id,
        created_at=now,
        events=[_event(result) for result in results],
    )


def _event(result: WriteResult) -> Mapping[str, object]:
    event: dict[str, object] = {"index": result.index, "outcome": result.outcome.value}
    if result.memory:
        event["uid"] = result.memory.uid
    if result.error:
        event["code"] = getattr(result.error, "reason", result.error.code)
    return event
