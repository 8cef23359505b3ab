"""State: what becomes of a corpus, from recorded facts, and how it may change (000). Pure."""

from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, GraphmemError
from graphmem.model.corpus import CorpusState, Transition

REPAIR = "repair"  # the cause by which an invalid corpus is set aside


class ForbiddenTransition(GraphmemError):
    """A corpus went from one state to another as none may; this is a fault of the service."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusFacts:
    """What is recorded of an owner's corpus.

    ``is_valid`` says that all its documents can be read and have the form of a corpus;
    ``has_failed_write`` that the last write failed after its retry, and none was proved since.
    """

    has_repository: bool
    has_corpus: bool = False
    is_valid: bool = True
    is_complete: bool = False  # metadata.onboarding_complete
    has_failed_write: bool = False

    @property
    def corpus_exists(self) -> bool:
        """Whether there is a corpus, as the status says it."""
        return self.has_repository and self.has_corpus

    @property
    def onboarding_complete(self) -> bool:
        """Whether onboarding is complete, as the status says it."""
        return self.corpus_exists and self.is_complete


def state_of(facts: CorpusFacts) -> CorpusState:
    """The state: the first condition that holds, in this order (sources, 1.4)."""
    conditions = (
        (not facts.has_repository, CorpusState.NO_REPO),
        (facts.has_failed_write, CorpusState.PERSIST_FAILED),
        (not facts.has_corpus, CorpusState.REPO_NO_CORPUS),
        (not facts.is_valid, CorpusState.CORPUS_INVALID),
        (not facts.is_complete, CorpusState.CORPUS_PARTIAL),
    )
    return next((state for holds, state in conditions if holds), CorpusState.CORPUS_READY)


# the six of the mission document
MISSION_TRANSITIONS = frozenset(
    {
        (CorpusState.NO_REPO, CorpusState.REPO_NO_CORPUS),
        (CorpusState.REPO_NO_CORPUS, CorpusState.CORPUS_PARTIAL),
        (CorpusState.CORPUS_PARTIAL, CorpusState.CORPUS_READY),
        (CorpusState.CORPUS_READY, CorpusState.PERSIST_FAILED),
        (CorpusState.CORPUS_INVALID, CorpusState.REPO_NO_CORPUS),
        (CorpusState.PERSIST_FAILED, CorpusState.CORPUS_READY),
    }
)
# and what it leaves open (trap 33)
EXTENSIONS = frozenset(
    {
        (CorpusState.REPO_NO_CORPUS, CorpusState.PERSIST_FAILED),
        (CorpusState.CORPUS_PARTIAL, CorpusState.PERSIST_FAILED),
        (CorpusState.PERSIST_FAILED, CorpusState.CORPUS_PARTIAL),
        (CorpusState.CORPUS_PARTIAL, CorpusState.CORPUS_INVALID),  # damage
        (CorpusState.CORPUS_READY, CorpusState.CORPUS_INVALID),
        (CorpusState.REPO_NO_CORPUS, CorpusState.CORPUS_READY),  # import
        (CorpusState.REPO_NO_CORPUS, CorpusState.CORPUS_INVALID),
        (CorpusState.CORPUS_READY, CorpusState.CORPUS_PARTIAL),  # revert
    }
)


def transition(
    before: CorpusState, after: CorpusState, *, cause: str, now: datetime
) -> Transition | None:
    """The record of a change of state; None where there is none.

    Raises:
        ForbiddenTransition: no corpus may go from the one to the other.
    """
    if before is after:
        return None
    if (before, after) not in MISSION_TRANSITIONS | EXTENSIONS:
        message = f"No corpus may go from {before} to {after} ({cause})."
        raise ForbiddenTransition(message)
    return Transition(
        before=before,
        after=after,
        at=now,
        cause=cause,
        extension=(before, after) in EXTENSIONS,
    )


def way(before: CorpusState, after: CorpusState) -> tuple[CorpusState, ...]:
    """The states by which a corpus comes from one to another.

    An invalid one is set aside first, as a repair does, before a valid one takes its place.
    """
    if before is after:
        return ()
    is_valid = after in {CorpusState.CORPUS_PARTIAL, CorpusState.CORPUS_READY}
    if before is CorpusState.CORPUS_INVALID and is_valid:
        return (CorpusState.REPO_NO_CORPUS, after)
    return (after,)


def repaired(facts: CorpusFacts) -> CorpusFacts:
    """The facts once an invalid corpus is set aside; a failed write stays one.

    Raises:
        Conflict: there is no corpus that is invalid.
    """
    if not facts.corpus_exists or facts.is_valid:
        message = "There is no invalid corpus to repair."
        raise Conflict(message)
    return replace(facts, has_corpus=False, is_valid=True, is_complete=False)
