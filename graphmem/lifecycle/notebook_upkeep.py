"""Notebook upkeep: what consolidation does about profile and identity of a space (003)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle.identity import consolidated
from graphmem.lifecycle.profile import CATEGORIES, LINES_MAX, to_add, to_drop
from graphmem.lifecycle.profile_model import Repeat, repeats_among
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.job import Run
from graphmem.model.notebook import ProfileLine, Reflection
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.ports import LanguageModel
from graphmem.store.connection import Connection
from graphmem.store.identity import change_reflections, reflections_of
from graphmem.store.notebooks import lock_notebook
from graphmem.store.profile import WrittenLine, drop_lines, lines_that_lack, profile_of, save_lines
from graphmem.upkeep.consolidation import DueSpace


@dataclass(frozen=True, kw_only=True, slots=True)
class _Profile:
    """The lines of a profile, and those that facts lack."""

    lines: Sequence[ProfileLine]
    lacking: Sequence[ProfileLine]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tended:
    """The lines that are new, and those that are shown no more."""

    new: Sequence[ProfileLine]
    gone: Sequence[ProfileLine]


@dataclass(frozen=True, kw_only=True)
class TendProfile(Operation[_Profile, _Tended]):
    """Add the lines that facts lack, and drop lines of more than 300 until less are left."""

    kind = TraceKind.NOTEBOOK

    space: Space
    repeats: Sequence[Repeat] = ()  # lines that a model found to say the same

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the profile."""
        return (self.space,)

    def read(self, transaction: Workbench) -> _Profile:
        """The lines that are shown, and those that facts lack."""
        lock_notebook(transaction, self.space)
        now = transaction.now
        return _Profile(
            lines=profile_of(transaction, self.space, now),
            lacking=lines_that_lack(transaction, self.space, CATEGORIES, now),
        )

    def decide(self, state: _Profile, now: datetime) -> Decided[_Tended]:  # noqa: ARG002
        """Those that come, and those that go."""
        new = to_add(state.lines, state.lacking)
        gone = to_drop([*state.lines, *new], self.repeats)
        events = (*map(_line_noted, new), *map(_line_dropped, gone))
        return Decided(answer=_Tended(new=new, gone=gone), events=events)

    def apply(self, transaction: Workbench, decided: Decided[_Tended]) -> None:
        """Write the new ones, and let the others be shown no more."""
        tended = decided.answer
        save_lines(transaction, [WrittenLine(line=each, has_words=False) for each in tended.new])
        if tended.gone:
            drop_lines(transaction, tended.gone, transaction.now)


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
        change_reflections(transaction, decided.answer)


def _line_noted(line: ProfileLine) -> Event:
    return Event(
        space=line.space.key,
        subject=line.uid,
        about=Subject.PROFILE_LINE,
        effect=Effect.PROFILE_LINE_NOTED,
    )


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

    def tend_profile(self, due: DueSpace, run: Run) -> None:
        """Keep a profile whole, and below its most lines."""
        repeats = self._repeats(self.model, due, run) if self.model else ()
        self.gateway.execute(TendProfile(space=due.space, repeats=repeats), run)

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
