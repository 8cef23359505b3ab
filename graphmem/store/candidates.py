"""Candidates from the graph: both arms with their payload in one round trip."""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from graphmem.model.edge import Edge
from graphmem.model.memory import Memory
from graphmem.model.relation import Relation
from graphmem.model.tokens import ends_after_ms, epoch_ms
from graphmem.ports import Vector
from graphmem.store.connection import Connection
from graphmem.store.mapping import edge_from_row, memory_from_node, memory_from_revision
from graphmem.store.relations import relation_from_node
from graphmem.store.vectors import VectorSlot

_LATEST = datetime(9999, 12, 30, tzinfo=UTC)
_LAST_CHARACTER = "\U0010ffff"
_WORDS_MAX, _IN_NO_TEXT = 10, "\0"
_TEXT_FETCH = 1_000  # how deep words are searched before the versions of a past time are compared

_EDGES_MAX = 100  # of one memory in a recall


@dataclass(frozen=True, kw_only=True, slots=True)
class CardNumbers:
    """How much is fetched for entity cards, facts from which importance on (0 to 100)."""

    rows: int
    importance: int
    relations: int  # of one entity


@dataclass(frozen=True, kw_only=True, slots=True)
class CardFact:
    """A memory that says something of entities, by their keys."""

    key: str
    uid: str
    content: str
    entities: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """What both arms are asked. Lists have at least two entries, so that one plan serves all."""

    vector: Vector | None
    text: str
    spaces: Sequence[str]
    statuses: Sequence[str]
    now_ms: int
    vector_limit: int  # chunks
    vector_memories: int | None  # that these are to give; None where chunks are counted
    text_limit: int
    k: int
    vector_weight: float
    text_weight: float
    payload: int  # candidates that come whole
    looked: int  # or, where that is 0, those that come as far as rankers look at them
    with_edges: bool  # whether the payload brings its edges
    begins_by: datetime  # what is recalled had begun to be true by then
    ends_after: datetime  # and was still true then
    card_statuses: Sequence[str] = ("active",)
    known_at: datetime | None = None
    words: Sequence[str] = ()  # of the cue, for versions whose vectors were forgotten
    seeds: int = 0  # how many of the best candidates the graph arm goes on from
    hub: int = 0  # what has more edges or mentions leads nowhere
    graph_limit: int = 1
    types: Sequence[str] = ()
    captured_by: Sequence[str] = ()
    conversation_id: str | None = None
    tags: Sequence[str] = ()
    entities: Sequence[Sequence[str]] = ()  # each as the keys of those of every owner

    @property
    def edges_by(self) -> datetime:
        """When edges were there at the latest."""
        return self.known_at or _LATEST

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
            "looked": self.looked,
            "with_edges": self.with_edges,
            "edges_by": self.edges_by,
            "begins_by": self.begins_by,
            "ends_after": self.ends_after,
        }

    def within_index(self) -> dict[str, Any]:
        """The interval as the vector index knows it."""
        return {
            "begins_by_ms": epoch_ms(self.begins_by),
            "ends_after_ms": ends_after_ms(self.ends_after),
        }

    def graph(self) -> dict[str, Any]:
        """The parameters of the graph arm."""
        return {"seeds": self.seeds, "hub": self.hub, "graph_limit": self.graph_limit}

    def narrow(self) -> dict[str, Any]:
        """The parameters of the filters that no index knows; what is empty filters nothing."""
        return {"tags": [*self.tags, "", ""], "entities": [*self.entities, [], []]}

    def filters(self) -> dict[str, Any]:
        """The parameters of the filters that the vector index knows."""
        return {
            "types": _two(self.types),
            "captured_by": _two(self.captured_by),
            "conversation_from": self.conversation_id or "",
            "conversation_to": self.conversation_id or _LAST_CHARACTER,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateRow:
    """One candidate as the graph gives it, without its payload."""

    key: str
    importance: int
    confidence: float
    updated_at: datetime
    created_at: datetime
    recall_count: int
    contested: bool
    feedback_up: int = 0
    feedback_down: int = 0
    negative_hits: int = 0
    vector_rank: int | None = None
    vector_score: float | None = None
    chunks: int = 0
    text_rank: int | None = None
    text_score: float | None = None
    graph_rank: int | None = None
    graph_score: float | None = None

    @property
    def uid(self) -> str:
        """The uid of the memory."""
        return self.key.partition("|")[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgesOf:
    """The edges of some memories, of each the newest hundred, by their space and uid."""

    found: Mapping[tuple[str, str], Edge]
    cut: frozenset[str]  # keys of the memories that have more

    def in_order(self) -> tuple[Edge, ...]:
        """Each edge once, in a total order."""
        return tuple(self.found[position] for position in sorted(self.found))

    def __or__(self, other: "EdgesOf") -> "EdgesOf":
        """The edges of both."""
        return EdgesOf(found={**self.found, **other.found}, cut=self.cut | other.cut)


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateSet:
    """What one round trip gave: candidates, and the nodes, mentions, edges of the first.

    Where no nodes come, ``glances`` are what rankers look at, and the results are fetched later.
    """

    rows: tuple[CandidateRow, ...]
    pending: int
    nodes: Mapping[str, Mapping[str, Any]]
    glances: Mapping[str, Mapping[str, Any]]
    mentions: Mapping[str, Sequence[tuple[str, str]]]
    edges: EdgesOf  # of the first, where they were asked for
    versions: Mapping[str, str] = field(
        default_factory=dict
    )  # as known at a past time: the revision of a memory

    def seen(self, key: str) -> Mapping[str, Any]:
        """What is known of a memory; empty of one that came without anything."""
        return self.nodes.get(key) or self.glances.get(key, {})


@dataclass(frozen=True, kw_only=True, slots=True)
class CardRows:
    """What a second round trip gave: missing payload and edges, and the entities of results."""

    memories: Mapping[str, Memory]
    edges: EdgesOf
    entities: Sequence[tuple[str, str]]  # key and label, in the order of the results
    facts: Sequence[CardFact]  # most important first
    relations: Sequence[Relation] = ()  # of these entities, oldest first


class Candidates:
    """Runs the candidate queries."""

    def __init__(self, connection: Connection, slot: VectorSlot) -> None:
        self._connection = connection
        self._slot = slot

    def by_index(self, search: Search) -> CandidateSet:
        """Candidates by the indexes alone."""
        return self._candidate_set(
            "candidates", search.parameters() | search.within_index() | search.graph()
        )

    def counts(self, searches: Sequence[Search]) -> list[int]:
        """How many memories the words of each search find in its spaces, up to a thousand."""
        rows = self._connection.fetch(
            "recall.text_counts",
            texts=[search.text for search in searches],
            spaces=_two(searches[0].spaces),
            most=_TEXT_FETCH,
        )
        return [row["found"] for row in rows]

    def by_index_filtered(self, search: Search) -> CandidateSet:
        """Candidates by the indexes, with the filters that they know."""
        more = search.within_index() | search.graph() | search.filters()
        return self._candidate_set("candidates_filtered", search.parameters() | more)

    def exact(self, search: Search) -> CandidateSet:
        """Candidates with every filter, each matching memory compared."""
        more = search.graph() | search.filters() | search.narrow()
        return self._candidate_set("candidates_exact", search.parameters() | more)

    def known_at(self, search: Search) -> CandidateSet:
        """Candidates as far as they were known at a past time, each in its version of then."""
        more = (
            search.filters()
            | search.narrow()
            | {"known_at": search.known_at, "text_fetch": _TEXT_FETCH, "words": _few(search.words)}
            | {"embedder": self._slot.embedder}
        )
        return self._candidate_set("candidates_known_at", search.parameters() | more)

    def card_rows(
        self,
        search: Search,
        *,
        keys: Sequence[str],
        missing: Sequence[str],
        without_edges: Sequence[str],
        numbers: CardNumbers,
    ) -> CardRows:
        """The missing payload and edges, and the facts of entity cards, in one round trip."""
        parameters = {
            "keys": _eleven(keys),
            "space_keys": _eleven(missing),
            "edge_keys": _eleven(without_edges),
            "edges_by": search.edges_by,
            "spaces": _two(search.spaces),
            "statuses": _two(search.card_statuses),
            "now": search.now_ms,
            "importance": numbers.importance,
            "card_rows": numbers.rows,
            "card_relations": numbers.relations,
            "begins_by": search.begins_by,
            "ends_after": search.ends_after,
        }
        if search.known_at:
            parameters |= {"known_at": search.known_at}
        else:
            parameters |= search.within_index()
        query = "recall.cards_known_at" if search.known_at else "recall.cards"
        row = self._connection.fetch(query, **parameters)[0]
        return CardRows(
            memories={
                node["key"]: memory_from_node(node, entities) for node, entities in row["missing"]
            },
            edges=_newest(row["edges"]),
            entities=[(key, label) for key, label in row["entities"]],
            facts=[
                CardFact(key=key, uid=uid, content=content, entities=tuple(about))
                for key, uid, content, about in row["facts"]
            ],
            relations=[relation_from_node(node) for node in row["relations"]],
        )

    def payload(self, fetched: CandidateSet, keys: Sequence[str]) -> dict[str, Memory]:
        """The memories of chosen candidates, as far as they were fetched."""
        memories = {}
        for key in keys:
            if key in fetched.versions:
                memories[key] = memory_from_revision(fetched.versions[key])
            elif key in fetched.nodes:
                memories[key] = memory_from_node(
                    fetched.nodes[key], sorted(fetched.mentions.get(key, ()))
                )
        return memories

    def _candidate_set(self, query: str, parameters: Mapping[str, Any]) -> CandidateSet:
        row = self._connection.fetch(f"recall.{query}{self._slot.suffix}", **parameters)[0]
        contested = set(row["contested"])
        mentions: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key, entity, label in row["mentions"]:
            mentions[key].append((entity, label))
        return CandidateSet(
            rows=_united(row["rows"], row["links"], contested),
            pending=row["pending"],
            nodes={node["key"]: node for node in row["memories"]},
            glances={node["key"]: node for node in row["glances"]},
            mentions=mentions,
            edges=_newest(row["edges"]),
            versions={key: text for key, text in row["versions"] if text},
        )


def _united(
    rows: Sequence[Sequence[Any]], links: Sequence[Sequence[Any]], contested: Container[str]
) -> tuple[CandidateRow, ...]:
    """The candidates of all arms; those of the graph arm alone come behind the others."""
    found = {row[0]: _row(row, contested) for row in rows}
    for rank, (*values, near) in enumerate(links, start=1):
        known = found.get(values[0]) or _row([*values, *[None] * 5], contested)
        found[known.key] = replace(known, graph_rank=rank, graph_score=near)
    return tuple(found.values())


def _row(values: Sequence[Any], contested: Container[str]) -> CandidateRow:
    key, importance, confidence, updated_ms, created_ms, recalls, *rest = values
    ups, downs, hits, *arms = rest
    vector_rank, vector_score, chunks, text_rank, text_score = arms
    return CandidateRow(
        key=key,
        importance=importance,
        confidence=confidence,
        updated_at=datetime.fromtimestamp(updated_ms / 1000, UTC),
        created_at=datetime.fromtimestamp(created_ms / 1000, UTC),
        recall_count=recalls or 0,
        contested=key in contested,
        feedback_up=ups or 0,
        feedback_down=downs or 0,
        negative_hits=hits or 0,
        vector_rank=vector_rank,
        vector_score=vector_score,
        chunks=chunks or 0,
        text_rank=text_rank,
        text_score=text_score,
    )


def _newest(rows: Sequence[Sequence[Any]]) -> EdgesOf:
    """The newest hundred edges of each memory, and which memories have more."""
    of_memory: dict[str, list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        of_memory[row[0]].append(row)
    shown = [row for found in of_memory.values() for row in found[:_EDGES_MAX]]
    cut = frozenset(key for key, found in of_memory.items() if len(found) > _EDGES_MAX)
    # both ends may bring an edge; one drawn by hand may have no uid: then ends and type name it
    found = {
        (row[0].partition("|")[0], row[1] or f"{row[2]} {row[4]} {row[3]}"): edge_from_row(row[1:])
        for row in shown
    }
    return EdgesOf(found=found, cut=cut)


def _eleven(values: Sequence[str]) -> list[str]:
    """At least eleven entries, the first ones as given: up to a hundred of them are one plan."""
    return [*values, *[""] * (11 - len(values))]


def _few(words: Sequence[str]) -> list[str]:
    """Two to ten of some words: more or fewer would be a plan of its own; no text has the last."""
    return _two(words[:_WORDS_MAX] or (_IN_NO_TEXT,))


def _two(values: Sequence[str]) -> list[str]:
    """At least two entries: a list of one would be a plan of its own (neo4j-recall, Pitfalls)."""
    distinct = list(dict.fromkeys(values))
    return distinct * 2 if len(distinct) == 1 else distinct
