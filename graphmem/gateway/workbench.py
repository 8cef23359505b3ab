"""Workbench: the open transaction of an operation, with what it needs beside the graph."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from graphmem.gateway.indexing import index_entry
from graphmem.gateway.reactions import Reaction
from graphmem.model.memory import Memory
from graphmem.model.policy import IndexPolicy
from graphmem.ports import Embedder, Vector
from graphmem.store.connection import Transaction
from graphmem.store.vectors import VectorSlot
from graphmem.store.writes import Enrichment


@dataclass(frozen=True, kw_only=True)
class MemoryIndex:
    """How memories are indexed: their analysed words, and whose vectors lie in which slot."""

    embedder: Embedder
    slot: VectorSlot
    policy: IndexPolicy

    def enrichment(self, vectors: Mapping[int, Sequence[Vector]]) -> Enrichment:
        """What a decision does not decide of its memories."""
        return Enrichment(
            index_fields=self._fields,
            vectors=vectors,
            embedder=self.embedder.name,
            slot=self.slot.suffix,
        )

    def _fields(self, memory: Memory) -> Mapping[str, str | None]:
        return asdict(index_entry(memory, self.policy))


class Workbench(Transaction):
    """The open transaction of an operation, with what it needs beside the graph."""

    def __init__(
        self,
        opened: Transaction,
        *,
        index: MemoryIndex,
        reactions: Sequence[Reaction],
        now: datetime,
    ) -> None:
        self._opened = opened
        self.now = now
        self.index = index
        self.reactions = reactions

    def run(self, query: str, /, **parameters: Any) -> list[Any]:  # noqa: ANN401 - driver values
        """Run a named query and return all its rows."""
        return self._opened.run(query, **parameters)
