"""Buffers: the turns of sessions that wait for their extraction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphmem.model.conversation import TurnRole, conversation_key, turn_key
from graphmem.model.extraction import Buffer, Extraction
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page, rows_by_time
from graphmem.text.times import moment_of

_COUNTED = ("turns", "user_turns", "characters", "digest", "last_digest", "extractions")


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """An extraction that takes all turns of a buffer: those that waited, and new ones by key."""

    extraction: Extraction
    buffer: Buffer  # as it was with them
    turns: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftTurn:
    """A turn that is left in a buffer when others are taken back."""

    role: TurnRole
    digest: str
    characters: int
    arrived_at: datetime


def lock_buffer(transaction: Transaction, space: Space, session: str) -> Buffer:
    """Take the lock of the buffer of a session."""
    key = conversation_key(space, session)
    rows = transaction.run("buffers.lock", space_key=key, space=space.key, session=session)
    return buffer_from_row(rows[0]["buffer"])


def save_buffer(
    transaction: Transaction, buffer: Buffer, taken: Sequence[Taken], turns: Sequence[str]
) -> None:
    """Write what a buffer is, the extractions that take turns, and new turns that wait, by key."""
    transaction.run(
        "buffers.save",
        space_key=buffer.key,
        properties={name: getattr(buffer, name) for name in _COUNTED},
        times=_times(buffer),
        space_rows=[_taken_row(each) for each in taken],
        turns=list(turns),
    )


def _times(buffer: Buffer) -> dict[str, str | None]:
    return {
        name: moment.isoformat() if moment else None
        for name in ("first_at", "last_at", "last_extraction_at")
        for moment in [getattr(buffer, name)]
    }


def _taken_row(taken: Taken) -> dict[str, Any]:
    extraction, until = taken.extraction, taken.extraction.claimed_until
    return {
        "properties": {
            "key": extraction.key,
            "uid": extraction.uid,
            "space": extraction.space.key,
            "session": extraction.session,
            "reason": extraction.reason,
            "is_guarded": extraction.is_guarded,
            "claim": extraction.claim or None,
            "turn_count": taken.buffer.turns,
            "characters": taken.buffer.characters,
        },
        "first_at": _times(taken.buffer)["first_at"],
        "decided_at": extraction.decided_at.isoformat(),
        "claimed_until": until.isoformat() if until else None,
        "turns": list(taken.turns),
    }


def buffers_of_turns(
    transaction: Transaction, turns: Sequence[str]
) -> list[tuple[Buffer, tuple[LeftTurn, ...]]]:
    """The buffers that some turns wait in, locked, each with the turns that are left without."""
    rows = transaction.run("buffers.of_turns", space_keys=list(turns))
    return [(buffer_from_row(row["buffer"]), tuple(map(_left, row["turns"]))) for row in rows]


def _left(values: Sequence[Any]) -> LeftTurn:
    role, digest, characters, arrived_at = values
    return LeftTurn(
        role=TurnRole(role),
        digest=digest,
        characters=characters,
        arrived_at=moment_of(arrived_at),
    )


def recount_buffers(
    transaction: Transaction, buffers: Iterable[Buffer], gone: Sequence[str]
) -> None:
    """Write what buffers are without turns that were taken back."""
    rows = [
        {
            "key": each.key,
            "properties": {name: getattr(each, name) for name in _COUNTED},
            "times": _times(each),
            "gone": list(gone),
        }
        for each in buffers
    ]
    if rows:
        transaction.run("buffers.recount", space_rows=rows)


def take_in_buffers(
    transaction: Transaction, buffers: Sequence[tuple[Buffer, Sequence[str]]]
) -> dict[str, bool]:
    """Write buffers that another store kept, each with its turns; by key whether it changed."""
    rows = [
        {
            "key": each.key,
            "space": each.space.key,
            "session": each.session,
            "properties": {name: getattr(each, name) for name in _COUNTED},
            "times": _times(each),
            "turns": [turn_key(each.space, uid) for uid in turns],
        }
        for each, turns in buffers
    ]
    found = transaction.run("buffers.take_in", space_rows=rows)
    return {row["key"]: row["is_new"] for row in found}


class Buffers:
    """Reads buffers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, space: Space, after: Cursor | None = None, *, limit: int) -> Page[Buffer]:
        """One page of the buffers of a space, by session; a cursor is the key of one.

        They count the turns of extractions that are still to come.
        """
        (key,) = after or ("",)
        return read_page(
            self._connection,
            "buffers.list",
            "buffers.count",
            filters={"space": space.key},
            cursor={"cursor_key": key},
            limit=limit,
            item_of=_with_waiting,
            cursor_of=lambda row: (row["key"],),
        )

    def idle(self, before: datetime, *, space: str = "") -> Iterator[Buffer]:
        """Buffers whose last turn arrived before a time, the longest quiet first."""
        rows = rows_by_time(
            self._connection,
            "buffers.idle",
            place_of=lambda row: (row["buffer"]["last_at"], row["buffer"]["key"]),
            before=before,
            space=space,
        )
        return (buffer_from_row(row["buffer"]) for row in rows)

    def holding(self, space: Space, session: str | None) -> Iterator[Buffer]:
        """The buffers of a space, or of one session, that hold turns."""
        rows = every_row(
            self._connection, "buffers.holding", space=space.key, session=session or ""
        )
        return (buffer_from_row(row["buffer"]) for row in rows)

    def of_space(self, space: Space) -> Iterator[tuple[Buffer, Sequence[str]]]:
        """All buffers of a space, each with the uids of the turns that wait in it."""
        rows = every_row(self._connection, "buffers.of_space", space=space.key)
        return ((buffer_from_row(row["buffer"]), row["turns"]) for row in rows)


def _with_waiting(row: Row) -> Buffer:
    """A buffer with the turns of extractions that are still to come."""
    buffer = buffer_from_row(row["buffer"])
    since, until = (moment_of(row[f"waiting_{name}"]) for name in ("since", "until"))
    return replace(
        buffer,
        turns=buffer.turns + row["waiting"],
        characters=buffer.characters + row["waiting_characters"],
        first_at=min(filter(None, (since, buffer.first_at)), default=None),
        last_at=max(filter(None, (until, buffer.last_at)), default=None),
    )


def buffer_from_row(node: Row | Mapping[str, Any]) -> Buffer:
    """The buffer of a row."""
    return Buffer(
        space=space_from_key(node["space"]),
        session=node["session"],
        turns=node.get("turns") or 0,
        user_turns=node.get("user_turns") or 0,
        characters=node.get("characters") or 0,
        digest=node.get("digest") or "",
        last_digest=node.get("last_digest") or "",
        extractions=node.get("extractions") or 0,
        first_at=moment_of(node["first_at"]),
        last_at=moment_of(node["last_at"]),
        last_extraction_at=moment_of(node["last_extraction_at"]),
    )
