"""Re-embedding: another embedder's vectors are made beside the present ones.

The process that runs it has the new embedder. A service that is on goes on with the old one; when
it starts again with the new one, a second run gives vectors to what was written meanwhile, and
removes the old ones.
"""

import time
from collections.abc import Sequence

from graphmem.errors import ModelUnavailable, StoreUnavailable
from graphmem.gateway.indexing import texts_to_embed
from graphmem.model.job import Run
from graphmem.model.memory import Memory
from graphmem.model.policy import IndexPolicy
from graphmem.ports import Embedder, Vector
from graphmem.store.connection import Connection
from graphmem.store.vectors import Vectors, VectorSlot, vector_state

REEMBED = "reembed"
BATCH = 100
_FAILURES_MAX = 3  # refused texts in one batch, before the model counts as silent


class Reembedding:
    """Makes the vectors of this process's embedder, where memories have none of it."""

    def __init__(
        self, connection: Connection, *, embedder: Embedder, slot: VectorSlot, policy: IndexPolicy
    ) -> None:
        self._connection = connection
        self._vectors = Vectors(connection)
        self._embedder = embedder
        self._slot = slot
        self._policy = policy

    def run(self, run: Run) -> None:
        """Go on until every memory has its vectors, then switch to them.

        Or, if that was done, remove the others.
        """
        name = self._embedder.name
        run.counts["remaining"] = self._vectors.lacking_count(name)
        run.counts["embedded"] = 0
        if run.dry_run:
            run.counts["embedded"], run.counts["remaining"] = run.counts["remaining"], 0
            return
        is_switched = vector_state(self._connection).embedder == name
        if not is_switched:
            self._vectors.begin(name, dimensions=self._embedder.dimensions)
        refused = self._embed(run)
        if run.was_cut:
            return
        self._wait_online(run)
        if run.must_stop():
            return
        if not is_switched:
            self._vectors.switch(name)
            run.counts["switched"] = 1
        elif other := vector_state(self._connection).next_embedder:
            run.note_degraded(f"the vectors of {other} are being built: nothing was removed")
        else:
            run.counts["vectors_removed"] = self._vectors.finish(name)
        if refused:
            run.counts["waiting"] = self._vectors.mark_waiting(name)
            run.note_degraded(
                f"{refused} texts were refused by the model; these memories wait for their vectors"
            )

    def _embed(self, run: Run) -> int:
        """Give vectors to all that lack them; says of how many the model refused the text."""
        refused: set[str] = set()
        done = 1
        while done and not run.was_cut:  # again, for what was written behind the pass
            done, after = 0, ""
            while not run.must_stop():
                page = self._vectors.lacking(self._embedder.name, after=after, limit=BATCH)
                if not page:
                    break
                after = page[-1].key
                made = self._made([memory for memory in page if memory.key not in refused], refused)
                done += (
                    self._vectors.add(made, embedder=self._embedder.name, slot=self._slot.suffix)
                    if made
                    else 0
                )
                run.counts["embedded"] += len(made)
                run.counts["remaining"] = max(0, run.counts["remaining"] - len(made))
        return len(refused)

    def _made(
        self, memories: Sequence[Memory], refused: set[str]
    ) -> list[tuple[Memory, Sequence[Vector]]]:
        """Memories with their vectors: in one request, or, where that fails, one by one.

        Raises:
            ModelUnavailable: the model is silent.
        """
        texts = [texts_to_embed(memory.content, memory.actor, self._policy) for memory in memories]
        try:
            vectors = iter(
                self._embedder.embed([text for part in texts for text in part]) if texts else ()
            )
            return [
                (memory, [next(vectors) for _ in part])
                for memory, part in zip(memories, texts, strict=True)
            ]
        except ModelUnavailable as silent:
            made: list[tuple[Memory, Sequence[Vector]]] = []
            failures = 0
            for memory, part in zip(memories, texts, strict=True):
                try:
                    made.append((memory, self._embedder.embed(part)))
                except ModelUnavailable:
                    failures += 1
                    refused.add(memory.key)
                    if failures > _FAILURES_MAX:
                        raise silent from None
            return made

    def _wait_online(self, run: Run) -> None:
        """Wait until the new index can be searched, or the run must stop.

        Raises:
            StoreUnavailable: it cannot be filled.
        """
        while (states := self._vectors.not_online()) and not run.must_stop():
            if "FAILED" in states.values():
                names = ", ".join(sorted(states))
                message = f"The index {names} cannot be filled; the log of Neo4j says why."
                raise StoreUnavailable(message)
            time.sleep(0.2)
