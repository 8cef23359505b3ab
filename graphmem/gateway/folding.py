"""Unfolding: what the curator folded can be taken apart again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import Conflict
from graphmem.gateway.claims import claims_of
from graphmem.gateway.draft import Draft
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.revising import check_version
from graphmem.gateway.rollups import take_apart
from graphmem.model.memory import Memory, Status
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import Outcome, WriteResult


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfolded:
    """What became of a folded memory, and the uids of those that are active again."""

    result: WriteResult
    restored: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Unfold(MemoryOperation[Unfolded]):
    """Take apart what the curator folded from ``members``."""

    kind = TraceKind.STATUS

    folded: Memory
    members: Sequence[Memory]
    expected_version: int | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the folded memory."""
        return (self.folded.space,)

    def selection(self) -> Selection:
        """The folded memory, its members, and what all of them claim."""
        everyone = (self.folded, *self.members)
        return Selection(
            memories=frozenset(memory.key for memory in everyone), claims=claims_of(everyone)
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[Unfolded]:
        """Restore the members.

        Raises:
            Conflict: see decide_unfold.
        """
        decision = decide_unfold(
            state,
            self.folded.key,
            [member.key for member in self.members],
            now,
            expected_version=self.expected_version,
        )
        restored = sorted(
            each.uid
            for each in decision.changed
            if each.status is Status.ACTIVE and state.memories[each.key].status is Status.ARCHIVED
        )
        answer = Unfolded(result=decision.results[0], restored=tuple(restored))
        return Decided(answer=answer, events=decision.events, memories=decision)


def decide_unfold(
    state: GraphState,
    folded_key: str,
    members: Sequence[str],
    now: datetime,
    *,
    expected_version: int | None = None,
) -> Decision:
    """Make the members of a fold active again, as they were, and archive the folded memory.

    A member that was changed since it was folded away stays as it is.

    Raises:
        Conflict: the memory was not made by folding, or was unfolded before.
    """
    folded = state.memories[folded_key]
    check_version(folded, expected_version)
    check_keeper(folded, None)
    if not members:
        message = "The memory was not folded from others."
        raise Conflict(message)
    if folded.status not in {Status.ACTIVE, Status.RETRACTED}:
        message = f"The memory is {folded.status}: it was unfolded or put away before."
        raise Conflict(message)
    draft = Draft(before=state, now=now)
    event = take_apart(draft, folded, members)
    result = WriteResult(index=0, outcome=Outcome.REVISED, memory=draft.memories[folded_key])
    return draft.decision([result], [event])
