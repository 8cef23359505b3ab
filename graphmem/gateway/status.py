"""Status: memories are retracted, archived and restored; nothing is deleted."""

from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, NotFound
from graphmem.gateway.claims import own_claims
from graphmem.gateway.decide import check_version
from graphmem.gateway.draft import Draft
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.writing import Outcome, WriteResult


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusChange:
    """A memory is to have a status, for a reason, if it still is in the version that the caller saw."""

    key: str
    status: Status
    reason: str | None
    expected_version: int | None = None
    before: Memory | None = (
        None  # what it last was while it was active; a restored memory is true as long as that
    )


def status_selection(memory: Memory) -> Selection:
    """What changing the status of a memory locks and reads: itself, its claims, and what took its place."""
    keys = frozenset({memory.key})
    return Selection(memories=keys, updated=keys, claims=frozenset(own_claims(memory)))


def decide_status(state: GraphState, change: StatusChange, *, now: datetime) -> Decision:
    """Give a memory a status; it is unchanged when it has it.

    Raises:
        NotFound: there is no such memory.
        Conflict: it has changed since, or what superseded it is still current.
    """
    memory = state.memories.get(change.key)
    if memory is None:
        raise NotFound
    check_version(memory, change.expected_version)
    draft = Draft(before=state, now=now)
    if memory.status is change.status and not (
        change.status is Status.ACTIVE and memory.has_expired(now)
    ):
        return draft.decision([WriteResult(index=0, outcome=Outcome.UNCHANGED, memory=memory)])
    if change.status is Status.ACTIVE:
        memory = _open_again(memory, change.before, state, now)
    changed = draft.set_status(memory, change.status, change.reason)
    event: dict[str, object] = {
        "uid": changed.uid,
        "outcome": change.status.value,
        "reason": change.reason,
    }
    return draft.decision([WriteResult(index=0, outcome=Outcome.REVISED, memory=changed)], [event])


def _open_again(memory: Memory, before: Memory | None, state: GraphState, now: datetime) -> Memory:
    """A restored memory: without an expiry that has passed, and without the end that its successor gave it."""
    updaters = [
        state.memories[key] for key in state.updaters.get(memory.key, ()) if key in state.memories
    ]
    if current := sorted(updater.uid for updater in updaters if updater.status is Status.ACTIVE):
        message = (
            f"The memory is superseded by {', '.join(current)}: retract or archive that first."
        )
        raise Conflict(message)
    was_superseded = memory.status is Status.SUPERSEDED and before is not None
    return replace(
        memory,
        expires_at=None if memory.has_expired(now) else memory.expires_at,
        valid_until=before.valid_until if was_superseded and before else memory.valid_until,
    )
