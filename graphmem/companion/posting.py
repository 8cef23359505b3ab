"""Posting: a message joins the conversation, its session and the counts, in one operation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.companion import sessions
from graphmem.companion.users import user_saved
from graphmem.conversations.append import AppendTurns
from graphmem.errors import Conflict, NotFound
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.companion import CompanionUser, Persona, Session, SessionState
from graphmem.model.conversation import Saying, Turn, TurnRole
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy.companion import SummaryPolicy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.store.companions import lock_state, lock_user, save_state, save_user
from graphmem.store.personas import find_persona
from graphmem.store.sessions import save_session, session_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Posted:
    """A message as it was kept, its session, and what lasts of its user with the persona.

    One that was there before has no session here and counts nothing.
    """

    turn: Turn
    is_new: bool
    persona: Persona
    state: SessionState
    user: CompanionUser
    session: Session | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Records:
    persona: Persona | None
    user: CompanionUser
    state: SessionState
    session: Session | None


@dataclass(frozen=True, kw_only=True)
class PostMessage(MemoryOperation[Posted]):
    """Keep a message of a user with a persona.

    ``session`` is the uid of a session that it may begin. ``claim`` names who judges it at once;
    empty: a job will.
    """

    kind = TraceKind.COMPANION

    append: AppendTurns
    slug: str
    session: str
    policy: SummaryPolicy
    claim: str = ""
    claimed_for: timedelta = timedelta()

    @property
    def _saying(self) -> Saying:
        (saying,) = self.append.sayings
        return saying

    @property
    def _space(self) -> Space:
        return self.append.space

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the persona, and that of the user, whose facts it may change."""
        return (self._space, self._space.without_persona)

    @property
    def texts(self) -> Sequence[str]:
        """What is said."""
        return self.append.texts

    def selection(self) -> Selection:
        """The conversation and the message, if it is there."""
        return self.append.selection()

    def read_records(self, transaction: Workbench) -> _Records:
        """The user and what lasts of him, locked, and the session that the message may join."""
        user = lock_user(transaction, self._space.without_persona)
        state = lock_state(transaction, self._space)
        at = self._saying.at or transaction.now
        return _Records(
            persona=find_persona(transaction, self._space.tenant, self.slug),
            user=user,
            state=state,
            session=session_at(transaction, self._space, at, sessions.window(self.policy)),
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[Posted]:
        """Keep the message, and count it.

        Raises:
            NotFound: there is no such persona.
            Conflict: the persona is not active, or the message says something else than before.
            KeptByRoom, RetractedSource: see AppendTurns.
        """
        records: _Records = state.records
        persona = records.persona
        if persona is None:
            message = f"There is no persona {self.slug}."
            raise NotFound(message)
        if not persona.is_active:
            message = f"The persona {self.slug} is not active."
            raise Conflict(message)
        kept = self.append.decide(state, now)
        ((said,), content) = kept.answer, self._saying.content
        posted = Posted(
            turn=replace(said.turn, content=content),
            is_new=said.is_new,
            persona=persona,
            state=records.state,
            user=records.user,
        )
        if not said.is_new:
            return Decided(answer=posted, events=kept.events, memories=kept.memories)
        posted = self._counted(posted, records, now)
        return Decided(
            answer=posted,
            events=(*kept.events, *self._events(posted, records)),
            memories=kept.memories,
            records=posted,
        )

    def _counted(self, posted: Posted, records: _Records, now: datetime) -> Posted:
        """A new message with its session, and the counts after it."""
        is_user, at = posted.turn.role is TurnRole.USER, posted.turn.at
        user = sessions.known_user(records.user, now)
        return replace(
            posted,
            session=sessions.joined(
                records.session,
                space=self._space,
                uid=self.session,
                at=at,
                is_user=is_user,
                now=now,
                policy=self.policy,
            ),
            state=sessions.counted(
                records.state, posted.turn.content, at=at, is_user=is_user, policy=self.policy
            ),
            user=sessions.counted_for_spine(user, posted.persona) if is_user else user,
        )

    def _events(self, posted: Posted, records: _Records) -> Sequence[Event]:
        """That a session begins, and a user is known."""
        events: list[Event] = []
        if records.user.created_at is None:
            events.append(user_saved(posted.user.space))
        if records.session is None and posted.session:
            events.append(
                Event(
                    space=self._space.key,
                    subject=posted.session.uid,
                    about=Subject.SESSION,
                    effect=Effect.SESSION_BEGUN,
                )
            )
        return events

    def apply_records(self, transaction: Workbench, decided: Decided[Posted]) -> None:
        """Write the user, what lasts of him, and the session with its message."""
        posted: Posted | None = decided.records
        if posted is None or posted.session is None:
            return
        save_user(transaction, posted.user)
        save_state(transaction, posted.state)
        save_session(
            transaction,
            posted.session,
            turn=posted.turn.key,
            waits=posted.turn.role is TurnRole.USER,
            claim=self.claim or None,
            claimed_until=transaction.now + self.claimed_for if self.claim else None,
        )
