"""Ledger: the states and operations of a repository as they are recorded, one after another."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.corpus.looks import Look, facts_of
from graphmem.corpus.push_result import PushResult, work_of
from graphmem.corpus.state import CorpusFacts, state_of, transition
from graphmem.model.corpus import CorpusRepository, CorpusState, Transition

_DAMAGE = "damage"
# what was damaged by hand can only be mended by hand
_MENDED = frozenset({CorpusState.CORPUS_PARTIAL, CorpusState.CORPUS_READY})


@dataclass(kw_only=True)
class Ledger:
    """What is recorded of a repository while an operation decides.

    It begins with what was found, so that damage is noted before anything else.
    """

    repository: CorpusRepository
    look: Look
    now: datetime
    transitions: list[tuple[int, Transition]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Note what changed since the last operation."""
        if self.repository.is_there:
            self._observe()

    def _observe(self) -> None:
        found = self.state
        if self.repository.state is CorpusState.CORPUS_INVALID and found in _MENDED:
            self.repository = replace(self.repository, state=found)
        else:
            self._move(found, _DAMAGE)

    @property
    def facts(self) -> CorpusFacts:
        """The facts as they are now."""
        return facts_of(self.repository, self.look)

    @property
    def state(self) -> CorpusState:
        """The state that follows from them."""
        return state_of(self.facts)

    def put(self, cause: str, *, look: Look | None = None, **changes: object) -> None:
        """Record other values, and the change of state that follows from them.

        Raises:
            ForbiddenTransition: no corpus may go from the one state to the other.
        """
        self.repository = replace(self.repository, **changes)  # type: ignore[arg-type]
        self.look = look or self.look
        self._move(self.state, cause)

    def _move(self, after: CorpusState, cause: str) -> None:
        change = transition(self.repository.state, after, cause=cause, now=self.now)
        if change is None:
            return
        number = self.repository.transitions + 1
        self.repository = replace(self.repository, state=after, transitions=number)
        self.transitions.append((number, change))

    def note(self, result: PushResult) -> None:
        """Record an operation, as a status tells of it."""
        number = self.repository.works + 1
        work = work_of(result, number=number, now=self.now)
        failed = number if work.has_failed else self.repository.last_failed
        self.repository = replace(self.repository, works=number, newest=work, last_failed=failed)
