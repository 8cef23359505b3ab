"""Ledger: the states and operations of a repository as they are recorded, one after another."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.corpus.looks import Look, facts_of
from graphmem.corpus.push_result import PushResult, work_of
from graphmem.corpus.state import REPAIR, CorpusFacts, state_of, transition, way
from graphmem.model.corpus import CorpusRepository, CorpusState, CorpusWork, Transition

_DAMAGE, _MENDED = "damage", "mended"  # by hand, either


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
        was_invalid = self.repository.state is CorpusState.CORPUS_INVALID
        self._move(self.state, _MENDED if was_invalid else _DAMAGE)

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

    def fail(self, cause: str) -> None:
        """Record that the last write failed; an invalid corpus stays one until its repair."""
        if self.state is not CorpusState.CORPUS_INVALID:
            self.put(cause, has_failed_write=True)

    def _move(self, after: CorpusState, cause: str) -> None:
        for state in way(self.repository.state, after):
            why = cause if state is after else REPAIR
            change = transition(self.repository.state, state, cause=why, now=self.now)
            if change:
                number = self.repository.transitions + 1
                self.repository = replace(self.repository, state=state, transitions=number)
                self.transitions.append((number, change))

    def note_failure(self) -> None:
        """Record an operation that failed before anything was to be written."""
        number = self.repository.works + 1
        work = CorpusWork(number=number, at=self.now, has_failed=True)
        self.repository = replace(self.repository, works=number, newest=work, last_failed=number)

    def note(self, result: PushResult) -> None:
        """Record an operation, as a status tells of it."""
        number = self.repository.works + 1
        work = work_of(result, number=number, now=self.now)
        failed = number if work.has_failed else self.repository.last_failed
        self.repository = replace(self.repository, works=number, newest=work, last_failed=failed)
