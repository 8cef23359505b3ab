"""The gateway: authorise, validate, screen, embed, then one transaction: lock, read, decide, apply, trace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import Conflict, Forbidden, GraphmemError, InvalidInput, PolicyRefused
from graphmem.gateway.answers import answer_text, is_stored, memory_keys, report_from
from graphmem.gateway.combining import Combiner
from graphmem.gateway.decide import decide, selection_for
from graphmem.gateway.edges import (
    DrawnEdge,
    EdgeRequest,
    decide_edge,
    decide_removal,
    edge_problems,
    edge_selection,
)
from graphmem.gateway.folding import decide_unfold, unfold_selection
from graphmem.gateway.indexing import index_entry
from graphmem.gateway.preparation import Preparation, Prepared
from graphmem.gateway.status import StatusChange, decide_status, status_selection
from graphmem.gateway.tracing import effect_traces, write_trace
from graphmem.model.caller import Caller, Role
from graphmem.model.edge import Edge, EdgeType
from graphmem.model.job import Run
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import Decision, EdgeKey, GraphState, Selection
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.model.writing import (
    ROLLED_BACK,
    IdempotencyKey,
    Outcome,
    WriteReport,
    WriteRequest,
    WriteResult,
)
from graphmem.ports import Clock, Embedder, IdSource, Vector
from graphmem.store.connection import Connection, Transaction
from graphmem.store.edges import Edges
from graphmem.store.history import Histories
from graphmem.store.idempotency import lock_answer, save_answer
from graphmem.store.memories import memories_by_key
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import save_trace, save_traces
from graphmem.store.vectors import VectorSlot
from graphmem.store.writes import Enrichment, apply_decision, read_state

_COMBINED_ITEMS_MAX = 16  # items of a request that shares its transaction
_COMBINED_JOBS_MAX = 32

Decide = Callable[[GraphState], Decision]


class RolledBack(GraphmemError):
    """Another item of this atomic batch was refused, so nothing was stored."""

    code = ROLLED_BACK


class _UndoError(Exception):
    """Leaves the transaction of an atomic batch without committing it."""

    def __init__(self, results: Sequence[WriteResult]) -> None:
        super().__init__()
        self.results = tuple(results)


class _DryRunError(Exception):
    """Leaves the transaction of a dry run without committing it."""

    def __init__(self, decision: Decision) -> None:
        super().__init__()
        self.decision = decision


def _taken(uid: str) -> Conflict:
    return Conflict(f"Another edge of this space has the uid {uid}.")


class Gateway:
    """The one way in. Each write is authorised, checked, decided by a pure function and traced."""

    def __init__(
        self,
        connection: Connection,
        *,
        embedder: Embedder,
        slot: VectorSlot,
        clock: Clock,
        ids: IdSource,
        policy: Policy,
        policies: SpacePolicies,
        workspaces: Workspaces,
    ) -> None:
        self._connection = connection
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._slot = slot
        self._policies = policies
        self._histories = Histories(connection)
        self._edges = Edges(connection)
        self._combiner = Combiner(self._store_together, jobs_max=_COMBINED_JOBS_MAX)
        self._preparation = Preparation(
            embedder=embedder,
            ids=ids,
            policy=policy,
            policies=policies,
            workspaces=workspaces,
        )

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
        """Write memories.

        One result per request, in order, and a bad one never takes others with it.

        An error in place of a request is answered as it is. With ``atomic`` all are stored or none,
        and so it is with ``edges`` among them and what is there. Without ``with_vectors`` a job
        makes the vectors later.

        Raises:
            Conflict: the idempotency key belongs to another request; an edge's uid is that of
            another edge. InvalidInput, Forbidden: an edge cannot be drawn. StoreUnavailable: the
            database does not answer; nothing was stored.
        """
        prepared = self._preparation.check(requests, caller)
        atomic = atomic or bool(edges)
        if atomic and prepared.refused:
            return self._refused(prepared, prepared.refused, caller)
        if not prepared.items and not edges:
            return self._refused(prepared, (), caller)
        self._check_edges(edges, caller)
        prepared = self._preparation.embed(prepared) if with_vectors else prepared.without_vectors()
        return self._store(prepared, caller, atomic=atomic, edges=edges, idempotency=idempotency)

    def refusals(
        self, requests: Sequence[WriteRequest], edges: Sequence[EdgeRequest] = (), *, caller: Caller
    ) -> tuple[GraphmemError, ...]:
        """What a write would refuse before it looks at what is there: rights, values, screening, uids of edges."""
        refused = [
            result.error
            for result in self._preparation.check(requests, caller).refused
            if result.error
        ]
        try:
            self._check_edges(edges, caller)
        except (Conflict, Forbidden, InvalidInput) as error:
            refused.append(error)
        return tuple(refused)

    def correct(
        self, request: WriteRequest, *, caller: Caller, expected_version: int | None = None
    ) -> tuple[WriteResult, str]:
        """Change exactly the given fields of the memory that the request's uid names.

        And the trace of it.

        The request repeats the present content, actor and source where it does not change them.

        Raises:
            NotFound: there is no such memory.
            Conflict: it has another version than the expected one.
            InvalidInput, Forbidden, PolicyRefused: as for a write.
        """
        prepared = self._preparation.check([request], caller, are_corrections=True)
        items = tuple(replace(item, expected_version=expected_version) for item in prepared.items)
        prepared = self._preparation.embed(replace(prepared, items=items))
        report = self._store(prepared, caller) if items else self._refused(prepared, (), caller)
        result = report.results[0]
        if result.error:
            raise result.error
        return result, report.trace_id

    def _store(
        self,
        prepared: Prepared,
        caller: Caller,
        *,
        atomic: bool = False,
        edges: Sequence[EdgeRequest] = (),
        idempotency: IdempotencyKey | None = None,
    ) -> WriteReport:
        """Store what was prepared; a few items share a transaction with those of other callers."""
        if not atomic and idempotency is None and len(prepared.items) <= _COMBINED_ITEMS_MAX:
            return self._combiner.submit((prepared, caller))
        return self._store_alone(
            prepared, caller, atomic=atomic, edges=edges, idempotency=idempotency
        )

    def _store_together(self, jobs: Sequence[tuple[Prepared, Caller]]) -> list[WriteReport]:
        """Decide and apply what several callers sent, in one transaction.

        Each gets its own report and trace.
        """
        now = self._clock.now()
        starts = [*accumulate((len(prepared.items) for prepared, _ in jobs), initial=0)]
        items = [
            replace(item, index=start + number)
            for (prepared, _), start in zip(jobs, starts, strict=False)
            for number, item in enumerate(prepared.items)
        ]
        vectors = {
            start + number: prepared.vectors[item.index]
            for (prepared, _), start in zip(jobs, starts, strict=False)
            for number, item in enumerate(prepared.items)
            if item.index in prepared.vectors
        }
        trace_ids = [self._ids.new("trace") for _ in jobs]

        def work(transaction: Transaction) -> list[WriteReport]:
            decision = self._decide_and_apply(
                transaction,
                selection_for(items),
                lambda state: decide(state, items, policy=self._policy, now=now),
                vectors,
            )
            reports = []
            for (prepared, _), start, trace_id in zip(jobs, starts, trace_ids, strict=False):
                own = decision.results[start : start + len(prepared.items)]
                stored = [
                    replace(result, index=item.index)
                    for result, item in zip(own, prepared.items, strict=True)
                ]
                results = tuple(
                    sorted((*stored, *prepared.refused), key=lambda result: result.index)
                )
                reports.append(WriteReport(results=results, trace_id=trace_id))
            save_traces(
                transaction,
                [
                    write_trace(report.trace_id, now, caller, prepared, report.results)
                    for (prepared, caller), report in zip(jobs, reports, strict=True)
                ],
            )
            return reports

        return self._connection.write(work)

    def _store_alone(
        self,
        prepared: Prepared,
        caller: Caller,
        *,
        atomic: bool,
        edges: Sequence[EdgeRequest],
        idempotency: IdempotencyKey | None,
    ) -> WriteReport:
        now = self._clock.now()
        trace_id = self._ids.new("trace")

        def work(transaction: Transaction) -> WriteReport:
            if idempotency and (answer := lock_answer(transaction, idempotency)):
                return report_from(answer, memories_by_key(transaction, memory_keys(answer)))
            decision = self._decide_and_apply(
                transaction,
                selection_for(prepared.items, edges),
                lambda state: decide(state, prepared.items, edges, policy=self._policy, now=now),
                prepared.vectors,
                atomic=atomic,
            )
            results = tuple(
                sorted((*decision.results, *prepared.refused), key=lambda result: result.index)
            )
            report = WriteReport(results=results, trace_id=trace_id)
            save_trace(transaction, write_trace(trace_id, now, caller, prepared, results))
            if idempotency and is_stored(results):
                save_answer(transaction, idempotency, answer_text(report))
            return report

        try:
            return self._connection.write(work)
        except _UndoError as undo:
            return self._refused(
                prepared, [result for result in undo.results if result.error], caller
            )

    def change_status(
        self,
        memory: Memory,
        status: Status,
        reason: str | None,
        *,
        caller: Caller,
        expected_version: int | None = None,
    ) -> tuple[WriteResult, str]:
        """Retract, archive or restore a memory that the caller has seen; and the trace of it.

        Raises:
            Forbidden: the key may not write in its space.
            NotFound, Conflict: see decide_status.
        """
        self._authorise(caller, memory.space)
        now = self._clock.now()
        is_superseded = status is Status.ACTIVE and memory.status is Status.SUPERSEDED
        change = StatusChange(
            key=memory.key,
            status=status,
            reason=reason,
            expected_version=expected_version,
            before=self._histories.last_active(memory) if is_superseded else None,
        )
        decision, trace_id = self._change(
            status_selection(memory),
            lambda state: decide_status(state, change, now=now),
            kind=TraceKind.STATUS,
            space=memory.space,
            caller=caller,
        )
        return decision.results[0], trace_id

    def unfold(
        self, folded: Memory, *, caller: Caller, expected_version: int | None = None
    ) -> tuple[WriteResult, list[str], str]:
        """Take apart what the curator folded: the result, the uids that are active again, and the trace of it.

        Raises:
            Forbidden: the key may not write in its space.
            Conflict: see decide_unfold.
        """
        self._authorise(caller, folded.space)
        now = self._clock.now()
        members = self._histories.folded_from(folded)
        decision, trace_id = self._change(
            unfold_selection(folded, members),
            lambda state: decide_unfold(
                state,
                folded.key,
                [member.key for member in members],
                now,
                expected_version=expected_version,
            ),
            kind=TraceKind.STATUS,
            space=folded.space,
            caller=caller,
        )
        restored = [memory.uid for memory in decision.changed if memory.key != folded.key]
        return decision.results[0], sorted(restored), trace_id

    def draw_edge(self, request: EdgeRequest, *, caller: Caller) -> DrawnEdge:
        """Draw an edge between two memories of a space, or revise the one that is there.

        Raises:
            Forbidden: the key may not write in the space.
            InvalidInput: an end is not there, or both are the same.
        """
        self._check_edges([request], caller, are_many=False)
        now = self._clock.now()
        decision, trace_id = self._change(
            edge_selection(request),
            lambda state: decide_edge(state, request, now=now),
            kind=TraceKind.EDGE,
            space=request.space,
            caller=caller,
        )
        is_new = decision.events[0]["outcome"] == "edge_created"
        return DrawnEdge(edge=decision.edges[-1][1], is_new=is_new, trace_id=trace_id)

    def remove_edge(self, space: Space, edge: Edge, *, caller: Caller) -> str:
        """Remove an edge; says which trace keeps what it was.

        Raises:
            Forbidden: the key may not write in the space.
            NotFound: it is no longer there.
        """
        self._authorise(caller, space)
        now = self._clock.now()
        place = (
            memory_key(space, edge.from_uid),
            EdgeType(edge.type),
            memory_key(space, edge.to_uid),
        )
        _, trace_id = self._change(
            Selection(memories=frozenset({place[0], place[2]}), edges=frozenset({place})),
            lambda state: decide_removal(state, place, now=now),
            kind=TraceKind.EDGE,
            space=space,
            caller=caller,
        )
        return trace_id

    def _check_edges(
        self, requests: Sequence[EdgeRequest], caller: Caller, *, are_many: bool = True
    ) -> None:
        """Refuse edges in spaces that the key may not write in, and uids that another edge of the space has."""
        for space in sorted({request.space for request in requests}):
            self._authorise(caller, space)
        wrong: dict[str, list[str]] = {}
        for index, request in enumerate(requests):
            path = f"edges.{index}." if are_many else ""
            wrong |= edge_problems(request, path=path)
        if wrong:
            raise InvalidInput(wrong)
        wanted: dict[tuple[Space, str], EdgeKey] = {}
        for request in requests:
            if (
                request.uid
                and wanted.setdefault((request.space, request.uid), request.place) != request.place
            ):
                raise _taken(request.uid)
        for space, edge in (
            self._edges.by_uids(caller.tenant, sorted({uid for _, uid in wanted})) if wanted else ()
        ):
            place = (memory_key(space, edge.from_uid), edge.type, memory_key(space, edge.to_uid))
            if wanted.get((space, edge.uid), place) != place:
                raise _taken(edge.uid)

    def _authorise(self, caller: Caller, space: Space) -> None:
        if not caller.may(Role.WRITER, space):
            raise Forbidden
        self._policies.check_enabled(space)

    def _change(
        self,
        selection: Selection,
        decider: Decide,
        *,
        kind: TraceKind,
        space: Space,
        caller: Caller,
    ) -> tuple[Decision, str]:
        """Change something of one space for a caller, atomically; and the trace of it."""
        trace_id, now = self._ids.new("trace"), self._clock.now()

        def work(transaction: Transaction) -> Decision:
            decision = self._decide_and_apply(transaction, selection, decider, {})
            if not decision.is_empty:
                trace = TraceRecord(
                    uid=trace_id,
                    kind=kind,
                    tenant=space.tenant,
                    spaces=(space.key,),
                    key_id=caller.key_id,
                    created_at=now,
                    events=decision.events,
                )
                save_trace(transaction, trace)
            return decision

        return self._connection.write(work), trace_id

    def keep(
        self,
        selection: Selection,
        decider: Decide,
        *,
        run: Run,
        vectors: Mapping[int, Sequence[Vector]] | None = None,
    ) -> Decision:
        """Let a job change what its decider decides, atomically, with a trace for each memory.

        And count it.

        A dry run decides on the same state and touches nothing. What jobs change, no turn's context
        speaks of.
        """
        selection = replace(selection, with_turns=False)

        def work(transaction: Transaction) -> Decision:
            if run.dry_run:
                raise _DryRunError(decider(read_state(transaction, selection)))
            decision = self._decide_and_apply(transaction, selection, decider, vectors or {})
            if decision.events:
                save_traces(
                    transaction, effect_traces(decision, run, ids=self._ids, now=self._clock.now())
                )
            return decision

        try:
            decision = self._connection.write(work)
        except _DryRunError as dry:
            decision = dry.decision
        run.count(decision.events)
        return decision

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
        enrichment = Enrichment(
            index_fields=self._index_fields,
            vectors=vectors,
            embedder=self._embedder.name,
            slot=self._slot.suffix,
        )
        apply_decision(transaction, decision, enrichment, selection.claims)
        return decision

    def _index_fields(self, memory: Memory) -> Mapping[str, str]:
        return asdict(index_entry(memory, self._policy.index))

    def _refused(
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
        trace_id = self._ids.new("trace")
        if any(isinstance(result.error, PolicyRefused) for result in results):
            trace = write_trace(trace_id, self._clock.now(), caller, prepared, results)
            self._connection.write(lambda transaction: save_trace(transaction, trace))
        return WriteReport(results=results, trace_id=trace_id)
