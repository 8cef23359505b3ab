"""Reflecting: a caller adds to an identity, and resolves questions (003)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle.identity import FULL_CHARS, REFLECTION_MAX_CHARS, is_full, is_too_soon
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.notebook import NotedQuestion, Reflection
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.identity import IdentityState, identity_state, save_reflections
from graphmem.store.notebooks import lock_notebook
from graphmem.store.questions import lock_question, resolve_questions
from graphmem.text.normalise import is_storable, shows_something, with_layout

ANSWER_MAX_CHARS = 4_000


class TooSoon(Conflict):
    """The last reflection of this space is less than an hour ago."""

    code = "reflection_too_soon"


class IdentityFull(Conflict):
    """The identity of this space takes no more until it was consolidated."""

    code = "identity_full"


class IdentityDisabled(Conflict):
    """No reflections are kept in this space (lifecycle.identity_enabled)."""

    code = "identity_disabled"


class AlreadyResolved(Conflict):
    """The question was resolved before."""

    code = "question_resolved"


@dataclass(frozen=True, kw_only=True)
class AddReflection(Operation[IdentityState, Reflection]):
    """Add a reflection to the identity of a space."""

    kind = TraceKind.NOTEBOOK

    space: Space
    uid: str
    text: str
    config: LifecycleConfig

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the identity."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """What the reflection says."""
        return (self.text,)

    def check(self) -> None:
        """Refuse what is blank, cannot be stored, or is too long.

        Raises:
            InvalidInput: it is.
        """
        check_text("text", self.text, REFLECTION_MAX_CHARS)

    def read(self, transaction: Workbench) -> IdentityState:
        """When the last one was added, and how long they are."""
        lock_notebook(transaction, self.space)
        return identity_state(transaction, self.space)

    def decide(self, state: IdentityState, now: datetime) -> Decided[Reflection]:
        """Add it, one an hour, as long as the identity is not full.

        Raises:
            IdentityDisabled, TooSoon, IdentityFull: it may not be added.
        """
        if not self.config.identity_enabled:
            raise IdentityDisabled
        if is_too_soon(state.last_at, now):
            raise TooSoon
        if is_full(state.characters):
            message = f"The identity of this space has {FULL_CHARS:,} characters or more."
            raise IdentityFull(message)
        added = Reflection(
            uid=self.uid, space=self.space, text=with_layout(self.text), noted_at=now
        )
        event = Event(
            space=self.space.key,
            subject=self.uid,
            about=Subject.REFLECTION,
            effect=Effect.REFLECTED,
        )
        return Decided(answer=added, events=(event,))

    def apply(self, transaction: Workbench, decided: Decided[Reflection]) -> None:
        """Write the reflection."""
        save_reflections(transaction, [decided.answer])


@dataclass(frozen=True, kw_only=True)
class ResolveQuestion(Operation[NotedQuestion | None, NotedQuestion]):
    """Resolve a question, with an answer if there is one."""

    kind = TraceKind.NOTEBOOK

    space: Space
    uid: str
    answer: str | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the question."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """What somebody answered, if anything."""
        return (self.answer,) if self.answer else ()

    def check(self) -> None:
        """Refuse an answer that is blank, cannot be stored, or is too long.

        Raises:
            InvalidInput: it is.
        """
        if self.answer is not None:
            check_text("answer", self.answer, ANSWER_MAX_CHARS)

    def read(self, transaction: Workbench) -> NotedQuestion | None:
        """The question, locked."""
        return lock_question(transaction, self.space, self.uid)

    def decide(self, state: NotedQuestion | None, now: datetime) -> Decided[NotedQuestion]:
        """Note that it is resolved.

        Raises:
            NotFound: there is no such question.
            AlreadyResolved: it was resolved before.
        """
        if state is None:
            raise NotFound
        if state.resolved_at is not None:
            raise AlreadyResolved
        answer = with_layout(self.answer) if self.answer else None
        done = replace(state, resolved_at=now, answer=answer)
        event = Event(
            space=self.space.key,
            subject=self.uid,
            about=Subject.QUESTION,
            effect=Effect.QUESTION_RESOLVED,
        )
        return Decided(answer=done, events=(event,))

    def apply(self, transaction: Workbench, decided: Decided[NotedQuestion]) -> None:
        """Write how it was resolved."""
        resolve_questions(transaction, [decided.answer])


def check_text(field: str, text: str, most: int) -> None:
    """Refuse a text that is blank, cannot be stored, or is too long.

    Raises:
        InvalidInput: it is, by the name of its field.
    """
    if not is_storable(text) or not shows_something(text):
        raise InvalidInput({field: ["Must have a character that can be seen, and be valid text."]})
    if len(text) > most:
        raise InvalidInput({field: [f"Must have at most {most:,} characters."]})
