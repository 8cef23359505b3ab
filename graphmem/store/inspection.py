"""Inspection: reads for the integrity job, and removal of what belongs to nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphmem.model.upkeep_rows import InspectedMemory
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import memory_from_node

_LEFTOVERS_MAX = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class CrossingEdge:
    """An edge between memories of two spaces, by where it starts. ``id`` is the driver's."""

    id: str
    key: str
    space: str
    uid: str
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedUid(CrossingEdge):
    """An edge that shares its uid with an older one of its space, perhaps at the same place."""

    is_double: bool
    to_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftovers:
    """What no single memory can be blamed for: claims that point to no memory, and edges."""

    claims: Sequence[str]
    edges: Sequence[CrossingEdge]
    shared_uids: Sequence[SharedUid]
    colliding: Sequence[str]  # memories whose logical key has two values at one instant


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
                mentions_merged=row["mentions_merged"],
                quiet_turns=tuple((content, actor) for content, actor in row["quiet_turns"]),
                gone_members=tuple((key, content) for key, content in row["gone_members"]),
            )
            for row in rows
        ]

    def leftovers(self, space: str) -> Leftovers:
        """What has lost its memory, or was drawn over a wall, in one space or in all."""
        return self._connection.read(lambda transaction: read_leftovers(transaction, space))

    def unclaimed(self, claims: Collection[str]) -> frozenset[str]:
        """Those of some claims that nobody holds."""
        rows = self._connection.fetch("inspection.unclaimed", claims=sorted(claims))
        return frozenset(row["claim"] for row in rows)


def read_leftovers(transaction: Transaction, space: str) -> Leftovers:
    """What no single memory can be blamed for, at most ten thousand of each kind.

    ``space`` is a key, or empty for all.
    """
    claims = transaction.run("inspection.empty_claims", space=space, limit=_LEFTOVERS_MAX)
    edges = transaction.run("inspection.crossing_edges", space=space, limit=_LEFTOVERS_MAX)
    shared = transaction.run("inspection.edges_of_one_uid", space=space, limit=_LEFTOVERS_MAX)
    colliding = transaction.run(
        "inspection.values_at_one_instant", space=space, limit=_LEFTOVERS_MAX
    )
    return Leftovers(
        claims=[row["key"] for row in claims],
        edges=[CrossingEdge(**row) for row in edges],
        shared_uids=[SharedUid(**row) for row in shared],
        colliding=[row["key"] for row in colliding],
    )


def remove_leftovers(transaction: Transaction, leftovers: Leftovers) -> None:
    """Remove claims, which must be locked, and mend edges by the ids that the driver gave them."""
    transaction.run("writes.drop_empty_claims", claims=list(leftovers.claims))
    rows = [{"space": edge.space, "id": edge.id} for edge in leftovers.edges]
    transaction.run("inspection.remove_edges", space_rows=rows)
    parted = [
        {"space": edge.space, "id": edge.id, "is_double": edge.is_double}
        for edge in leftovers.shared_uids
    ]
    transaction.run("inspection.part_edges", space_rows=parted)
