"""Summing up: what summaries say is kept, each in one operation that looks whether it is due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.companion.projection import FACT_TYPES, fact_of, todo_of
from graphmem.companion.sessions import is_stale
from graphmem.companion.summaries import spine_sections, spine_text
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.companion import (
    CompanionUser,
    FactKind,
    RollingError,
    RollingSummary,
    Session,
    SessionState,
    SessionSummary,
    Spine,
    SpineLine,
)
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy.companion import SummaryPolicy
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.companions import lock_state, lock_user, save_state, save_user
from graphmem.store.summaries import (
    LockedSession,
    SpineSources,
    are_active,
    end_session,
    lock_session,
    save_rolling,
    save_spine,
    save_summary,
    spine_sources,
)

Sections = Mapping[str, tuple[SpineLine, ...]]
EMPTY_OR_FAILED = "summary_empty_or_failed"


def is_rolling_due(state: SessionState, policy: SummaryPolicy) -> bool:
    """Whether enough was said since a rolling summary was last tried: each fourth message."""
    every = policy.rolling_every
    return state.message_count // every > state.rolled_count // every


def is_spine_due(user: CompanionUser, policy: SummaryPolicy) -> bool:
    """Whether a user said so much since his last spine that another version is due."""
    return user.spine_messages > policy.spine_messages


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rolled:
    """What lasts of a user with a persona, and whether the messages are there still."""

    state: SessionState
    are_there: bool


@dataclass(frozen=True, kw_only=True)
class KeepRolling(Operation[_Rolled, SessionState]):
    """Keep a rolling summary, or why there is none; ``turns`` are keys of what it rests on."""

    kind = TraceKind.COMPANION

    space: Space
    uid: str
    text: str | None
    model: str
    turns: Sequence[str]
    policy: SummaryPolicy
    error: RollingError | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the user with the persona."""
        return (self.space,)

    def read(self, transaction: Workbench) -> _Rolled:
        """What lasts of the user with the persona, and whether the messages are there still."""
        state = lock_state(transaction, self.space)
        return _Rolled(state=state, are_there=are_active(transaction, self.turns))

    def decide(self, state: _Rolled, now: datetime) -> Decided[SessionState]:
        """Keep it, unless somebody else did meanwhile, or a message was taken back."""
        if not (state.are_there and is_rolling_due(state.state, self.policy)):
            return Decided(answer=state.state)
        return self._kept(state.state, now)

    def _kept(self, state: SessionState, now: datetime) -> Decided[SessionState]:
        tried = replace(state, rolled_count=state.message_count, last_rolling_attempt_at=now)
        if not self.text:
            error = self.error or RollingError(reason=EMPTY_OR_FAILED)
            failed = replace(tried, last_rolling_error=error)
            return Decided(answer=failed, records=(failed, None))
        made = replace(
            tried,
            rolling_summary=self.text,
            last_rolling_success_at=now,
            last_rolling_error=None,
        )
        summary = RollingSummary(
            uid=self.uid, space=self.space, text=self.text, model=self.model, created_at=now
        )
        event = _event(self.space, self.uid, model=self.model, kind="rolling")
        return Decided(answer=made, events=(event,), records=(made, summary))

    def apply(self, transaction: Workbench, decided: Decided[SessionState]) -> None:
        """Write what lasts, and the summary that was made."""
        if decided.records is None:
            return
        state, summary = decided.records
        save_state(transaction, state)
        if summary:
            save_rolling(transaction, summary, self.turns)


@dataclass(frozen=True, kw_only=True)
class EndSession(Operation[LockedSession | None, bool]):
    """Let a session end at its last message, if it still is open and that is long ago."""

    kind = TraceKind.COMPANION

    key: str
    space: Space
    policy: SummaryPolicy

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the user with the persona."""
        return (self.space,)

    def read(self, transaction: Workbench) -> LockedSession | None:
        """What lasts, whose lock messages take too, and the session."""
        lock_state(transaction, self.space)
        return lock_session(transaction, self.key)

    def decide(self, state: LockedSession | None, now: datetime) -> Decided[bool]:
        """The session with its end, unless it goes on or has ended."""
        session = state.session if state else None
        is_over = session is not None and is_stale(session.last_activity_at, now, self.policy)
        if session is None or session.ended_at or not is_over:
            return Decided(answer=False)
        event = Event(
            space=self.space.key,
            subject=session.uid,
            about=Subject.SESSION,
            effect=Effect.SESSION_ENDED,
        )
        return Decided(answer=True, events=(event,), records=session)

    def apply(self, transaction: Workbench, decided: Decided[bool]) -> None:
        """Write the session that ended."""
        if decided.records:
            end_session(transaction, decided.records)


@dataclass(frozen=True, kw_only=True)
class KeepSessionSummary(Operation[LockedSession | None, bool]):
    """Keep the summary of a session, unless it went on since it was read."""

    kind = TraceKind.COMPANION

    session: Session
    summary: SessionSummary
    turns: Sequence[str]  # keys of the messages that it was made of

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the user with the persona."""
        return (self.session.space,)

    def read(self, transaction: Workbench) -> LockedSession | None:
        """What lasts, whose lock messages take too, and the session."""
        lock_state(transaction, self.session.space)
        locked = lock_session(transaction, self.session.key)
        return locked if are_active(transaction, self.turns) else None

    def decide(self, state: LockedSession | None, now: datetime) -> Decided[bool]:
        """The summary of now, if the session still waits for it."""
        if state is None or not state.waits or state.session != self.session:
            return Decided(answer=False)
        event = _event(
            self.session.space, self.session.uid, model=self.summary.model, kind="session"
        )
        return Decided(answer=True, events=(event,), records=replace(self.summary, created_at=now))

    def apply(self, transaction: Workbench, decided: Decided[bool]) -> None:
        """Write the summary that is kept."""
        if decided.records:
            save_summary(transaction, self.session, decided.records)


@dataclass(frozen=True, kw_only=True, slots=True)
class _SpineState:
    user: CompanionUser
    sources: SpineSources


@dataclass(frozen=True, kw_only=True)
class MakeSpine(Operation[_SpineState, int | None]):
    """Make a version of the long summary of a user, if it is due; its number, else None."""

    kind = TraceKind.COMPANION

    space: Space  # of the user
    policy: SummaryPolicy

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the user."""
        return (self.space,)

    def read(self, transaction: Workbench) -> _SpineState:
        """The user, locked, with what matters most of him, and what is open."""
        user = lock_user(transaction, self.space)
        if not is_spine_due(user, self.policy):
            return _SpineState(user=user, sources=SpineSources(facts=(), todos=()))
        sources = spine_sources(
            transaction,
            self.space,
            prefixes=[f"{kind.lower()}|" for kind in FactKind],
            types=FACT_TYPES,
            limit=self.policy.spine_lines,
        )
        return _SpineState(user=user, sources=sources)

    def decide(self, state: _SpineState, now: datetime) -> Decided[int | None]:
        """Make it, unless it would say next to nothing."""
        user = state.user
        if not is_spine_due(user, self.policy):
            return Decided(answer=None)
        sections = spine_sections(
            map(fact_of, state.sources.facts), map(todo_of, state.sources.todos), self.policy
        )
        if not _says_something(sections, self.policy):
            return Decided(answer=None)
        spine = Spine(
            space=self.space,
            version=user.spine_version + 1,
            sections=sections,
            message_count=user.spine_messages,
            created_at=now,
        )
        counted = replace(user, spine_messages=0, spine_version=spine.version)
        event = _event(self.space, str(spine.version), model="rules", kind="spine")
        return Decided(answer=spine.version, events=(event,), records=(counted, spine))

    def apply(self, transaction: Workbench, decided: Decided[int | None]) -> None:
        """Write the version, and the user whose messages count anew."""
        if decided.records is None:
            return
        user, spine = decided.records
        save_user(transaction, user)
        save_spine(transaction, spine)


def _says_something(sections: Sections, policy: SummaryPolicy) -> bool:
    """Whether anybody would see enough of a spine."""
    personas = {line.persona for lines in sections.values() for line in lines}
    return any(spine_text(sections, persona=each, policy=policy) for each in personas)


def _event(space: Space, subject: str, *, model: str, kind: str) -> Event:
    return Event(
        space=space.key,
        subject=subject,
        about=Subject.SUMMARY,
        effect=Effect.SUMMARISED,
        detail={"kind": kind, "by": model},
    )
