"""Companion context: all that a context is made of beside what is found for its message."""

import json
from dataclasses import dataclass
from datetime import datetime

from graphmem.model.companion import (
    CONVERSATION,
    ROOM,
    CompanionUser,
    Persona,
    Session,
    SessionState,
    SessionSummary,
    Spine,
    SpineLine,
    SummaryText,
    persona_key,
)
from graphmem.model.conversation import Turn, conversation_key
from graphmem.model.memory import Memory
from graphmem.model.space import Space, space_from_key
from graphmem.store.companions import state_from_row, user_from_row
from graphmem.store.connection import Connection, Row
from graphmem.store.mapping import memory_from_node
from graphmem.store.personas import persona_from_row
from graphmem.store.sessions import session_from_row
from graphmem.store.turns import turn_from_row
from graphmem.text.times import moment_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextRows:
    """What was read; turns come latest first, todos oldest first, wins latest first."""

    persona: Persona | None
    user: CompanionUser
    state: SessionState
    session: Session | None
    summary: tuple[Session, SessionSummary] | None
    spine: Spine | None
    pending: tuple[Memory, ...]
    wins: tuple[Memory, ...]
    turns: tuple[Turn, ...]


def read_context(
    connection: Connection,
    space: Space,
    *,
    owner: Space | None,
    todos: int,
    wins: int,
    wins_after: datetime,
    messages: int,
) -> ContextRows:
    """What a context of a user with a persona is made of; ``owner`` None: nothing of the user."""
    row = connection.fetch(
        "companion_context.read",
        persona=persona_key(space.tenant, space.persona or ""),
        owner=owner.key if owner else "",
        space=space.key,
        conversation=conversation_key(space, CONVERSATION),
        kept_by=ROOM,
        todos=todos,
        wins=wins,
        wins_after=wins_after,
        messages=messages,
    )[0]
    user, state = space.without_persona, SessionState(space=space)
    return ContextRows(
        persona=persona_from_row(row["personas"][0]) if row["personas"] else None,
        user=user_from_row(row["users"][0], user) if row["users"] else CompanionUser(space=user),
        state=state_from_row(row["states"][0], space) if row["states"] else state,
        session=session_from_row(row["sessions"][0]) if row["sessions"] else None,
        summary=_summary(row["summaries"][0]) if row["summaries"] else None,
        spine=united_spine([spine_from_row(each) for each in row["spines"]]),
        pending=tuple(memory_from_node(each) for each in row["pending"]),
        wins=tuple(memory_from_node(each) for each in row["wins"]),
        turns=tuple(turn_from_row(each) for each in row["turns"]),
    )


def _summary(row: Row) -> tuple[Session, SessionSummary]:
    session = session_from_row(row["session"])
    return session, session_summary_from_row(row["summary"], session.uid)


def session_summary_from_row(node: Row, session: str) -> SessionSummary:
    """The summary of a row."""
    values: dict[str, object] = json.loads(node["summary"])
    lists = {name: tuple(each) for name, each in values.items() if isinstance(each, list)}
    texts = {name: each for name, each in values.items() if isinstance(each, str)}
    return SessionSummary(
        session=session,
        text=SummaryText(**(lists | texts)),  # type: ignore[arg-type]
        created_at=moment_of(node["created_at"]),
        model=node["model"],
        parse_error=bool(node.get("parse_error")),
        truncated=bool(node.get("truncated")),
    )


def spine_from_row(node: Row) -> Spine:
    """The spine of a row."""
    sections: dict[str, list[dict[str, str]]] = json.loads(node["sections"])
    return Spine(
        space=space_from_key(node["space"]),
        version=node["version"],
        sections={
            name: tuple(SpineLine(**line) for line in lines) for name, lines in sections.items()
        },
        message_count=node["message_count"],
        created_at=moment_of(node["created_at"]),
    )


def united_spine(found: list[Spine]) -> Spine | None:
    """The newest version of a user, with the open loops of a persona that belong to it."""
    newest = next((each for each in found if each.space.persona is None), None)
    if newest is None:
        return None
    own = (each for each in found if each.space.persona and each.version == newest.version)
    sections = dict(newest.sections)
    for each in own:
        sections |= each.sections
    return Spine(
        space=newest.space,
        version=newest.version,
        sections=sections,
        message_count=newest.message_count,
        created_at=newest.created_at,
    )
