"""Embedding what waits: memories that were stored while the model did not answer get their vectors."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphmem.errors import ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.indexing import texts_to_embed
from graphmem.model.policy import IndexPolicy
from graphmem.model.space import space_from_key
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.ports import Embedder, Vector
from graphmem.store.connection import Connection

BATCH = 100


def decide_embedding(state: GraphState, *, versions: Mapping[str, int]) -> Decision:
    """Give the memories of the selection their vectors, unless they changed since these were made.

    ``versions`` holds the version that each memory's vectors were made from, in the order of the vectors.
    """
    places = {key: place for place, key in enumerate(versions)}
    embedded = tuple(
        replace(memory, embedded=True)
        for key, memory in sorted(state.memories.items())
        if versions.get(key) == memory.version and not memory.embedded
    )
    return Decision(
        changed=embedded,
        vectors_of={memory.key: places[memory.key] for memory in embedded},
        events=tuple({"uid": memory.uid, "outcome": "embedded"} for memory in embedded),
    )


class PendingEmbedding:
    """Embeds memories that wait for their vectors."""

    def __init__(self, connection: Connection, *, gateway: Gateway, embedder: Embedder, policy: IndexPolicy) -> None:
        self._connection = connection
        self._gateway = gateway
        self._embedder = embedder
        self._policy = policy

    def run(self, *, dry_run: bool = False, space_key: str = "") -> Mapping[str, int]:
        """One pass over all that waits; says how many got vectors and how many still wait."""
        embedded = 0
        while not dry_run and (rows := self._waiting(space_key)):
            try:
                vectors = [self._embedder.embed(self._texts(row)) for row in rows]
            except ModelUnavailable:
                break
            done = self._store(rows, vectors)
            embedded += done
            if not done:
                break
        pending = self._connection.fetch("memories.pending_count", space=space_key)[0]["pending"]
        return {"embedded": pending if dry_run else embedded, "pending": pending}

    def _waiting(self, space_key: str) -> list[Mapping[str, object]]:
        return [dict(row) for row in self._connection.fetch("memories.pending", space=space_key, limit=BATCH)]

    def _texts(self, row: Mapping[str, object]) -> Sequence[str]:
        actor = row["actor"]
        return texts_to_embed(str(row["content"]), str(actor) if actor else None, self._policy)

    def _store(self, rows: Sequence[Mapping[str, object]], vectors: Sequence[Sequence[Vector]]) -> int:
        by_space: dict[str, dict[str, tuple[int, Sequence[Vector]]]] = defaultdict(dict)
        for row, made in zip(rows, vectors, strict=True):
            key = str(row["key"])
            by_space[key.partition("|")[0]][key] = (int(str(row["version"])), made)
        done = 0
        for space, members in by_space.items():
            versions = {key: version for key, (version, _) in members.items()}
            decision = self._gateway.run(
                Selection(memories=frozenset(members)),
                lambda state, versions=versions: decide_embedding(state, versions=versions),  # type: ignore[misc]
                kind="embed_pending",
                space=space_from_key(space),
                vectors=dict(enumerate(made for _, made in members.values())),
            )
            done += len(decision.changed)
        return done
