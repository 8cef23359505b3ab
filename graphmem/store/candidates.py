"""Candidates from the graph: both arms with their payload in one round trip."""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.edge import Edge
from graphmem.model.memory import Memory
from graphmem.ports import Vector
from graphmem.store.connection import Connection
from graphmem.store.mapping import edge_from_row, memory_from_node
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
    """One candidate as the graph gives it, without its payload."""

    key: str
    importance: int
    confidence: float
    updated_at: datetime
    contested: bool
    vector_rank: int | None
    vector_score: float | None
    chunks: int
    text_rank: int | None
    text_score: float | None

    @property
    def uid(self) -> str:
        """The uid of the memory."""
        return self.key.partition("|")[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Harvest:
    """What one round trip gave: the candidates, and of the first of them the nodes, mentions and edges.

    The payload of a candidate further down is fetched only when a ranker lifts it.
    """

    found: tuple[Found, ...]
    pending: int
    nodes: Mapping[str, Mapping[str, Any]]
    mentions: Mapping[str, Sequence[tuple[str, str]]]
    edges: tuple[Edge, ...]


class Candidates:
    """Runs the candidate queries."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_index(self, search: Search) -> Harvest:
        """Candidates by the indexes alone."""
        return self._harvest("recall.candidates", search.parameters())

    def by_index_filtered(self, search: Search) -> Harvest:
        """Candidates by the indexes, with the filters that they know."""
        return self._harvest("recall.candidates_filtered", search.parameters() | search.filters())

    def exact(self, search: Search) -> Harvest:
        """Candidates with every filter, each matching memory compared."""
        more = {"tags": _two(search.tags), "entities": _two(search.entities)}
        return self._harvest("recall.candidates_exact", search.parameters() | search.filters() | more)

    def payload(self, harvest: Harvest, keys: Sequence[str]) -> dict[str, Memory]:
        """The memories of chosen candidates, fetched where the harvest has none."""
        memories = {
            key: memory_from_node(harvest.nodes[key], sorted(harvest.mentions.get(key, ())))
            for key in keys
            if key in harvest.nodes
        }
        if missing := [key for key in keys if key not in memories]:
            memories |= self._connection.read(lambda transaction: memories_by_key(transaction, missing))
        return memories

    def _harvest(self, query: str, parameters: Mapping[str, Any]) -> Harvest:
        row = self._connection.fetch(query, **parameters)[0]
        contested = set(row["contested"])
        mentions: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key, entity, label in row["mentions"]:
            mentions[key].append((entity, label))
        return Harvest(
            found=tuple(_found(values, contested) for values in row["rows"]),
            pending=row["pending"],
            nodes={node["key"]: node for node in row["memories"]},
            mentions=mentions,
            edges=_edges(row["edges"]),
        )


def _found(values: Sequence[Any], contested: Container[str]) -> Found:
    key, importance, confidence, updated_ms, vector_rank, vector_score, chunks, text_rank, text_score = values
    return Found(
        key=key,
        importance=importance,
        confidence=confidence,
        updated_at=datetime.fromtimestamp(updated_ms / 1000, UTC),
        contested=key in contested,
        vector_rank=vector_rank,
        vector_score=vector_score,
        chunks=chunks or 0,
        text_rank=text_rank,
        text_score=text_score,
    )


def _edges(rows: Sequence[Sequence[Any]]) -> tuple[Edge, ...]:
    """Each edge once, in a total order; both of its ends may have brought it."""
    edges = {row[1]: edge_from_row(row[1:]) for row in rows}
    return tuple(edges[uid] for uid in sorted(edges))


def _two(values: Sequence[str]) -> list[str]:
    """At least two entries: a list of one would be a plan of its own (neo4j-recall, Pitfalls)."""
    distinct = list(dict.fromkeys(values))
    return distinct * 2 if len(distinct) == 1 else distinct
