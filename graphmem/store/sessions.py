"""Sessions: messages of a user with a persona that follow each other."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem.model.companion import Session
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import read_page
from graphmem.text.times import moment_of

_LAST_TIME = datetime(9999, 12, 31, tzinfo=UTC)
_OPEN, _UNSUMMED = "OpenSession", "UnsummedSession"


def session_at(
    transaction: Transaction, space: Space, at: datetime, window: timedelta
) -> Session | None:
    """The earliest session that a message of a time belongs to, if there is one."""
    rows = transaction.run("sessions.around", space=space.key, at=at, active_after=at - window)
    return session_from_row(rows[0]["session"]) if rows else None


def save_session(
    transaction: Transaction,
    session: Session,
    *,
    turn: str,
    waits: bool,
    claim: str | None = None,
    claimed_until: datetime | None = None,
) -> None:
    """Write a session with one more message.

    It ``waits`` for its judge, whom ``claim`` names, for as long as that one has it.
    """
    transaction.run(
        "sessions.save",
        key=session.key,
        properties={
            "uid": session.uid,
            "space": session.space.key,
            "turn_count": session.turn_count,
        },
        labels=[_OPEN] if session.ended_at is None else [_UNSUMMED],
        started_at=session.started_at.isoformat(),
        last_activity_at=session.last_activity_at.isoformat(),
        ended_at=session.ended_at.isoformat() if session.ended_at else None,
        turn=turn,
        judges=waits,
        claim=claim,
        claimed_until=claimed_until.isoformat() if claimed_until else None,
    )


def session_of_turn(connection: Connection, key: str) -> Session | None:
    """The session that a message is in, by the key of its turn."""
    rows = connection.fetch("sessions.of_turn", key=key)
    return session_from_row(rows[0]["session"]) if rows else None


def unjudged(connection: Connection, turns: Iterable[str]) -> set[str]:
    """Those of some messages, by key, that wait for their judge."""
    keys = sorted(turns)
    rows = connection.fetch("sessions.unjudged", space_keys=keys) if keys else ()
    return {row["key"] for row in rows}


class Sessions:
    """Reads sessions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, space: Space, uid: str) -> Session | None:
        """A session of a space."""
        rows = self._connection.fetch("sessions.find", key=f"{space.key}|{uid}")
        return session_from_row(rows[0]["session"]) if rows else None

    def page(self, space: Space, after: Cursor | None = None, *, limit: int) -> Page[Session]:
        """One page of the sessions of a space, the latest first.

        A cursor is when a session was last active, in ISO form, and its key.
        """
        last, key = after or (_LAST_TIME.isoformat(), "")
        return read_page(
            self._connection,
            "sessions.list",
            "sessions.count",
            filters={"space": space.key},
            cursor={"cursor_time": datetime.fromisoformat(str(last)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: session_from_row(row["session"]),
            cursor_of=lambda row: (row["session"]["last_activity_at"], row["session"]["key"]),
        )


def session_from_row(node: Row) -> Session:
    """The session of a row."""
    times: dict[str, Any] = {
        name: moment_of(node.get(name)) for name in ("started_at", "last_activity_at", "ended_at")
    }
    return Session(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        turn_count=node["turn_count"],
        **times,
    )
