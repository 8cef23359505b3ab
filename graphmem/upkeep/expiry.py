"""Expiry: a memory whose time has passed goes quiet: archived, with the reason ttl."""

from datetime import datetime

from graphmem.gateway.draft import Draft
from graphmem.gateway.tracing import effect
from graphmem.model.job import Run
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import UpkeepPolicy
from graphmem.model.state import Decision, GraphState
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Clock
from graphmem.store.connection import Connection
from graphmem.upkeep.sweep import Rule, Sweep

_FORGOTTEN_AT_ONCE = 10_000


def archived(state: GraphState, memories: list[Memory], reason: str, *, now: datetime) -> Decision:
    """The decision that puts memories away for one reason."""
    draft = Draft(before=state, now=now)
    for memory in memories:
        draft.set_status(memory, Status.ARCHIVED, reason)
    return draft.decision(events=[effect(memory, "archived", reason) for memory in memories])


def decide_expiry(state: GraphState, _: UpkeepPolicy, now: datetime) -> Decision:
    """Archive the active memories of the selection whose expires_at has passed.

    A pin holds them.
    """
    expired = [
        memory
        for _, memory in sorted(state.memories.items())
        if memory.status is Status.ACTIVE and memory.has_expired(now) and not memory.pinned
    ]
    return archived(state, expired, "ttl", now=now)


EXPIRY = Rule(
    query="upkeep.expired",
    parameters=lambda _, now: {"now": epoch_ms(now)},
    decide=decide_expiry,
)


class Expiry:
    """Archives what has expired, and forgets retry keys whose time has passed."""

    def __init__(self, connection: Connection, *, sweep: Sweep, clock: Clock) -> None:
        self._connection = connection
        self._sweep = sweep
        self._clock = clock

    def run(self, run: Run) -> None:
        """One pass."""
        self._sweep.run(EXPIRY, run)
        if run.dry_run and not run.space:
            rows = self._connection.fetch(
                "service.count_old_idempotency_keys", now=self._clock.now()
            )
            run.counts["retry_keys_forgotten"] = min(rows[0]["old"], _FORGOTTEN_AT_ONCE)
        elif not run.space:
            rows = self._connection.run(
                "service.forget_idempotency_keys", now=self._clock.now(), limit=_FORGOTTEN_AT_ONCE
            )
            run.counts["retry_keys_forgotten"] = rows[0]["removed"]
