"""Boxes: memories of a space that were told together, and the topic traces that join them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.memory import memory_key
from graphmem.model.notebook import Box, Member, QuietBox, SealReason, TopicTrace, notebook_key
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page, rows_by_time
from graphmem.text.times import moment_of

_TRACES_MAX = 500  # of the last days that a box is compared with
_LAST = ("9999-12-31T00:00:00+00:00", "\uffff")
_FIRST_TIME = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenBox:
    """The open box of a space, if there is one, and the topic traces of the days before it."""

    box: Box | None = None
    traces: tuple[TopicTrace, ...] = ()


def open_box_of(transaction: Transaction, space: Space, at: datetime, *, days: int) -> OpenBox:
    """The open box of a space, whose notebook is locked, and the traces of the days before it.

    The days end where something was last put in, or at a time where that is earlier.
    """
    (row,) = transaction.run(
        "boxes.open_box", space=space.key, at=at.isoformat(), days=days, limit=_TRACES_MAX
    )
    return OpenBox(
        box=box_from_row(row["box"]) if row["box"] else None,
        traces=tuple(map(trace_from_row, row["traces"])),
    )


def save_boxes(transaction: Transaction, boxes: Sequence[Box], new: frozenset[str]) -> None:
    """Write boxes; ``new`` are the uids of memories that were put in just now."""
    transaction.run("boxes.save", space_rows=[_box_row(box, new) for box in boxes])
    if traced := [box for box in boxes if box.trace]:
        transaction.run("boxes.trace", space_rows=[_trace_row(box) for box in traced])


def _box_row(box: Box, new: frozenset[str] | None = None) -> dict[str, Any]:
    return {
        "key": box.key,
        "properties": {
            "uid": box.uid,
            "space": box.space.key,
            "session": box.session,
            "topics": list(box.topics),
            "seal_reason": box.seal_reason.value if box.seal_reason else None,
        },
        "created_at": box.created_at.isoformat(),
        "last_at": box.last_at.isoformat(),
        "kept_at": box.kept_at.isoformat(),
        "sealed_at": box.sealed_at.isoformat() if box.sealed_at else None,
        "members": [
            {
                "memory": memory_key(box.space, member.memory),
                "topics": list(member.topics),
                "number": number,
            }
            for number, member in enumerate(box.members)
            if new is None or member.memory in new
        ],
    }


def _trace_row(box: Box) -> dict[str, Any]:
    assert box.trace is not None  # noqa: S101 - it has one
    return {
        "box": box.key,
        "key": notebook_key(box.space, box.trace),
        "uid": box.trace,
        "space": box.space.key,
        "topics": list(box.topics),
        "first_at": box.created_at.isoformat(),
        "last_at": box.last_at.isoformat(),
    }


def take_in_boxes(transaction: Transaction, boxes: Sequence[Box]) -> dict[str, bool]:
    """Write boxes that another store kept; by key whether each is new here."""
    keys = [box.key for box in boxes]
    here = {row["key"] for row in transaction.run("boxes.there", space_keys=keys)}
    new = [box for box in boxes if box.key not in here]
    if new:
        transaction.run("boxes.save", space_rows=[_box_row(box) for box in new])
    if traced := [_trace_row(box) for box in new if box.trace]:
        transaction.run("boxes.trace", space_rows=traced)
    return {key: key not in here for key in keys}


def has_open_box(transaction: Transaction, space: Space) -> bool:
    """Whether a space, whose notebook is locked, has an open box."""
    return bool(transaction.run("boxes.open_in", space=space.key)[0]["is_open"])


def take_in_traces(transaction: Transaction, traces: Sequence[TopicTrace]) -> dict[str, bool]:
    """Write topic traces that another store kept; by key whether each is new here."""
    rows = [
        {
            "key": each.key,
            "properties": {
                "uid": each.uid,
                "space": each.space.key,
                "topics": list(each.topics),
            },
            "first_at": each.first_at.isoformat(),
            "last_at": each.last_at.isoformat(),
        }
        for each in traces
    ]
    found = transaction.run("boxes.take_in_traces", space_rows=rows)
    return {row["key"]: row["is_new"] for row in found}


class Boxes:
    """Reads boxes and topic traces."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(
        self,
        space: Space,
        after: Cursor | None = None,
        *,
        limit: int,
        is_open: bool | None = None,
        session: str | None = None,
        since: datetime | None = None,
    ) -> Page[Box]:
        """One page of the boxes of a space, the latest first.

        A cursor is when a box was last told, in ISO form, and its key.
        """
        last, key = after or _LAST
        return read_page(
            self._connection,
            "boxes.list",
            "boxes.count",
            filters={
                "space": space.key,
                "open": is_open,
                "session": session or "",
                "since": (since or _FIRST_TIME).isoformat(),
            },
            cursor={"cursor_time": datetime.fromisoformat(str(last)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: box_from_row(row["box"]),
            cursor_of=lambda row: (row["box"]["last_at"], row["box"]["key"]),
        )

    def find(self, space: Space, uid: str) -> Box | None:
        """The box of a uid."""
        rows = self._connection.fetch("boxes.find", space_key=notebook_key(space, uid))
        return box_from_row(rows[0]["box"]) if rows else None

    def quiet(self, before: datetime, *, space: str = "") -> Iterator[QuietBox]:
        """The open boxes that were last told and put in before a time, the oldest first."""
        rows = rows_by_time(
            self._connection,
            "boxes.quiet",
            place_of=lambda row: (row["last_at"], row["key"]),
            before=before,
            space=space,
        )
        return (
            QuietBox(
                space=space_from_key(row["space"]),
                last_at=moment_of(row["last_at"]),
                kept_at=moment_of(row["kept_at"]),
            )
            for row in rows
        )

    def trace_page(
        self, space: Space, after: Cursor | None = None, *, limit: int
    ) -> Page[TopicTrace]:
        """One page of the topic traces of a space, the latest first."""
        last, key = after or _LAST
        return read_page(
            self._connection,
            "boxes.list_traces",
            "boxes.count_traces",
            filters={"space": space.key},
            cursor={"cursor_time": datetime.fromisoformat(str(last)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: trace_from_row(row["trace"]),
            cursor_of=lambda row: (row["trace"]["last_at"], row["trace"]["key"]),
        )

    def find_trace(self, space: Space, uid: str) -> TopicTrace | None:
        """The topic trace of a uid."""
        rows = self._connection.fetch("boxes.find_trace", space_key=notebook_key(space, uid))
        return trace_from_row(rows[0]["trace"]) if rows else None

    def of_space(self, space: Space) -> Iterator[Box]:
        """All boxes of a space, with all that was put in."""
        rows = every_row(self._connection, "boxes.of_space", space=space.key)
        return (box_from_row(row["box"]) for row in rows)

    def traces_of_space(self, space: Space) -> Iterator[TopicTrace]:
        """All topic traces of a space, without their boxes."""
        rows = every_row(self._connection, "boxes.traces_of_space", space=space.key)
        return (trace_from_row(row["trace"]) for row in rows)


def box_from_row(node: Row | Mapping[str, Any]) -> Box:
    """The box of a row: its topics are those that the members of the row brought."""
    members = tuple(Member(memory=uid, topics=tuple(topics)) for uid, topics in node["members"])
    brought = {topic for member in members for topic in member.topics}
    reason = node.get("seal_reason")
    return Box(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        session=node["session"],
        created_at=moment_of(node["created_at"]),
        last_at=moment_of(node["last_at"]),
        kept_at=moment_of(node["kept_at"]),
        members=members,
        topics=tuple(topic for topic in node["topics"] if topic in brought),
        sealed_at=moment_of(node["sealed_at"]),
        seal_reason=SealReason(reason) if reason else None,
        trace=node["trace"],
    )


def trace_from_row(node: Row | Mapping[str, Any]) -> TopicTrace:
    """The topic trace of a row."""
    return TopicTrace(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        topics=tuple(node["topics"]),
        first_at=moment_of(node["first_at"]),
        last_at=moment_of(node["last_at"]),
        boxes=tuple(node["boxes"]),
    )
