"""The gateway: the one way in. Every change of the graph is an operation that it runs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphmem.errors import Forbidden
from graphmem.gateway.operation import Actor, Answer, Decided, Executed, Operation, State
from graphmem.gateway.reactions import Reaction
from graphmem.gateway.screening import screen
from graphmem.gateway.workbench import MemoryIndex, Workbench
from graphmem.model.caller import Caller
from graphmem.model.event import Event
from graphmem.model.job import Run
from graphmem.model.space import SpaceKind, space_from_key
from graphmem.ports import Clock, Events, IdSource
from graphmem.store.connection import Connection, Transaction
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import save_traces


class _UndoneError(Exception):
    """Leaves a transaction without committing it."""

    def __init__(self, decided: Decided[Any]) -> None:
        super().__init__()
        self.decided = decided


class Gateway:
    """Authorises an operation and runs it in one transaction: read, decide, react, apply, trace."""

    def __init__(
        self,
        connection: Connection,
        *,
        index: MemoryIndex,
        clock: Clock,
        ids: IdSource,
        policies: SpacePolicies,
        log: Events,
    ) -> None:
        self._connection = connection
        self._index = index
        self._clock = clock
        self._ids = ids
        self._policies = policies
        self._log = log
        self._reactions: tuple[Reaction, ...] = ()

    def react_with(self, reactions: Sequence[Reaction]) -> None:
        """Let rooms react to what operations change."""
        self._reactions = tuple(reactions)

    def execute(
        self,
        operation: Operation[State, Answer],
        actor: Actor,
        *,
        dry_run: bool = False,
        trace_id: str | None = None,
    ) -> Executed[Answer]:
        """Run an operation for a caller, or as a step of a job, which counts what it did.

        A dry run decides on the same state and changes nothing. ``trace_id`` is how its trace is
        to be called.

        Raises:
            Forbidden: the key may not do that in one of its spaces; MemoryDisabled.
            PolicyRefused: a reason or another of its texts may not be stored.
            GraphmemError: the operation was refused, and nothing changed.
            StoreUnavailable: the database does not answer.
        """
        self._authorise(operation, actor)
        operation.check()
        now, uid = self._clock.now(), trace_id or self._ids.new("trace")
        keeps_nothing = dry_run or (isinstance(actor, Run) and actor.dry_run)
        logged: list[Event] = []

        def work(opened: Transaction) -> Decided[Answer]:
            transaction = Workbench(opened, index=self._index, reactions=self._reactions, now=now)
            state = operation.read(transaction)
            if isinstance(actor, Caller):
                for space in operation.spaces_found(state):
                    self._policies.check_enabled(space)
            decided = operation.react(state, operation.decide(state, now), now)
            logged[:] = operation.status_events(state, decided)
            if isinstance(actor, Caller):  # a job says itself what it did
                decided = _with_events(decided, logged)
            if keeps_nothing or decided.is_refused:
                raise _UndoneError(decided)
            operation.apply(transaction, decided)
            if traces := operation.traces(decided, actor, trace_id=uid, ids=self._ids, now=now):
                save_traces(transaction, traces)
            return decided

        try:
            decided = self._connection.write(work)
            self._write_log(logged)
        except _UndoneError as undone:
            decided = undone.decided
        if isinstance(actor, Run):
            actor.count(decided.events)
        return Executed(answer=decided.answer, events=decided.events, trace_id=uid)

    def _write_log(self, events: Sequence[Event]) -> None:
        """Note in the logs of orchestrators what was superseded or retracted (002, logs)."""
        for event in events:
            space = space_from_key(event.space)
            if space.kind is SpaceKind.ORCHESTRATOR:
                self._log.emit(
                    f"memory.status.{event.effect}",
                    space,
                    memory_id=event.subject,
                    replaced_by=event.detail["replaced_by"],
                )

    def _authorise(self, operation: Operation[Any, Any], actor: Actor) -> None:
        if not isinstance(actor, Caller):
            return
        for space in operation.spaces:
            if not actor.may(operation.role, space):
                raise Forbidden
            self._policies.check_enabled(space)
            if operation.texts:
                screen(operation.texts, self._policies.of(space))


def _with_events(decided: Decided[Answer], more: Sequence[Event]) -> Decided[Answer]:
    """A decision with events of its status changes, but for those that it has itself."""
    said = {(event.space, event.subject, event.effect) for event in decided.events}
    new = [event for event in more if (event.space, event.subject, event.effect) not in said]
    return replace(decided, events=(*decided.events, *new))
