"""Notebook upkeep: what consolidation does about profile and identity of a space (003)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle.identity import consolidated
from graphmem.lifecycle.profile import LINES_MAX, to_drop
from graphmem.lifecycle.profile_model import Repeat, repeats_among
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.job import Run
from graphmem.model.notebook import ProfileLine, Reflection
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.ports import LanguageModel
from graphmem.store.connection import Connection
from graphmem.store.identity import reflections_of, save_reflections
from graphmem.store.notebooks import lock_notebook
from graphmem.store.profile import drop_lines, profile_of
from graphmem.upkeep.consolidation import DueSpace


@dataclass(frozen=True, kw_only=True)
class ShortenProfile(Operation[Sequence[ProfileLine], Sequence[ProfileLine]]):
    """Drop lines of a profile of more than 300, until less are left; the answer are these."""

    kind = TraceKind.NOTEBOOK

    space: Space
    repeats: Sequence[Repeat] = ()  # lines that a model found to say the same

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the profile."""
        return (self.space,)

    def read(self, transaction: Workbench) -> Sequence[ProfileLine]:
        """The lines that are shown."""
        lock_notebook(transaction, self.space)
        return profile_of(transaction, self.space, transaction.now)

    def decide(
        self,
        state: Sequence[ProfileLine],
        now: datetime,  # noqa: ARG002
    ) -> Decided[Sequence[ProfileLine]]:
        """Those that go."""
        gone = to_drop(state, self.repeats)
        return Decided(answer=gone, events=tuple(map(_line_dropped, gone)))

    def apply(self, transaction: Workbench, decided: Decided[Sequence[ProfileLine]]) -> None:
        """Let them be shown no more."""
        if decided.answer:
            drop_lines(transaction, decided.answer, transaction.now)


@dataclass(frozen=True, kw_only=True)
class ShortenIdentity(Operation[Sequence[Reflection], Sequence[Reflection]]):
    """Make an identity of more than 8,000 characters shorter; the answer is what changed."""

    kind = TraceKind.NOTEBOOK

    space: Space

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the identity."""
        return (self.space,)

    def read(self, transaction: Workbench) -> Sequence[Reflection]:
        """The reflections that are shown."""
        lock_notebook(transaction, self.space)
        return reflections_of(transaction, self.space)

    def decide(self, state: Sequence[Reflection], now: datetime) -> Decided[Sequence[Reflection]]:
        """Those that go or shrink."""
        changed = consolidated(state, now)
        return Decided(answer=changed, events=tuple(map(_reflection_changed, changed)))

    def apply(self, transaction: Workbench, decided: Decided[Sequence[Reflection]]) -> None:
        """Write the reflections that went or shrank."""
        save_reflections(transaction, decided.answer)


def _line_dropped(line: ProfileLine) -> Event:
    return Event(
        space=line.space.key,
        subject=line.uid,
        about=Subject.PROFILE_LINE,
        effect=Effect.PROFILE_LINE_DROPPED,
    )


def _reflection_changed(reflection: Reflection) -> Event:
    is_gone = reflection.dropped_at is not None
    return Event(
        space=reflection.space.key,
        subject=reflection.uid,
        about=Subject.REFLECTION,
        effect=Effect.REFLECTION_DROPPED if is_gone else Effect.REFLECTION_SHORTENED,
    )


@dataclass(frozen=True, kw_only=True)
class NotebookUpkeep:
    """The steps of a pass."""

    gateway: Gateway
    connection: Connection
    model: LanguageModel | None = None

    def shorten_profile(self, due: DueSpace, run: Run) -> None:
        """Keep a profile below its most lines."""
        repeats = self._repeats(self.model, due, run) if self.model else ()
        self.gateway.execute(ShortenProfile(space=due.space, repeats=repeats), run)

    def _repeats(self, model: LanguageModel, due: DueSpace, run: Run) -> Sequence[Repeat]:
        """What a model says of the lines where there are too many."""
        lines = profile_of(self.connection, due.space, due.now)
        if len(lines) <= LINES_MAX:
            return ()
        try:
            return repeats_among(model, lines)
        except ModelUnavailable as error:
            run.note_degraded(f"profile shortened by rules: {error.message}")
            return ()

    def shorten_identity(self, due: DueSpace, run: Run) -> None:
        """Keep an identity short."""
        self.gateway.execute(ShortenIdentity(space=due.space), run)
