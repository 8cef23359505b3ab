"""Expiry: a memory whose time has passed goes quiet: archived, with the reason ttl."""

from datetime import datetime

from graphmem.gateway.draft import Draft
from graphmem.gateway.tracing import effect
from graphmem.model.event import Effect, Reason
from graphmem.model.job import Run
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import UpkeepPolicy
from graphmem.model.state import Decision, GraphState
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Clock
from graphmem.store.idempotency import RetryKeys
from graphmem.upkeep.batch_rules import BatchRules, Rule


def archived(
    state: GraphState, memories: list[Memory], reason: Reason, *, now: datetime
) -> Decision:
    """The decision that puts memories away for one reason."""
    draft = Draft(before=state, now=now)
    for memory in memories:
        draft.set_status(memory, Status.ARCHIVED, reason)
    return draft.decision(events=[effect(memory, Effect.ARCHIVED, reason) for memory in memories])


def decide_expiry(state: GraphState, _: UpkeepPolicy, now: datetime) -> Decision:
    """Archive the active memories of the selection whose expires_at has passed.

    A pin holds them.
    """
    expired = [
        memory
        for _, memory in sorted(state.memories.items())
        if _may_expire(memory) and memory.has_expired(now)
    ]
    return archived(state, expired, Reason.TTL, now=now)


def _may_expire(memory: Memory) -> bool:
    """Whether the job may put a memory away: no pin holds it, and no room keeps it."""
    return memory.status is Status.ACTIVE and not memory.pinned and memory.kept_by is None


EXPIRY = Rule(
    query="upkeep.expired",
    parameters=lambda _, now: {"now": epoch_ms(now)},
    decide=decide_expiry,
)


class Expiry:
    """Archives what has expired, and forgets retry keys whose time has passed."""

    def __init__(self, retry_keys: RetryKeys, *, rules: BatchRules, clock: Clock) -> None:
        self._retry_keys = retry_keys
        self._rules = rules
        self._clock = clock

    def run(self, run: Run) -> None:
        """Go through all spaces, or the one of the run; retry keys belong to none."""
        self._rules.run(EXPIRY, run)
        if not run.space:
            forgotten = self._retry_keys.forget(self._clock.now(), dry_run=run.dry_run)
            run.counts["retry_keys_forgotten"] = forgotten
