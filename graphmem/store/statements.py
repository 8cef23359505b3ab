"""Statements: which memories state the same, a value of the same things, or something near."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.model.memory import Memory
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Vector
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import memory_from_node
from graphmem.store.vectors import VectorSlot

_CHUNKS_EACH = 5  # that are looked at for one neighbour


@dataclass(frozen=True, kw_only=True, slots=True)
class Stated:
    """A memory by its key, and what stands for what it states."""

    key: str
    statement: str | None
    asserts: str | None


def known_statements(
    transaction: Transaction, space: Space, statements: Iterable[str], asserts: Iterable[str]
) -> list[Stated]:
    """The active plain memories of a space that state the same, or of the same things.

    The oldest come first.
    """
    parameters: dict[str, Any] = {
        "statements": sorted(set(statements)),
        "asserts": sorted(set(asserts)),
    }
    if not any(parameters.values()):
        return []
    rows = transaction.run("statements.known", space=space.key, **parameters)
    return [
        Stated(key=row["key"], statement=row["statement"], asserts=row["asserts"]) for row in rows
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A memory that is near to a vector; similarity is the cosine."""

    memory: Memory
    similarity: float


class NearStatements:
    """Finds memories that state something near."""

    def __init__(self, connection: Connection, slot: VectorSlot) -> None:
        self._connection = connection
        self._slot = slot

    def nearest(
        self, space: Space, vectors: Mapping[int, Vector], *, neighbours: int, now: datetime
    ) -> dict[int, Sequence[Neighbour]]:
        """The nearest plain memories of a space, by the numbers of the vectors."""
        rows = self._connection.fetch(
            f"statements.nearest{self._slot.suffix}",
            space=space.key,
            vectors=[{"number": n, "vector": list(vector)} for n, vector in vectors.items()],
            neighbours=neighbours,
            chunks=neighbours * _CHUNKS_EACH,
            now=epoch_ms(now),
        )
        found: dict[int, list[Neighbour]] = {number: [] for number in vectors}
        for row in rows:
            memory = memory_from_node(row["m"], row["entities"])
            near = Neighbour(memory=memory, similarity=2 * row["score"] - 1)
            found[row["number"]].append(near)
        return {number: tuple(each) for number, each in found.items()}
