"""Curating: what the curator of a room reads of the memories that it keeps, in pages."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.companion import SessionState
from graphmem.model.memory import Memory, MemoryType
from graphmem.model.space import Space, SpaceKind, space_from_key
from graphmem.store.companions import find_state
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row
from graphmem.text.times import moment_of

_OF_USERS = f"/{SpaceKind.USER}:"  # a part of the keys of their spaces alone
_FIRST_TIME = datetime(1, 1, 1, tzinfo=UTC)
_ROWS_AT_ONCE = 2_000
_NAMES_MAX = 20_000
_TURNS_MAX = 1_000  # that one memory is led back to


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptFact:
    """An active memory of a room as its curator reads it, in the version that it has.

    ``refs`` are the entities of its native values as they are now, ``importance`` is that of the
    core. One that does not stand alone has typed edges.
    """

    key: str
    version: int
    logical_key: str
    content: str
    native: Mapping[str, Any]
    refs: tuple[str, ...]
    importance: int
    pinned: bool
    created_at: datetime
    stands_alone: bool = True


class Curating:
    """Reads what a room keeps, of some types, for its curator."""

    def __init__(
        self, connection: Connection, *, kept_by: str, types: Sequence[MemoryType]
    ) -> None:
        self._connection = connection
        self._types = [each.value for each in types]
        self._kept_by = kept_by
        self._room: dict[str, Any] = {"kept_by": kept_by, "types": self._types}

    def names(self, user: Space) -> dict[str, str]:
        """The entities of a user that were merged into others, each with what it is now."""
        rows = self._connection.fetch("curating.merged", space=user.key, limit=_NAMES_MAX)
        return {row["name"]: row["stands"] for row in rows}

    def state(self, space: Space) -> SessionState:
        """What lasts of a user with a persona."""
        return find_state(self._connection, space)

    def active(self, space: Space, names: Mapping[str, str]) -> Iterator[KeptFact]:
        """The active memories of a space that are for ever; of each type the oldest first.

        ``names`` are those of its user.
        """
        for kind in self._types:
            yield from (_kept_fact(row, names) for row in self._rows(space, kind))

    def _rows(self, space: Space, kind: str) -> Iterator[Row]:
        """What is read of the memories of a type, many at once: some may be of one moment."""
        time, key = _FIRST_TIME, ""
        while rows := self._connection.fetch(
            "curating.active",
            kept_by=self._kept_by,
            space=space.key,
            type=kind,
            cursor_time=time,
            cursor_key=key,
            limit=_ROWS_AT_ONCE,
        ):
            yield from rows
            time, key = moment_of(rows[-1]["created_at"]), rows[-1]["key"]

    def users(self) -> Iterator[Space]:
        """The users of whom the room keeps active memories, each once."""
        seen: set[Space] = set()
        for row in every_row(
            self._connection, "curating.spaces", space_part=_OF_USERS, **self._room
        ):
            user = space_from_key(row["key"]).without_persona
            if row["keeps_some"] and user not in seen:
                seen.add(user)
                yield user

    def personas(self, users: Iterable[Space]) -> list[Space]:
        """The spaces of the personas that know some users, or that memories of them are for."""
        prefixes = [f"{user.key}/" for user in users]
        rows = self._connection.fetch("curating.personas", space_prefixes=prefixes, **self._room)
        return [space_from_key(row["key"]) for row in rows]

    def count_new(self, transaction: Transaction, spaces: Iterable[Space], since: datetime) -> int:
        """How many active memories came to be since a time, without what the curator made."""
        (row,) = transaction.run(
            "curating.count_new",
            spaces=[space.key for space in spaces],
            since=since,
            **self._room,
        )
        total: int = row["total"]
        return total


def kept_fact(memory: Memory, names: Mapping[str, str]) -> KeptFact:
    """A memory as the curator reads it."""
    native: Mapping[str, Any] = memory.native or {}
    return KeptFact(
        key=memory.key,
        version=memory.version,
        logical_key=memory.logical_key or "",
        content=memory.content,
        native=native,
        refs=_refs(native, names),
        importance=memory.importance,
        pinned=memory.pinned,
        created_at=memory.created_at,
    )


def turns_of(transaction: Transaction, memories: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The keys of the newest turns that memories are of, each with the source that said it."""
    keys = sorted(memories)
    rows = transaction.run("curating.turns", space_keys=keys, limit=_TURNS_MAX)
    return tuple((row["turn"], row["said_by"]) for row in rows)


def _kept_fact(row: Row, names: Mapping[str, str]) -> KeptFact:
    native = json.loads(row["native"] or "{}")
    return KeptFact(
        key=row["key"],
        version=row["version"],
        logical_key=row["logical_key"] or "",
        content=row["content"],
        native=native,
        refs=_refs(native, names),
        importance=row["importance"],
        pinned=row["pinned"],
        created_at=moment_of(row["created_at"]),
        stands_alone=row["stands_alone"],
    )


def _refs(native: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:
    """The entities of native values as they are now, each once."""
    return tuple(dict.fromkeys(names.get(ref, ref) for ref in native.get("entity_refs", ())))
