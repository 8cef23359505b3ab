"""Vectors: their two slots, and building the one beside the other."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphmem.errors import Conflict
from graphmem.model.memory import Memory
from graphmem.ports import Vector
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import chunk_copies, memory_from_node

OTHER = {"": "_b", "_b": ""}
_REMOVED_AT_ONCE = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorState:
    """Whose vectors are searched, in which slot, and whose are being built in the other."""

    embedder: str | None
    slot: str
    next_embedder: str | None


class VectorSlot:
    """The slot of the vectors of this process's embedder, empty or ``_b``.

    It stays while the process lives.
    """

    def __init__(self, connection: Connection, embedder: str) -> None:
        self._connection = connection
        self.embedder = embedder
        self._lock = threading.Lock()
        self._slot: str | None = None

    @property
    def suffix(self) -> str:
        """What stands behind the names of queries and properties."""
        with self._lock:
            if self._slot is None:
                state = vector_state(self._connection)
                is_active = state.embedder in {None, self.embedder}
                self._slot = state.slot if is_active else OTHER[state.slot]
            return self._slot


def vector_state(connection: Connection) -> VectorState:
    """Whose vectors are searched, and whose are being built."""
    rows = connection.fetch("vectors.state")
    if not rows:
        return VectorState(embedder=None, slot="", next_embedder=None)
    row = rows[0]
    return VectorState(
        embedder=row["embedder"], slot=row["slot"], next_embedder=row["next_embedder"]
    )


class Vectors:
    """Builds the vectors of an embedder, and removes those of another one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self, embedder: str, *, dimensions: int) -> None:
        """Make room in the other slot for the vectors of a new embedder.

        Goes on where it was begun before.
        """
        state = vector_state(self._connection)
        slot = OTHER[state.slot]
        if state.next_embedder != embedder:
            self._connection.run_named(f"vectors.drop_index{slot}")
            self.remove_others(state.embedder or "")
            self._connection.run("vectors.begin", embedder=embedder, dimensions=dimensions)
        self._connection.run_named(f"vectors.create_index{slot}", dimensions=dimensions)

    def lacking(self, embedder: str, *, after: str, limit: int) -> list[Memory]:
        """The next memories by key that have no vectors of an embedder and do not wait for any."""
        rows = self._connection.fetch(
            "vectors.lacking", embedder=embedder, after=after, limit=limit, space=""
        )
        return [memory_from_node(row["m"], ()) for row in rows]

    def lacking_count(self, embedder: str) -> int:
        """How many there are."""
        return int(
            self._connection.fetch("vectors.lacking_count", embedder=embedder, space="")[0][
                "lacking"
            ]
        )

    def add(
        self, made: Sequence[tuple[Memory, Sequence[Vector]]], *, embedder: str, slot: str
    ) -> int:
        """Keep the vectors of memories, unless these changed since they were read.

        Says of how many they were kept.
        """
        rows = [
            {
                "key": memory.key,
                "version": memory.version,
                "chunks": [
                    chunk_copies(memory)
                    | {
                        "key": f"{memory.key}|{memory.version}|{number}",
                        "embedder": embedder,
                        f"embedding{slot}": list(vector),
                    }
                    for number, vector in enumerate(vectors)
                ],
            }
            for memory, vectors in made
        ]
        found = self._connection.run("vectors.add", space_rows=rows, embedder=embedder)
        return int(found[0]["added"])

    def switch(self, embedder: str) -> None:
        """Let the new vectors be those that are searched by processes that start from now on.

        Raises:
            Conflict: somebody else began to build others meanwhile.
        """

        def work(transaction: Transaction) -> None:
            if not transaction.run("vectors.switch", embedder=embedder):
                message = "Vectors of another embedder are being built meanwhile."
                raise Conflict(message)

        self._connection.write(work)

    def mark_waiting(self, embedder: str) -> int:
        """Let memories wait for their vectors whose text the new model refused; says how many."""
        return int(
            self._connection.run("vectors.mark_waiting", embedder=embedder, space="")[0]["waiting"]
        )

    def remove_others(self, embedder: str) -> int:
        """Remove the vectors of all other embedders; says how many."""
        removed = 0
        while done := self._connection.run(
            "vectors.remove_others", embedder=embedder, limit=_REMOVED_AT_ONCE, space=""
        )[0]["removed"]:
            removed += done
        return removed

    def finish(self, embedder: str) -> int:
        """Remove the former vectors and their index; says how many vectors."""
        state = vector_state(self._connection)
        self._connection.run_named(f"vectors.drop_index{OTHER[state.slot]}")
        return self.remove_others(embedder)

    def not_online(self) -> Mapping[str, str]:
        """The indexes that are still being filled, by name, with their state.

        Empty when all are there.
        """
        return {
            row["name"]: row["state"]
            for row in self._connection.fetch("service.indexes_not_online")
        }
