"""Companion transfer: sessions and summaries as another store kept them, read whole and written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphmem.model.companion import (
    CONVERSATION,
    ROOM,
    RollingSummary,
    Session,
    SessionState,
    SessionSummary,
    Spine,
)
from graphmem.model.conversation import conversation_key, turn_key
from graphmem.model.memory import memory_key
from graphmem.model.space import Space
from graphmem.store.companion_context import session_summary_from_row, spine_from_row
from graphmem.store.companions import lock_state, lock_user, save_state
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.sessions import session_from_row
from graphmem.store.summaries import sections_text
from graphmem.store.turns import note_turns
from graphmem.text.times import moment_of

_AT_ONCE = 200  # records, each with all that belongs to it


@dataclass(frozen=True, kw_only=True, slots=True)
class LedBack:
    """That a memory of the space of a user is of a message of his with a persona: by uids.

    ``words`` stands for what it said then, where that is known.
    """

    turn: str
    uid: str
    said_by: str
    words: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeSession:
    """A session with its summary, the uids of its messages, and what these left with the user.

    ``unjudged`` are those that wait for a judge. One that is unsummed waits for its summary.
    """

    session: Session
    is_unsummed: bool
    turns: tuple[str, ...] = ()
    unjudged: frozenset[str] = frozenset()
    summary: SessionSummary | None = None
    left: tuple[LedBack, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeRolling:
    """A rolling summary with the uids of the messages that it rests on."""

    summary: RollingSummary
    turns: tuple[str, ...] = ()


class CompanionRecords:
    """Reads all records of a space."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def is_unrolled(self, space: Space) -> bool:
        """Whether the rolling summary of a user with a persona is to be made anew."""
        rows = self._connection.fetch("companion_transfer.is_unrolled", space=space.key)
        return bool(rows) and rows[0]["is_unrolled"]

    def sessions(self, space: Space) -> Iterator[WholeSession]:
        """The sessions of a user with a persona."""
        rows = self._rows("sessions", space, owner=space.without_persona.key)
        return map(_whole_session, rows)

    def rolling_summaries(self, space: Space) -> Iterator[WholeRolling]:
        """The rolling summaries of a user with a persona that still say something."""
        for row in self._rows("rolling_summaries", space):
            node = row["rolling"]
            summary = RollingSummary(
                uid=node["uid"],
                space=space,
                text=node["text"],
                model=node["model"],
                created_at=moment_of(node["created_at"]),
            )
            yield WholeRolling(summary=summary, turns=tuple(row["turns"]))

    def spines(self, space: Space) -> Iterator[Spine]:
        """The parts of the long summary that lie in a space."""
        return (spine_from_row(row["spine"]) for row in self._rows("spines", space))

    def _rows(self, query: str, space: Space, **parameters: Any) -> Iterator[Row]:  # noqa: ANN401 - driver values
        """All rows of a query, some at once."""
        name, after = f"companion_transfer.{query}", ""
        options = {"space": space.key, "limit": _AT_ONCE, **parameters}
        while rows := self._connection.fetch(name, after=after, **options):
            yield from rows
            after = rows[-1]["key"]


def _whole_session(row: Row) -> WholeSession:
    session = session_from_row(row["session"])
    summaries = [session_summary_from_row(each, session.uid) for each in row["summaries"]]
    return WholeSession(
        session=session,
        is_unsummed=row["is_unsummed"],
        turns=tuple(uid for uid, _ in row["turns"]),
        unjudged=frozenset(uid for uid, waits in row["turns"] if waits),
        summary=next(iter(summaries), None),
        left=tuple(
            LedBack(turn=turn, uid=uid, said_by=said_by, words=words)
            for turn, uid, said_by, words in row["left"]
        ),
    )


def take_in_state(transaction: Transaction, state: SessionState, *, is_unrolled: bool) -> bool:
    """Write what lasts of a user with a persona, where nothing does yet; whether it was so."""
    nothing = SessionState(space=state.space)
    known = lock_state(transaction, state.space)
    if known != nothing or state == nothing:
        return False
    save_state(transaction, state)
    if is_unrolled:
        transaction.run("companion_transfer.note_unrolled", space=state.space.key)
    return True


def take_in_sessions(transaction: Transaction, sessions: Sequence[WholeSession]) -> dict[str, bool]:
    """Write sessions of a space that are not here, and what belongs to them, as far as that is.

    By key whether anything came to each.
    """
    space = sessions[0].session.space
    lock_state(transaction, space)  # as messages do
    rows = [_session_row(each) for each in sessions]
    found = transaction.run("companion_transfer.take_in_sessions", space_rows=rows)
    changed = {row["key"]: bool(row["is_new"]) for row in found}
    conversation = conversation_key(space, CONVERSATION)
    joined = transaction.run(
        "companion_transfer.join_sessions", space_key=conversation, space_rows=_joining(sessions)
    )
    led_back = transaction.run(
        "companion_transfer.lead_back",
        kept_by=ROOM,
        space_key=conversation,
        space_rows=_leading_back(sessions),
    )
    note_turns(transaction, {row["memory"] for row in led_back})
    return changed | {row["key"]: True for row in (*joined, *led_back)}


def _session_row(whole: WholeSession) -> dict[str, Any]:
    session, summary = whole.session, whole.summary
    unsummed = ["UnsummedSession"] if whole.is_unsummed else []
    return {
        "key": session.key,
        "properties": {
            "uid": session.uid,
            "space": session.space.key,
            "turn_count": session.turn_count,
        },
        "labels": unsummed if session.ended_at else ["OpenSession"],
        "started_at": session.started_at.isoformat(),
        "last_activity_at": session.last_activity_at.isoformat(),
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
        "summaries": [_summary_row(session, summary)] if summary else [],
    }


def _summary_row(session: Session, summary: SessionSummary) -> dict[str, Any]:
    return {
        "properties": {
            "space": session.space.key,
            "summary": json.dumps(asdict(summary.text), ensure_ascii=False),
            "model": summary.model,
            "parse_error": summary.parse_error,
            "truncated": summary.truncated,
        },
        "created_at": summary.created_at.isoformat(),
    }


def _joining(sessions: Sequence[WholeSession]) -> list[dict[str, Any]]:
    """Which message is in which session, each in one, by key."""
    rows: dict[str, dict[str, Any]] = {}
    for each in sessions:
        for uid in each.turns:
            key = turn_key(each.session.space, uid)
            row = {"turn": key, "session": each.session.key, "waits": uid in each.unjudged}
            rows.setdefault(key, row)
    return [row for _, row in sorted(rows.items())]


def _leading_back(sessions: Sequence[WholeSession]) -> list[dict[str, Any]]:
    """Which memory of the user is of which message, each once, by key."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in sessions:
        space = each.session.space
        for led in each.left:
            memory, turn = memory_key(space.without_persona, led.uid), turn_key(space, led.turn)
            rows[memory, turn, led.said_by] = {
                "memory": memory,
                "turn": turn,
                "said_by": led.said_by,
                "words": led.words,
                "session": each.session.key,
            }
    return [row for _, row in sorted(rows.items())]


def take_in_rolling(transaction: Transaction, summaries: Sequence[WholeRolling]) -> dict[str, bool]:
    """Write rolling summaries of a space that are not here; by key whether anything came to each.

    They rest on the messages that are here.
    """
    space = summaries[0].summary.space
    found = transaction.run(
        "companion_transfer.take_in_rolling",
        space_key=conversation_key(space, CONVERSATION),
        space_rows=[
            {
                "key": rolling_key(each.summary),
                "properties": {
                    "uid": each.summary.uid,
                    "space": space.key,
                    "text": each.summary.text,
                    "model": each.summary.model,
                },
                "created_at": each.summary.created_at.isoformat(),
                "turns": [turn_key(space, uid) for uid in each.turns],
            }
            for each in summaries
        ],
    )
    return _is_new(found)


def rolling_key(summary: RollingSummary) -> str:
    """The unique key of the node of a rolling summary: ``space|uid``."""
    return f"{summary.space.key}|{summary.uid}"


def take_in_spines(transaction: Transaction, spines: Sequence[Spine]) -> dict[str, bool]:
    """Write parts of the long summary of a user that are not here; by key whether anything came.

    The next version that is made here comes behind them.
    """
    owner = spines[0].space.without_persona
    lock_user(transaction, owner)
    rows = [_spine_row(each) for each in spines]
    found = transaction.run("companion_transfer.take_in_spines", space_rows=rows)
    newest = max(each.version for each in spines)
    transaction.run("companion_transfer.raise_version", space=owner.key, version=newest)
    return _is_new(found)


def _spine_row(spine: Spine) -> dict[str, Any]:
    lines = [line for each in spine.sections.values() for line in each]
    return {
        "key": spine_key(spine),
        "properties": {
            "space": spine.space.key,
            "version": spine.version,
            "message_count": spine.message_count,
            "sections": sections_text(spine.sections),
        },
        "created_at": spine.created_at.isoformat(),
        "memories": list(dict.fromkeys(memory_key(spine.space, line.uid) for line in lines)),
    }


def spine_key(spine: Spine) -> str:
    """The unique key of the node of a part of a long summary: ``space|version``."""
    return f"{spine.space.key}|{spine.version}"


def _is_new(rows: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    return {row["key"]: bool(row["is_new"]) for row in rows}
