"""History: the earlier versions of a memory, and its lineage."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.edge import Edge
from graphmem.model.memory import Memory, Revision
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import edge_from_row, memory_from_node, memory_from_revision
from graphmem.text.times import moment_of

_BEHIND_NONE = 2**62


@dataclass(frozen=True, kw_only=True, slots=True)
class LineageEdge:
    """An edge of a lineage, and the space of its other end."""

    edge: Edge
    space: Space


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """A page of earlier versions, newest first, their number, and edges of the lineage."""

    revisions: tuple[Revision, ...]
    total: int
    has_more: bool
    lineage: tuple[LineageEdge, ...]


class Histories:
    """Reads histories."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, memory: Memory, *, limit: int, after: int | None = None) -> History:
        """The versions of a memory before its present one, or before the version ``after``."""

        def work(transaction: Transaction) -> History:
            rows = transaction.run(
                "history.revisions",
                space_key=memory.key,
                behind=after or _BEHIND_NONE,
                limit=limit + 1,
            )
            lineage = transaction.run("history.lineage", space_key=memory.key)
            return History(
                revisions=tuple(
                    Revision(
                        memory=memory_from_revision(row["memory"]),
                        replaced_at=moment_of(row["replaced_at"]),
                    )
                    for row in rows[:limit]
                ),
                total=transaction.run("history.revision_count", space_key=memory.key)[0]["total"],
                has_more=len(rows) > limit,
                lineage=tuple(
                    LineageEdge(edge=edge_from_row(row["edge"]), space=space_from_key(row["space"]))
                    for row in lineage
                ),
            )

        return self._connection.read(work)

    def folded_from(self, memory: Memory) -> list[Memory]:
        """The memories that one was folded from, within its space."""
        rows = self._connection.fetch("history.folded_from", space_key=memory.key)
        return [memory_from_node(row["m"], row["entities"]) for row in rows]

    def last_active(self, memory: Memory) -> Memory | None:
        """What a memory last was while it was active, before its present version.

        None if that is not known.
        """
        rows = self._connection.fetch("history.last_active", space_key=memory.key)
        return memory_from_revision(rows[0]["memory"]) if rows else None

    def version_at(self, memory: Memory, moment: datetime) -> Memory | None:
        """The version of a memory that was in force at a moment.

        None before it was first recorded.
        """
        if memory.created_at > moment:
            return None
        rows = self._connection.fetch("history.revision_at", space_key=memory.key, known_at=moment)
        return memory_from_revision(rows[0]["memory"]) if rows else memory
