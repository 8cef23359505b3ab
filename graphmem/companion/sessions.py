"""Sessions go by the times of messages alone, never by when a job ran (001, Sessions). Pure."""

from dataclasses import replace
from datetime import datetime, timedelta

from graphmem.model.companion import CompanionUser, Persona, Session, SessionState
from graphmem.model.policy.companion import SummaryPolicy
from graphmem.model.space import Space


def window(policy: SummaryPolicy) -> timedelta:
    """How long after its last message a session still takes one."""
    return timedelta(minutes=policy.session_minutes)


def joined(
    known: Session | None,
    *,
    space: Space,
    uid: str,
    at: datetime,
    is_user: bool,
    now: datetime,
    policy: SummaryPolicy,
) -> Session:
    """The session of a message: the one that holds its time, which goes on, or one of its own.

    One whose time has passed is ended at its last message.
    """
    session = known or Session(uid=uid, space=space, started_at=at, last_activity_at=at)
    last = max(session.last_activity_at, at)
    return replace(
        session,
        last_activity_at=last,
        ended_at=last if is_stale(last, now, policy) else None,
        turn_count=session.turn_count + is_user,
    )


def is_stale(last: datetime, now: datetime, policy: SummaryPolicy) -> bool:
    """Whether no message of now could join a session that was last active then."""
    return now - last > window(policy)


def counted(
    state: SessionState, content: str, *, at: datetime, is_user: bool, policy: SummaryPolicy
) -> SessionState:
    """What lasts of a user with a persona after a message; only those of the user are counted."""
    newest = max(filter(None, (state.last_interaction, at)))
    if not is_user:
        return replace(state, last_interaction=newest)
    is_latest = state.last_user_at is None or at >= state.last_user_at
    if is_latest:
        words = " ".join(content.split())[: policy.last_message_chars]
        state = replace(state, last_user_message=words, last_user_at=at)
    return replace(state, message_count=state.message_count + 1, last_interaction=newest)


def known_user(user: CompanionUser, now: datetime) -> CompanionUser:
    """A user, who is known from now on if he was not before."""
    if user.created_at:
        return user
    return replace(user, created_at=now, updated_at=now)


def counted_for_spine(user: CompanionUser, persona: Persona) -> CompanionUser:
    """A user one of whose messages counts towards the next version of his spine."""
    if not persona.enable_spine:
        return user
    return replace(user, spine_messages=user.spine_messages + 1)
