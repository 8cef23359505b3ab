"""Summaries: of sessions, of what was lately spoken of, and the long one of a user."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.companion import (
    ROOM,
    RollingSummary,
    Session,
    SessionSummary,
    Spine,
    SpineLine,
)
from graphmem.model.conversation import Turn, TurnRole
from graphmem.model.memory import Memory, MemoryType
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.store.companion_context import (
    session_summary_from_row,
    spine_from_row,
    united_spine,
)
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.mapping import memory_from_node
from graphmem.store.pages import every_row, read_page, rows_by_time
from graphmem.store.sessions import session_from_row
from graphmem.store.turns import turn_from_row
from graphmem.text.times import moment_of

_LAST_TIME = datetime(9999, 12, 31, tzinfo=UTC)
_JUDGED_MAX = 200  # of a session, that a summary looks at
OPEN_LOOPS = "OPEN_LOOPS"  # the section whose lines lie in the spaces of personas


def save_rolling(transaction: Transaction, summary: RollingSummary, turns: Sequence[str]) -> None:
    """Keep a rolling summary and the messages, by key, that it rests on."""
    transaction.run(
        "summaries.save_rolling",
        key=f"{summary.space.key}|{summary.uid}",
        properties={
            "uid": summary.uid,
            "space": summary.space.key,
            "text": summary.text,
            "model": summary.model,
        },
        created_at=summary.created_at.isoformat(),
        turns=list(turns),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class LockedSession:
    """A session under its lock, and whether it waits for a summary."""

    session: Session
    waits: bool


def lock_session(transaction: Transaction, key: str) -> LockedSession | None:
    """Take the lock of a session."""
    rows = transaction.run("summaries.lock_session", key=key)
    if not rows:
        return None
    return LockedSession(session=session_from_row(rows[0]["session"]), waits=rows[0]["waits"])


def end_session(transaction: Transaction, session: Session) -> None:
    """A session has ended at its last message."""
    ended_at = session.last_activity_at.isoformat()
    transaction.run("summaries.end_session", key=session.key, ended_at=ended_at)


def save_summary(transaction: Transaction, session: Session, summary: SessionSummary) -> None:
    """Keep the summary of a session instead of the one before."""
    transaction.run(
        "summaries.save_summary",
        key=session.key,
        properties={
            "space": session.space.key,
            "summary": json.dumps(asdict(summary.text), ensure_ascii=False),
            "model": summary.model,
            "parse_error": summary.parse_error,
            "truncated": summary.truncated,
        },
        created_at=summary.created_at.isoformat(),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class SpineSources:
    """What a spine is made of: the weightiest memories, and open todos of all personas."""

    facts: tuple[Memory, ...]
    todos: tuple[Memory, ...]


def spine_sources(
    transaction: Transaction,
    user: Space,
    *,
    prefixes: Sequence[str],
    types: Sequence[MemoryType],
    limit: int,
) -> SpineSources:
    """The memories of a user that matter most, so many of each kind, and what is open."""
    facts = [
        memory_from_node(row["m"])
        for prefix in prefixes
        for row in transaction.run(
            "summaries.weighty",
            kept_by=ROOM,
            space=user.key,
            types=[each.value for each in types],
            prefix=prefix,
            limit=limit,
        )
    ]
    rows = transaction.run(
        "summaries.pending_of_all",
        kept_by=ROOM,
        space=user.key,
        space_prefix=f"{user.key}/",
        limit=limit,
    )
    return SpineSources(facts=tuple(facts), todos=tuple(memory_from_node(row["m"]) for row in rows))


def save_spine(transaction: Transaction, spine: Spine) -> None:
    """Keep a version of a spine: what is open lies in the spaces of the personas."""
    user = spine.space
    own = {name: lines for name, lines in spine.sections.items() if name != OPEN_LOOPS}
    loops: dict[str, list[SpineLine]] = {}
    for line in spine.sections.get(OPEN_LOOPS, ()):
        loops.setdefault(line.persona or "", []).append(line)
    rows = [
        _spine_row(spine, user, own),
        *(
            _spine_row(spine, _with_persona(user, slug), {OPEN_LOOPS: lines})
            for slug, lines in sorted(loops.items())
            if slug
        ),
    ]
    created_at = spine.created_at.isoformat()
    transaction.run("summaries.save_spine", space_rows=rows, created_at=created_at)


def _with_persona(user: Space, slug: str) -> Space:
    return Space(tenant=user.tenant, kind=user.kind, owner=user.owner, persona=slug)


def _spine_row(
    spine: Spine, space: Space, sections: Mapping[str, Sequence[SpineLine]]
) -> dict[str, Any]:
    lines = [line for each in sections.values() for line in each]
    return {
        "key": f"{space.key}|{spine.version}",
        "properties": {
            "space": space.key,
            "version": spine.version,
            "message_count": spine.message_count,
            "sections": sections_text(sections),
        },
        "memories": list(dict.fromkeys(f"{space.key}|{line.uid}" for line in lines)),
    }


def sections_text(sections: Mapping[str, Sequence[SpineLine]]) -> str:
    """The sections of a spine as they are kept."""
    values = {name: [asdict(line) for line in lines] for name, lines in sections.items()}
    return json.dumps(values, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Successor:
    """What says now what a memory said that was folded: its uid, its content and its key."""

    uid: str
    content: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RestingSpine:
    """A part of a spine, locked, with the memories that it rests on and that changed, by uid."""

    key: str
    spine: Spine
    changed: Mapping[str, Successor | None]


def spines_on(transaction: Transaction, memories: Sequence[str]) -> list[RestingSpine]:
    """The parts of spines that rest on some memories, by their keys."""
    rows = transaction.run("summaries.spines_on", space_keys=list(memories))
    return [
        RestingSpine(
            key=row["key"],
            spine=spine_from_row(row["spine"]),
            changed={
                uid: Successor(uid=new, content=content, key=key) if new else None
                for uid, new, content, key in row["memories"]
            },
        )
        for row in rows
    ]


def save_sections(
    transaction: Transaction,
    parts: Mapping[str, tuple[Mapping[str, Sequence[SpineLine]], Sequence[str]]],
) -> None:
    """Write parts of spines, each with its sections and the keys of memories that took over."""
    rows = [
        {"key": key, "sections": sections_text(sections), "memories": list(memories)}
        for key, (sections, memories) in sorted(parts.items())
    ]
    if rows:
        transaction.run("summaries.save_sections", space_rows=rows)


def forget_messages(
    transaction: Transaction, turns: Sequence[str], *, every: int, chars: int
) -> None:
    """Let no summary and no state say what messages did that were taken back, by their keys."""
    transaction.run("summaries.forget_messages", space_keys=list(turns), every=every, chars=chars)


def forget_retracted(transaction: Transaction, memories: Sequence[str]) -> None:
    """Let sessions be summed up anew that said what was retracted, by the keys of memories."""
    transaction.run("summaries.forget_retracted", space_keys=list(memories))


def are_active(transaction: Transaction, turns: Sequence[str]) -> bool:
    """Whether all of some messages are there still; nobody takes one back before the end."""
    rows = transaction.run("summaries.active_turns", space_keys=sorted(turns))
    return bool(rows[0]["active"] == len(turns))


class Summaries:
    """Reads summaries, and what they are made of."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_session(self, session: Session) -> SessionSummary | None:
        """The summary of a session."""
        rows = self._connection.fetch("summaries.find_summary", key=session.key)
        return session_summary_from_row(rows[0]["summary"], session.uid) if rows else None

    def spine(self, spaces: Sequence[Space], version: int | None = None) -> Spine | None:
        """A version of the spine that some spaces hold, or the latest one."""
        keys = [space.key for space in spaces]
        rows = self._connection.fetch("summaries.spine", spaces=keys, version=version or 0)
        return united_spine([spine_from_row(row["spine"]) for row in rows])

    def rolling_page(
        self, space: Space, after: Cursor | None = None, *, limit: int
    ) -> Page[RollingSummary]:
        """One page of the rolling summaries of a user with a persona, the newest first.

        A cursor is when one was made, in ISO form, and its key.
        """
        created_at, key = after or (_LAST_TIME.isoformat(), "")
        return read_page(
            self._connection,
            "summaries.list_rolling",
            "summaries.count_rolling",
            filters={"space": space.key},
            cursor={"cursor_time": datetime.fromisoformat(str(created_at)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: _rolling(row["rolling"], space),
            cursor_of=lambda row: (row["rolling"]["created_at"], row["rolling"]["key"]),
        )

    def latest_messages(self, conversation: str, *, limit: int) -> tuple[Turn, ...]:
        """The latest messages of a conversation, so many of each side, oldest first."""
        return self._of_both_sides("summaries.latest_messages", space_key=conversation, limit=limit)

    def messages_of(self, session: Session, *, limit: int) -> tuple[Turn, ...]:
        """The latest messages of a session, so many of each side, oldest first."""
        return self._of_both_sides(
            "summaries.messages_of_session", space_key=session.key, limit=limit
        )

    def _of_both_sides(self, query: str, **parameters: Any) -> tuple[Turn, ...]:  # noqa: ANN401
        turns = [
            turn_from_row(row["turn"])
            for role in (TurnRole.USER, TurnRole.ASSISTANT)
            for row in self._connection.fetch(query, role=role.value, **parameters)
        ]
        return tuple(sorted(turns, key=lambda turn: (turn.at, turn.number)))

    def judged_in(self, session: Session) -> tuple[Memory, ...]:
        """The memories and todos that were judged of the messages of a session, oldest first."""
        rows = self._connection.fetch(
            "summaries.judged_in_session", space_key=session.key, kept_by=ROOM, limit=_JUDGED_MAX
        )
        return tuple(memory_from_node(row["m"]) for row in rows)

    def stale(self, before: datetime, space: str) -> Iterator[str]:
        """The keys of open sessions that were last active before a time; of one space or all."""
        return self._sessions("summaries.stale", before=before, space=space)

    def unsummed(self, space: str) -> Iterator[str]:
        """The keys of sessions that wait for their summary; of one space or all."""
        return self._sessions("summaries.unsummed", space=space)

    def unrolled(self, space: str) -> Iterator[str]:
        """The keys of spaces whose rolling summary is to be made anew; of one space or all."""
        rows = every_row(self._connection, "summaries.unrolled", space=space)
        return (row["key"] for row in rows)

    def _sessions(self, query: str, **parameters: Any) -> Iterator[str]:  # noqa: ANN401
        rows = rows_by_time(
            self._connection,
            query,
            place_of=lambda row: (row["last_activity_at"], row["key"]),
            **parameters,
        )
        return (row["key"] for row in rows)


def _rolling(node: Row, space: Space) -> RollingSummary:
    return RollingSummary(
        uid=node["uid"],
        space=space,
        text=node["text"],
        model=node["model"],
        created_at=moment_of(node["created_at"]),
    )
