"""Threads: turns of a session that follow each other."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.conversation import turn_key
from graphmem.model.extraction import Thread
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page
from graphmem.text.times import moment_of

_LAST_TIME = datetime(9999, 12, 31, tzinfo=UTC)


def lock_newest_thread(transaction: Transaction, space: Space, session: str) -> Thread | None:
    """The newest thread of a session, with its lock; its conversation is locked too."""
    rows = transaction.run("threads.lock_newest", space=space.key, session=session)
    return thread_from_row(rows[0]["thread"]) if rows else None


def link_threads(
    transaction: Transaction, threads: Sequence[Thread], of_turns: Mapping[str, str]
) -> None:
    """Write threads, and which turns are in them, by their uids."""
    if not threads:
        return
    keys = {thread.uid: thread for thread in threads}
    turns = [
        {"turn": turn_key(keys[thread].space, turn), "thread": keys[thread].key}
        for turn, thread in sorted(of_turns.items())
    ]
    rows = [_thread_row(thread) for thread in threads]
    transaction.run("threads.save", space_rows=rows, turns=turns)


def threads_here(transaction: Transaction, threads: Sequence[Thread]) -> set[str]:
    """The keys of those of some threads that are here."""
    keys = [thread.key for thread in threads]
    return {row["key"] for row in transaction.run("threads.there", space_keys=keys)}


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidInThread:
    """A turn of a thread: when it was said, and its first characters."""

    at: datetime
    content: str


def threads_of_turns(
    transaction: Transaction, turns: Sequence[str], *, chars: int
) -> list[tuple[Thread, tuple[SaidInThread, ...]]]:
    """The threads that some turns are in, locked, each with the turns that are left without."""
    rows = transaction.run("threads.of_turns", space_keys=list(turns), chars=chars)
    return [
        (
            thread_from_row(row["thread"]),
            tuple(SaidInThread(at=moment_of(at), content=text or "") for at, text in row["turns"]),
        )
        for row in rows
    ]


def leave_threads(
    transaction: Transaction, turns: Sequence[str], left: Sequence[Thread], gone: Sequence[Thread]
) -> None:
    """Let turns be in no thread: of some others are left, some are gone with them."""
    link_threads(transaction, left, {})
    keys = [thread.key for thread in gone]
    transaction.run("threads.leave", turns=list(turns), space_keys=keys)


def _thread_row(thread: Thread) -> dict[str, Any]:
    return {
        "key": thread.key,
        "properties": {
            "uid": thread.uid,
            "space": thread.space.key,
            "session": thread.session,
            "title": thread.title,
            "turn_count": thread.turns,
            "words": json.dumps(dict(thread.words), ensure_ascii=False),
        },
        "first_at": thread.first_at.isoformat(),
        "last_at": thread.last_at.isoformat(),
    }


class ThreadReader:
    """Reads threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, space: Space, after: Cursor | None = None, *, limit: int) -> Page[Thread]:
        """One page of the threads of a space, the latest first.

        A cursor is when the last turn of a thread was said, in ISO form, and its key.
        """
        last, key = after or (_LAST_TIME.isoformat(), "")
        return read_page(
            self._connection,
            "threads.list",
            "threads.count",
            filters={"space": space.key},
            cursor={"cursor_time": datetime.fromisoformat(str(last)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: thread_from_row(row["thread"]),
            cursor_of=lambda row: (row["thread"]["last_at"], row["thread"]["key"]),
        )

    def of_space(self, space: Space) -> Iterator[tuple[Thread, Sequence[str]]]:
        """All threads of a space, each with the uids of its turns."""
        rows = every_row(self._connection, "threads.of_space", space=space.key)
        return ((thread_from_row(row["thread"]), row["turns"]) for row in rows)


def thread_from_row(node: Row | Mapping[str, Any]) -> Thread:
    """The thread of a row."""
    return Thread(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        session=node["session"],
        title=node["title"],
        turns=node["turn_count"],
        first_at=moment_of(node["first_at"]),
        last_at=moment_of(node["last_at"]),
        words=json.loads(node["words"]),
    )
