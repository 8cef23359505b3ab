"""Inspection: reads for the integrity job, and removal of what belongs to nothing."""

from collections.abc import Collection
from datetime import datetime

from graphmem.model.job import Run
from graphmem.model.space import space_from_key
from graphmem.model.tending import Inspected
from graphmem.model.trace import job_trace
from graphmem.ports import IdSource
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import memory_from_node
from graphmem.store.traces import save_traces

_LEFTOVERS_MAX = 10_000


class Inspection:
    """Reads what should agree."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, space: str, *, after: str, limit: int) -> list[Inspected]:
        """The next memories by key, in one space or in all, with what repeats them."""
        rows = self._connection.fetch("inspection.page", space=space, after=after, limit=limit)
        return [
            Inspected(
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

    def remove_empty_claims(self, space: str) -> int:
        """Remove claims that point to no memory; says how many."""
        rows = self._connection.run(
            "inspection.remove_empty_claims", space=space, limit=_LEFTOVERS_MAX
        )
        return int(rows[0]["removed"])

    def crossing_edges(self, space: str) -> list[str]:
        """Edges between memories of two spaces, by the key of the memory that each begins at."""
        rows = self._connection.fetch(
            "inspection.crossing_edges", space=space, limit=_LEFTOVERS_MAX
        )
        return [row["key"] for row in rows]

    def remove_crossing_edges(self, run: Run, *, ids: IdSource, now: datetime) -> int:
        """Remove edges between memories of two spaces, with a trace of each; says how many."""

        def work(transaction: Transaction) -> int:
            rows = transaction.run(
                "inspection.remove_crossing_edges", space=run.space, limit=_LEFTOVERS_MAX
            )
            traces = [
                job_trace(
                    ids.new("trace"),
                    job=run.job,
                    run=run.uid,
                    space=space_from_key(row["space"]),
                    event={
                        "uid": row["uid"],
                        "outcome": "repaired",
                        "reason": "edges_across_spaces",
                        "type": row["type"],
                    },
                    now=now,
                )
                for row in rows
            ]
            if traces:
                save_traces(transaction, traces)
            return len(traces)

        return self._connection.write(work)
