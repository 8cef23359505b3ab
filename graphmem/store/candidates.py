"""Candidates from the graph: both arms with their payload in one round trip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import neo4j

from graphmem.model.edge import Edge, EdgeType
from graphmem.model.memory import Memory
from graphmem.ports import Vector
from graphmem.store.connection import Connection
from graphmem.store.mapping import memory_from_node
from graphmem.store.memories import memories_by_key

_LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """What both arms are asked. Lists have at least two entries, so that one plan serves all."""

    vector: Vector | None
    text: str
    spaces: Sequence[str]
    statuses: Sequence[str]
    now_ms: int
    vector_limit: int
    text_limit: int
    k: int
    vector_weight: float
    text_weight: float
    payload: int
    types: Sequence[str] = ()
    captured_by: Sequence[str] = ()
    conversation_id: str | None = None
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()

    def parameters(self) -> dict[str, Any]:
        """The parameters that every candidate query has."""
        return {
            "vector": list(self.vector) if self.vector else None,
            "text": self.text,
            "spaces": _two(self.spaces),
            "statuses": _two(self.statuses),
            "now": self.now_ms,
            "vector_limit": self.vector_limit,
            "text_limit": self.text_limit,
            "k": self.k,
            "vector_weight": float(self.vector_weight),
            "text_weight": float(self.text_weight),
            "payload": self.payload,
        }

    def filters(self) -> dict[str, Any]:
        """The parameters of the filters that the vector index knows."""
        return {
            "types": _two(self.types),
            "captured_by": _two(self.captured_by),
            "conversation_from": self.conversation_id or "",
            "conversation_to": self.conversation_id or _LAST_CHARACTER,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One row of the answer; the payload of rows far down is fetched only when a ranker lifts them."""

    key: str
    importance: int
    confidence: float
    updated_at: datetime
    contested: bool
    vector_rank: int | None
    vector_score: float | None
    text_rank: int | None
    text_score: float | None
    chunks: int
    pending: int
    row: neo4j.Record

    @property
    def uid(self) -> str:
        """The uid of the memory."""
        return self.key.partition("|")[2]


class Candidates:
    """Runs the candidate queries."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_index(self, search: Search) -> list[Found]:
        """Candidates by the indexes alone."""
        return self._found("recall.candidates", search.parameters())

    def by_index_filtered(self, search: Search) -> list[Found]:
        """Candidates by the indexes, with the filters that they know."""
        return self._found("recall.candidates_filtered", search.parameters() | search.filters())

    def exact(self, search: Search) -> list[Found]:
        """Candidates with every filter, each matching memory compared."""
        more = {"tags": _two(search.tags), "entities": _two(search.entities)}
        return self._found("recall.candidates_exact", search.parameters() | search.filters() | more)

    def pending(self, spaces: Sequence[str]) -> int:
        """How many memories of the spaces wait for their vectors."""
        count: int = self._connection.fetch("recall.pending", spaces=_two(spaces))[0]["pending"]
        return count

    def payload(self, chosen: Sequence[Found]) -> dict[str, Memory]:
        """The memories of the chosen rows, fetched where a row came without."""
        memories = {
            found.key: memory_from_node(found.row["memory"], found.row["entities"])
            for found in chosen
            if found.row["memory"] is not None
        }
        missing = [found.key for found in chosen if found.key not in memories]
        if missing:
            memories |= self._connection.read(lambda transaction: memories_by_key(transaction, missing))
        return memories

    def _found(self, query: str, parameters: Mapping[str, Any]) -> list[Found]:
        return [_found(row) for row in self._connection.fetch(query, **parameters)]


def edges_of(chosen: Sequence[Found]) -> tuple[Edge, ...]:
    """The edges that touch the chosen memories, each once, in a total order."""
    edges = {
        values[0]: Edge(
            uid=values[0],
            from_uid=values[1],
            to_uid=values[2],
            type=EdgeType(values[3]),
            weight=values[4],
            created_at=values[5].to_native().astimezone(UTC),
            reason=values[6],
            link_type=values[7],
        )
        for found in chosen
        for values in found.row["edges"] or ()
    }
    return tuple(edges[uid] for uid in sorted(edges))


def _found(row: neo4j.Record) -> Found:
    return Found(
        key=row["key"],
        importance=row["importance"],
        confidence=row["confidence"],
        updated_at=datetime.fromtimestamp(row["updated_ms"] / 1000, UTC),
        contested=row["contested"],
        vector_rank=row["vector_rank"],
        vector_score=row["vector_score"],
        text_rank=row["text_rank"],
        text_score=row["text_score"],
        chunks=row["chunks"] or 0,
        pending=row["pending"],
        row=row,
    )


def _two(values: Sequence[str]) -> list[str]:
    """At least two entries: a list of one would be a plan of its own (neo4j-recall, Pitfalls)."""
    distinct = list(dict.fromkeys(values))
    return distinct * 2 if len(distinct) == 1 else distinct
