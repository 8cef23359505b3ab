"""Edges: reading them one by one, as a list, and around a memory."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.model.edge import Edge, EdgeType, LineageType
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Memory, memory_key
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row
from graphmem.store.mapping import edge_from_row, memory_from_node
from graphmem.store.pages import read_page


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbourhood:
    """The memories around one, nearest first, the edges among them and their entities."""

    memories: tuple[Memory, ...]
    edges: tuple[Edge, ...]
    entities: tuple[EntityRef, ...]


class Edges:
    """Reads edges."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_uids(self, tenant: str, uids: Sequence[str]) -> tuple[tuple[Space, Edge], ...]:
        """The edges of some uids in the spaces of a tenant, each with its space."""
        rows = self._connection.fetch("edges.by_uids", space_prefix=f"{tenant}/", uids=list(uids))
        return tuple((space_from_key(row["space"]), edge_from_row(row["edge"])) for row in rows)

    def page(
        self,
        spaces: Sequence[Space],
        after: Cursor | None = None,
        *,
        types: Sequence[EdgeType] = (),
        memory_uid: str | None = None,
        limit: int,
    ) -> Page[Edge]:
        """One page of the edges of some spaces, or of those that touch one memory.

        A cursor is the key of the memory that an edge starts from, and the uid of the edge.
        """
        ending = "_of_memory" if memory_uid else ""
        filters: dict[str, Any] = {"types": [each.value for each in types or EdgeType]}
        if memory_uid:
            filters["space_keys"] = [memory_key(space, memory_uid) for space in spaces]
        else:
            filters["spaces"] = [space.key for space in spaces]

        start, uid = after or ("", "")
        return read_page(
            self._connection,
            f"edges.list{ending}",
            f"edges.count{ending}",
            filters=filters,
            cursor={"cursor_key": start, "cursor_uid": uid},
            limit=limit,
            item_of=lambda row: edge_from_row(row["edge"]),
            cursor_of=lambda row: (row["start"], row["edge"][0] or ""),
        )

    def around(
        self, memory: Memory, *, depth: int, types: Sequence[EdgeType | LineageType], limit: int
    ) -> Neighbourhood:
        """The memories within ``depth`` steps (1 to 3) of one, at most ``limit``."""
        rows = self._connection.fetch(
            "edges.neighbours",
            key=memory.key,
            space=memory.space.key,
            entity_space=memory.space.without_persona.key,
            depth=depth,
            edge_types=[each.value for each in types],
            limit=limit,
        )
        if not rows:
            return Neighbourhood(memories=(), edges=(), entities=())
        return _neighbourhood(rows[0])


def _neighbourhood(row: Row) -> Neighbourhood:
    mentions: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, entity, label in row["mentions"]:
        mentions[key].append((entity, label))
    entities = {EntityRef(key=entity, label=label) for _, entity, label in row["mentions"]}
    return Neighbourhood(
        memories=tuple(
            memory_from_node(node, sorted(mentions[node["key"]])) for node in row["memories"]
        ),
        edges=tuple(edge_from_row(edge) for edge in row["edges"]),
        entities=tuple(sorted(entities)),
    )
