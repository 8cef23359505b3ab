"""Kept memories: what a room keeps, as lists, by nearness, and by what it mentions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Vector
from graphmem.store.connection import Connection, Row
from graphmem.store.mapping import memory_from_node
from graphmem.store.pages import read_page
from graphmem.store.vectors import VectorSlot

_REFS = "entity_refs"  # where rooms keep keys of entities in their order
_LAST_TIME = datetime(9999, 12, 31, tzinfo=UTC)
_CHUNKS_PER_MEMORY, _CHUNKS_MOST = 5, 2_500
_WORDS_PER_MEMORY = 20  # that are looked at, as others may have these words too


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptFilter:
    """What is asked for: of a room in some spaces. ``completed`` None: whatever its reason."""

    kept_by: str
    spaces: Sequence[Space]
    types: Sequence[MemoryType]
    statuses: Sequence[Status] = (Status.ACTIVE,)
    prefix: str = ""  # of their logical keys
    completed: bool | None = None

    def parameters(self) -> dict[str, Any]:
        """As the queries name it."""
        return {
            "kept_by": self.kept_by,
            "spaces": [space.key for space in self.spaces],
            "types": [each.value for each in self.types],
            "statuses": [each.value for each in self.statuses],
            "prefix": self.prefix,
            "completed": self.completed,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearest:
    """Memories with how near each is, from 0 to 1; pinned ones; and how many chunks were seen."""

    found: tuple[tuple[Memory, float], ...]
    foundation: tuple[Memory, ...]
    seen: int


class KeptMemories:
    """Reads what a room keeps."""

    def __init__(self, connection: Connection, slot: VectorSlot) -> None:
        self._connection = connection
        self._slot = slot

    def page(self, wanted: KeptFilter, after: Cursor | None = None, *, limit: int) -> Page[Memory]:
        """One page, the newest first; a cursor is when one was made, in ISO form, and its key."""
        created_at, key = after or (_LAST_TIME.isoformat(), "")
        return read_page(
            self._connection,
            "kept.list",
            "kept.count",
            filters=wanted.parameters(),
            cursor={"cursor_time": datetime.fromisoformat(str(created_at)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: _memory(row["kept"]),
            cursor_of=lambda row: (row["kept"][0]["created_at"], row["kept"][0]["key"]),
        )

    def newest(self, wanted: KeptFilter, *, limit: int) -> tuple[Memory, ...]:
        """The newest ones."""
        cursor = {"cursor_time": _LAST_TIME, "cursor_key": ""}
        rows = self._connection.fetch("kept.list", **wanted.parameters(), **cursor, limit=limit)
        return tuple(_memory(row["kept"]) for row in rows)

    def count(self, wanted: KeptFilter) -> int:
        """How many there are."""
        total: int = self._connection.fetch("kept.count", **wanted.parameters())[0]["total"]
        return total

    def pinned(self, wanted: KeptFilter, *, limit: int, now: datetime) -> tuple[Memory, ...]:
        """The oldest active memories that are pinned."""
        parameters = _of_the_room(wanted, now) | {"pinned": limit}
        (row,) = self._connection.fetch("kept.pinned", **parameters)
        return tuple(map(_memory, row["foundation"]))

    def nearest(
        self, wanted: KeptFilter, vector: Vector, *, limit: int, pinned: int, now: datetime
    ) -> Nearest:
        """The active memories that are nearest to a vector, and the oldest pinned ones.

        By the index; where that gave too few of the room, each is compared.
        """
        parameters = _of_the_room(wanted, now) | {
            "vector": list(vector),
            "limit": limit,
            "pinned": pinned,
        }
        chunks = min(limit * _CHUNKS_PER_MEMORY, _CHUNKS_MOST)
        found = self._nearest("kept.nearest", parameters | {"vector_limit": chunks})
        if len(found.found) < limit and found.seen >= chunks:
            return self._nearest("kept.nearest_of_all", parameters)
        return found

    def _nearest(self, query: str, parameters: dict[str, Any]) -> Nearest:
        row = self._connection.fetch(f"{query}{self._slot.suffix}", **parameters)[0]
        return _nearest(row)

    def with_words(
        self, wanted: KeptFilter, text: str, *, limit: int, pinned: int, now: datetime
    ) -> Nearest:
        """The active memories that the words of a query find, and the oldest pinned ones."""
        row = self._connection.fetch(
            "kept.with_words",
            **_of_the_room(wanted, now),
            text=text,
            limit=limit,
            fetched=limit * _WORDS_PER_MEMORY,
            pinned=pinned,
        )[0]
        return _nearest(row)

    def of_entities(
        self,
        wanted: KeptFilter,
        entities: Iterable[str],
        *,
        shown: Iterable[str],
        importance: int,
        limit: int,
        now: datetime,
    ) -> tuple[Memory, ...]:
        """Active memories of an importance, 0 to 100, or pinned, that mention one of some entities.

        ``entities`` are keys with their space; ``shown`` are uids of memories that are left out.
        """
        keys = list(dict.fromkeys(entities))
        if not keys:
            return ()
        rows = self._connection.fetch(
            "kept.of_entities",
            **_of_the_room(wanted, now),
            space_keys=keys,
            shown=sorted(shown),
            importance=importance,
            limit=limit,
        )
        return tuple(_memory(row["kept"]) for row in rows)


def _of_the_room(wanted: KeptFilter, now: datetime) -> dict[str, Any]:
    values = wanted.parameters()
    names = ("kept_by", "types")
    spaces = list(dict.fromkeys(values["spaces"]))
    return {
        **{name: values[name] for name in names},
        # a list of one would be a plan of its own
        "spaces": spaces * 2 if len(spaces) == 1 else spaces,
        "now": epoch_ms(now),
    }


def _nearest(row: Row) -> Nearest:
    return Nearest(
        found=tuple((_memory(kept), score) for *kept, score in row["found"]),
        foundation=tuple(map(_memory, row["foundation"])),
        seen=row["seen"],
    )


def _memory(kept: Sequence[Any]) -> Memory:
    """A memory whose native refs are what merges and splits of entities made of them."""
    node, entities, renamed = kept
    memory = memory_from_node(node, entities)
    if not renamed or memory.native is None or _REFS not in memory.native:
        return memory
    refs = cast("Sequence[str]", memory.native[_REFS])
    for before, after in renamed:
        refs = [after if ref == before else ref for ref in refs]
    return replace(memory, native={**memory.native, _REFS: list(dict.fromkeys(refs))})
