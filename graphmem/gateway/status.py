"""Status: memories are retracted, archived and restored; nothing is deleted."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, NotFound
from graphmem.gateway.axis import place_of, values_around
from graphmem.gateway.claims import claims_of, content_claims, logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.revising import check_version
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, Status
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import Outcome, WriteResult


@dataclass(frozen=True, kw_only=True)
class ChangeStatus(MemoryOperation[WriteResult]):
    """Give a memory a status for a reason, if it is still in the version that the caller saw.

    ``before`` is what a superseded memory last was while it was active: a restored one is true as
    long as that.
    """

    kind = TraceKind.STATUS

    memory: Memory
    status: Status
    reason: str | None
    expected_version: int | None = None
    before: Memory | None = None
    restores_kept: bool = False  # whether the room that keeps it lets anybody restore it

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the memory."""
        return (self.memory.space,)

    @property
    def texts(self) -> Sequence[str]:
        """The reason, if one is given."""
        return [self.reason] if self.reason else []

    def selection(self) -> Selection:
        """The memory, its claims, and what took its place."""
        memory, keys = self.memory, frozenset({self.memory.key})
        return Selection(
            memories=keys,
            updated=keys,
            claims=claims_of([memory]),
            values=values_around(memory.space, memory, memory.began, other_than=memory.key),
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[WriteResult]:
        """Give the memory its status.

        Raises:
            NotFound, Conflict: see decide_status.
        """
        decision = decide_status(state, self, now=now)
        return Decided(answer=decision.results[0], events=decision.events, memories=decision)


def decide_status(state: GraphState, change: ChangeStatus, *, now: datetime) -> Decision:
    """Give a memory a status; it is unchanged when it has it.

    Raises:
        NotFound: there is no such memory.
        KeptByRoom: a room keeps it, and this is not everybody's right.
        Conflict: it has changed since, what superseded it is still current, or another one says
            the same, or holds at that time under its logical key.
    """
    memory = state.memories.get(change.memory.key)
    if memory is None:
        raise NotFound
    check_version(memory, change.expected_version)
    if not _is_free_to(change, memory):
        check_keeper(memory, None)
    draft = Draft(before=state, now=now)
    if memory.status is change.status and not (
        change.status is Status.ACTIVE and memory.has_expired(now)
    ):
        return draft.decision([WriteResult(index=0, outcome=Outcome.UNCHANGED, memory=memory)])
    if change.status is Status.ACTIVE:
        _check_not_taken_apart(memory)
        memory = _open_again(memory, change.before, state, now)
        memory = _at_its_place(draft, memory, state.updates.get(memory.key, ()))
    changed = draft.set_status(memory, change.status, change.reason)
    if change.status is Status.ACTIVE:
        _supersede_again(draft, changed, state.updates.get(memory.key, ()))
    event = Event(
        space=changed.space.key,
        subject=changed.uid,
        effect=Effect(change.status),
        detail={"reason": change.reason},
    )
    return draft.decision([WriteResult(index=0, outcome=Outcome.REVISED, memory=changed)], [event])


def _supersede_again(draft: Draft, restored: Memory, superseded: Collection[str]) -> None:
    """Let a restored memory supersede what it had superseded, and take what that claims."""
    for key in superseded:
        if key in draft.memories and draft.memories[key].status is Status.ACTIVE:
            draft.supersede(restored, draft.memories[key])
    draft.take_claims(draft.memories[restored.key], also_from=None)


def _check_not_taken_apart(memory: Memory) -> None:
    """Refuse to restore what was taken apart: its members say again what it said."""
    if memory.status is Status.ARCHIVED and memory.status_reason == Reason.UNFOLD:
        message = "The memory was unfolded: the memories that it was made of are there again."
        raise Conflict(message)


def _at_its_place(draft: Draft, memory: Memory, superseded: Collection[str]) -> Memory:
    """A restored memory, which ends where the next value of its key begins.

    Raises:
        Conflict: another memory says the same, or holds then under its key.
    """
    beside = [memory.key, *superseded]
    for other in filter(None, map(draft.claimed, content_claims(memory))):
        if memory.claims_content and other.key not in beside and memory.overlaps(other):
            raise Conflict(_in_the_way(other))
    if memory.logical_key is None:
        return memory
    claim = logical_claim(memory.space, memory.logical_key, memory.kept_by)
    values = [each for each in draft.values_of(claim) if each.key not in beside]
    place = place_of(memory.began, values)
    if place.in_force:
        raise Conflict(_in_the_way(place.in_force))
    if place.after and not memory.is_over(place.after.began):
        if place.after.began <= draft.now:
            raise Conflict(_in_the_way(place.after))
        memory = replace(memory, valid_until=place.after.began)
    return memory


def _in_the_way(other: Memory) -> str:
    return f"The memory {other.uid} says the same or has its key: take that back first."


def _is_free_to(change: ChangeStatus, memory: Memory) -> bool:
    """Whether anybody may do that to a memory that a room keeps: retract it, and take that back."""
    if change.status is Status.RETRACTED:
        return True
    is_taken_back = memory.status is Status.RETRACTED and change.status is Status.ACTIVE
    return is_taken_back and change.restores_kept


def _open_again(memory: Memory, before: Memory | None, state: GraphState, now: datetime) -> Memory:
    """A restored memory, without an expiry that has passed or the end its successor gave."""
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
