"""Embedding what waits: memories that were stored while the model did not answer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from graphmem.errors import ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.indexing import texts_to_embed
from graphmem.gateway.job_step import JobStep
from graphmem.gateway.tracing import effect
from graphmem.model.event import Effect, Reason
from graphmem.model.job import Run
from graphmem.model.policy import IndexPolicy
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.ports import Embedder, Vector
from graphmem.store.connection import Connection

BATCH = 100
_FAILURES_MAX = 3  # refused texts in one batch, before the model counts as silent

Row = Mapping[str, object]


def decide_embedding(state: GraphState, *, versions: Mapping[str, int]) -> Decision:
    """Give the memories of the selection their vectors, unless they changed since these were made.

    ``versions`` holds the version that each memory's vectors were made from, in the order of the
    vectors.
    """
    positions = {key: position for position, key in enumerate(versions)}
    embedded = tuple(
        replace(memory, embedded=True)
        for key, memory in sorted(state.memories.items())
        if versions.get(key) == memory.version and not memory.embedded
    )
    return Decision(
        changed=embedded,
        vectors_of={memory.key: positions[memory.key] for memory in embedded},
        events=tuple(effect(memory, Effect.EMBEDDED, Reason.EMBED_PENDING) for memory in embedded),
    )


class PendingEmbedding:
    """Embeds memories that wait for their vectors."""

    def __init__(
        self, connection: Connection, *, gateway: Gateway, embedder: Embedder, policy: IndexPolicy
    ) -> None:
        self._connection = connection
        self._gateway = gateway
        self._embedder = embedder
        self._policy = policy

    def run(self, run: Run) -> None:
        """One pass over all that waits; counts how many got vectors and how many still wait."""
        run.counts["embedded"] = 0
        self.run_in(run.space, run)
        run.counts["pending"] = self._connection.fetch("memories.pending_count", space=run.space)[
            0
        ]["pending"]
        if run.dry_run:
            run.counts["embedded"], run.counts["pending"] = run.counts["pending"], 0

    def run_in(self, space_key: str, run: Run) -> None:
        """Embed what waits in a space, or in all where none is named."""
        while not run.dry_run and (rows := self._waiting(space_key)) and not run.must_stop():
            before = run.counts["embedded"]
            self._store(self._with_vectors(rows), run)
            if run.counts["embedded"] == before:
                break

    def _waiting(self, space_key: str) -> list[Row]:
        return [
            dict(row)
            for row in self._connection.fetch("memories.pending", space=space_key, limit=BATCH)
        ]

    def _texts(self, row: Row) -> Sequence[str]:
        actor = row["actor"]
        return texts_to_embed(str(row["content"]), str(actor) if actor else None, self._policy)

    def _with_vectors(self, rows: Sequence[Row]) -> list[tuple[Row, Sequence[Vector]]]:
        """The rows that the model takes.

        One text that it refuses holds up no other; a silent model ends the pass.
        """
        made: list[tuple[Row, Sequence[Vector]]] = []
        failures = 0
        for row in rows:
            try:
                made.append((row, self._embedder.embed(self._texts(row))))
            except ModelUnavailable:
                failures += 1
                if failures > _FAILURES_MAX:
                    break
        return made

    def _store(self, made: Sequence[tuple[Row, Sequence[Vector]]], run: Run) -> None:
        by_space: dict[str, dict[str, tuple[int, Sequence[Vector]]]] = defaultdict(dict)
        for row, vectors in made:
            key = str(row["key"])
            by_space[key.partition("|")[0]][key] = (int(str(row["version"])), vectors)
        for members in by_space.values():
            versions = {key: version for key, (version, _) in members.items()}
            self._gateway.execute(
                JobStep(
                    selected=Selection(memories=frozenset(members), with_turns=False),
                    decider=partial(decide_embedding, versions=versions),
                    vectors=dict(enumerate(vectors for _, vectors in members.values())),
                ),
                run,
            )
