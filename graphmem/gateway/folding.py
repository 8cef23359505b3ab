"""Unfolding: what the curator folded can be taken apart again."""

from collections.abc import Sequence
from datetime import datetime

from graphmem.errors import Conflict
from graphmem.gateway.claims import claims_of
from graphmem.gateway.decide import check_version
from graphmem.gateway.draft import Draft
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.writing import Outcome, WriteResult

FOLD = "fold"
UNFOLD = "unfold"


def unfold_selection(folded: Memory, members: Sequence[Memory]) -> Selection:
    """What taking a folded memory apart locks and reads."""
    return Selection(
        memories=frozenset({folded.key, *(member.key for member in members)}),
        claims=claims_of((folded, *members)),
    )


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
        Conflict: the memory was not made by folding, or was unfolded or taken back before.
    """
    folded = state.memories[folded_key]
    check_version(folded, expected_version)
    if not members:
        message = "The memory was not folded from others."
        raise Conflict(message)
    if folded.status is not Status.ACTIVE:
        message = f"The memory is {folded.status}: it was unfolded or put away before."
        raise Conflict(message)
    draft = Draft(before=state, now=now)
    changed = draft.set_status(folded, Status.ARCHIVED, UNFOLD)
    restored = [
        draft.set_status(memory, Status.ACTIVE, None).uid
        for memory in (state.memories[key] for key in sorted(members) if key in state.memories)
        if memory.status is Status.ARCHIVED
        and memory.status_reason == FOLD
        and not memory.has_expired(now)
    ]
    event: dict[str, object] = {
        "uid": changed.uid,
        "outcome": "unfolded",
        "reason": UNFOLD,
        "restored": restored,
    }
    return draft.decision([WriteResult(index=0, outcome=Outcome.REVISED, memory=changed)], [event])
