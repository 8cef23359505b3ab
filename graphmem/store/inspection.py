"""Inspection: reads for the integrity job, and removal of what belongs to nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphmem.model.upkeep_rows import InspectedMemory
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import memory_from_node

_LEFTOVERS_MAX = 10_000


class Inspection:
    """Reads what should agree."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, space: str, *, after: str, limit: int) -> list[InspectedMemory]:
        """The next memories by key, in one space or in all, with what repeats them."""
        rows = self._connection.fetch("inspection.page", space=space, after=after, limit=limit)
        return [
            InspectedMemory(
                memory=memory_from_node(row["m"], row["entities"]),
                tokens=row["tokens"] or "",
                has_vectors=row["has_vectors"],
                has_stale_copies=row["has_stale_copies"],
                has_successor=row["has_successor"],
            )
            for row in rows
        ]

    def unclaimed(self, claims: Collection[str]) -> frozenset[str]:
        """Those of some claims that nobody holds."""
        rows = self._connection.fetch("inspection.unclaimed", claims=sorted(claims))
        return frozenset(row["claim"] for row in rows)

    def empty_claims(self, space: str) -> list[str]:
        """Claims that point to no memory, at most ten thousand."""
        return [
            row["key"]
            for row in self._connection.fetch(
                "inspection.empty_claims", space=space, limit=_LEFTOVERS_MAX
            )
        ]

    def crossing_edges(self, space: str) -> list[str]:
        """Edges between memories of two spaces, by the key of the memory that each begins at."""
        rows = self._connection.fetch(
            "inspection.crossing_edges", space=space, limit=_LEFTOVERS_MAX
        )
        return [row["key"] for row in rows]


@dataclass(frozen=True, kw_only=True, slots=True)
class CrossingEdge:
    """An edge between memories of two spaces, by where it starts. ``id`` is the driver's."""

    id: str
    space: str
    uid: str
    type: str


def lock_empty_claims(transaction: Transaction, space: str) -> list[str]:
    """Lock claims that point to no memory, at most ten thousand, and give those that still do."""
    rows = transaction.run("inspection.lock_empty_claims", space=space, limit=_LEFTOVERS_MAX)
    return [row["key"] for row in rows]


def remove_claims(transaction: Transaction, claims: Sequence[str]) -> None:
    """Remove claims that were locked while they pointed to no memory."""
    transaction.run("inspection.remove_claims", claims=list(claims))


def crossing_edges(transaction: Transaction, space: str) -> list[CrossingEdge]:
    """Edges between memories of two spaces, at most ten thousand."""
    rows = transaction.run("inspection.crossing_edges", space=space, limit=_LEFTOVERS_MAX)
    return [
        CrossingEdge(id=row["id"], space=row["space"], uid=row["uid"], type=row["type"])
        for row in rows
    ]


def remove_edges(transaction: Transaction, edges: Sequence[CrossingEdge]) -> None:
    """Remove edges by the ids that the driver gave them."""
    rows = [{"space": edge.space, "id": edge.id} for edge in edges]
    transaction.run("inspection.remove_edges", space_rows=rows)
