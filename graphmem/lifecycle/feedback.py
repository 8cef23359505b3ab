"""Feedback: a memory that came back from a recall is said to be useful or not, and counts it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from graphmem.errors import FeedbackDisabled, InvalidInput, NotFound
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Role
from graphmem.model.event import Effect, Event
from graphmem.model.feedback import Feedback, FeedbackCounts, LastRecall
from graphmem.model.memory import memory_key
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.feedback import CountedMemory, feedback_of, lock_counted, save_feedback
from graphmem.store.last_recalls import save_last_recall

NOT_IN_IT = "The recall did not give this memory."
IN_SEVERAL = "Several spaces of the recall have a memory of that uid: name one."


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What a caller says of a memory, by its uid: whether it was useful when a recall gave it.

    The recall is that of a trace, where ``space`` is that of the memory if it is given, or the last
    one of a session of ``space``.
    """

    uid: str
    useful: bool
    note: str | None = None
    trace_id: str | None = None
    space: Space | None = None
    session: str | None = None


def takes_feedback(config: LifecycleConfig) -> bool:
    """Whether a space counts feedback of any kind."""
    return config.feedback_enabled or config.negative_examples_enabled


def memory_meant(opinion: Opinion, memories: Sequence[str]) -> str:
    """The key of the memory that an opinion is about, among those that its recall gave.

    Raises:
        InvalidInput: it is none of them, or one of several.
    """
    keys = [key for key in memories if key.partition("|")[2] == opinion.uid]
    own = memory_key(opinion.space, opinion.uid) if opinion.space else ""
    if own in keys:
        return own
    if not keys or (opinion.trace_id and own):
        raise InvalidInput({"uid": [NOT_IN_IT]})
    if len(keys) > 1:
        raise InvalidInput({"space": [IN_SEVERAL]})
    return keys[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackState:
    """A memory with its counts, and what was said of it for the same recall before."""

    counted: CountedMemory
    before: Feedback | None


@dataclass(frozen=True, kw_only=True)
class GiveFeedback(Operation[FeedbackState | None, FeedbackCounts]):
    """Count whether a memory was useful for a recall; what was said before for it gives way."""

    kind = TraceKind.FEEDBACK

    space: Space
    memory: str
    recall: str
    useful: bool
    note: str | None
    config: LifecycleConfig

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the memory."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """The note, if there is one."""
        return [self.note] if self.note else []

    def check(self) -> None:
        """Refuse it where the space counts none.

        Raises:
            FeedbackDisabled: it does not.
        """
        if not takes_feedback(self.config):
            raise FeedbackDisabled

    def read(self, transaction: Workbench) -> FeedbackState | None:
        """The memory, locked, and what was said before; None where it is gone."""
        given = self._given(transaction.now)
        counted = lock_counted(transaction, [given.memory_key]).get(given.memory_key)
        before = feedback_of(transaction, [given.key]).get(given.key)
        return FeedbackState(counted=counted, before=before) if counted else None

    def decide(self, state: FeedbackState | None, now: datetime) -> Decided[FeedbackCounts]:
        """Count it instead of what was said before.

        Raises:
            NotFound: the memory is gone.
            KeptByRoom: a room keeps it.
        """
        if state is None:
            raise NotFound
        check_keeper(state.counted.memory, None)
        given = self._given(now)
        before = state.before.counts if state.before else FeedbackCounts()
        counts = state.counted.counts - before + given.counts
        said = {"recall": self.recall, "useful": self.useful}
        event = Event(
            space=self.space.key,
            subject=self.memory,
            effect=Effect.FEEDBACK_GIVEN,
            detail=said | asdict(counts),
        )
        return Decided(answer=counts, events=(event,), records=given)

    def apply(self, transaction: Workbench, decided: Decided[FeedbackCounts]) -> None:
        """Write what was said and the counts of the memory, which itself stays as it is."""
        given: Feedback = decided.records
        save_feedback(transaction, [given], {given.memory_key: decided.answer})

    def _given(self, now: datetime) -> Feedback:
        return Feedback(
            space=self.space,
            recall=self.recall,
            memory=self.memory,
            useful=self.useful,
            note=self.note,
            at=now,
            is_vote=self.config.feedback_enabled,
            is_example=self.config.negative_examples_enabled and not self.useful,
        )


@dataclass(frozen=True, kw_only=True)
class NoteLastRecall(Operation[None, None]):
    """Remember what the last recall of a session gave; a recall leaves a trace of its own."""

    kind = TraceKind.RECALL
    role = Role.READER

    last: LastRecall

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the session."""
        return (self.last.space,)

    def read(self, transaction: Workbench) -> None:
        """Nothing: it takes the place of the one before."""

    def decide(self, state: None, now: datetime) -> Decided[None]:  # noqa: ARG002
        """There is nothing to weigh: the last recall counts."""
        return Decided(answer=None)

    def apply(self, transaction: Workbench, decided: Decided[None]) -> None:  # noqa: ARG002
        """Write what it gave, in the place of the one before."""
        save_last_recall(transaction, self.last)
