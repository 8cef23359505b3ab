"""Memories: reading them one by one and as a list."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, SpaceKind
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import memory_from_node, memory_from_revision
from graphmem.store.pages import read_page

_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_LAST = datetime(9999, 12, 30, tzinfo=UTC)
_BEHIND_ALL = "\U0010ffff"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFilter:
    """What a list shows; empty fields filter nothing."""

    spaces: Sequence[Space]
    status: Status | None = None  # active, and as of a past time also what is superseded since
    as_of: datetime | None = None  # what was true then
    known_at: datetime | None = None  # what was recorded by then, in its version of then
    types: Sequence[MemoryType] = ()
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()  # of which one is mentioned, as keys within their space
    conversation_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None

    @property
    def statuses(self) -> list[str]:
        """The statuses that are shown; a typed graph calls archived ones superseded (002)."""
        if self.status:
            are_typed = all(space.kind is SpaceKind.ORCHESTRATOR for space in self.spaces)
            is_wide = are_typed and self.status is Status.SUPERSEDED
            return [self.status.value, *([Status.ARCHIVED.value] if is_wide else [])]
        return [Status.ACTIVE.value, *([Status.SUPERSEDED.value] if self.as_of else [])]


class Memories:
    """Reads memories."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_key(self, keys: Iterable[str]) -> dict[str, Memory]:
        """The memories of some keys, each of which names its space."""
        return self._connection.read(lambda transaction: memories_by_key(transaction, keys))

    def by_uid(self, tenant: str, uid: str) -> tuple[Memory, ...]:
        """The memories of one uid in the spaces of a tenant."""
        rows = self._connection.fetch("memories.by_uid", space_prefix=f"{tenant}/", uid=uid)
        return tuple(memory_from_node(row["m"], row["entities"]) for row in rows)

    def known_claims(self, claims: Iterable[str]) -> set[str]:
        """Those claims, each of which names its space, that a memory holds."""
        rows = self._connection.fetch("memories.known_claims", space_keys=sorted(claims))
        return {row["claim"] for row in rows}

    def page(
        self, wanted: MemoryFilter, after: Cursor | None = None, *, limit: int
    ) -> Page[Memory]:
        """One page, newest first; the order is total, so nothing is skipped or shown twice.

        A cursor is the time of creation, in ISO form, and the key.
        """
        filters = _parameters(wanted)
        ending = "_known_at" if wanted.known_at else ""
        created_at, key = after or (_LAST.isoformat(), _BEHIND_ALL)
        return read_page(
            self._connection,
            f"memories.list{ending}",
            f"memories.count{ending}",
            filters=filters,
            cursor={
                "cursor_time": datetime.fromisoformat(str(created_at)),
                "cursor_key": key,
            },
            limit=limit,
            item_of=_memory,
            cursor_of=lambda row: _cursor(_memory(row)),
        )


def _parameters(wanted: MemoryFilter) -> dict[str, Any]:
    """What a list filters by, as its queries name it."""
    parameters: dict[str, Any] = {
        "spaces": sorted({space.key for space in wanted.spaces}),
        "statuses": wanted.statuses,
        "begins_by": wanted.as_of or _LAST,
        "ends_after": wanted.as_of or _FIRST,
        "types": [memory_type.value for memory_type in wanted.types],
        "tags": list(wanted.tags),
        "entities": list(wanted.entities),
        "conversation_id": wanted.conversation_id or "",
        "created_after": wanted.created_after or _FIRST,
        "created_before": wanted.created_before or _LAST,
    }
    return parameters | ({"known_at": wanted.known_at} if wanted.known_at else {})


def _cursor(memory: Memory) -> Cursor:
    return (memory.created_at.isoformat(), memory.key)


def _memory(row: Mapping[str, Any]) -> Memory:
    """The memory of a row, in the version of then where it names one."""
    version = row.get("version")
    return memory_from_revision(version) if version else memory_from_node(row["m"], row["entities"])


def memories_by_key(transaction: Transaction, keys: Iterable[str]) -> dict[str, Memory]:
    """The memories of some keys, within a transaction."""
    rows = transaction.run("memories.by_key", space_keys=sorted(set(keys)))
    return {row["m"]["key"]: memory_from_node(row["m"], row["entities"]) for row in rows}
