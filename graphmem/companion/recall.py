"""Recall of the companion (001, Retrieval): the nearest memories, blended, chosen, with cards.

Two round trips: the candidates with the foundation, and the facts of cards.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.companion.projection import FACT_TYPES, fact_of, least_core_importance
from graphmem.companion.selection import FactCard, cards, chosen, ref_keys
from graphmem.errors import ModelUnavailable
from graphmem.model.caller import Caller
from graphmem.model.companion import ROOM, Fact
from graphmem.model.memory import Memory
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.ports import Clock, Embedder, IdSource
from graphmem.recall.candidates import Arm, Candidate, Scored
from graphmem.recall.lucene_query import Facets, Moments, lucene_query
from graphmem.recall.rankers.blend import blend
from graphmem.recall.rankers.similarity import similarity
from graphmem.store.kept import KeptFilter, KeptMemories, Nearest
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Journal
from graphmem.text.secrets import redacted

log = logging.getLogger(__name__)

_WORDS_ALONE = "embedder_unavailable"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundFact:
    """A memory with its score, and what made it."""

    fact: Fact
    score: float
    factors: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What is known for a query: results, those chosen of them, pinned memories, and cards."""

    results: tuple[FoundFact, ...]
    chosen: tuple[Fact, ...]
    foundation: tuple[Fact, ...]
    cards: tuple[FactCard, ...]
    degraded: tuple[str, ...]
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class CompanionRecall:
    """Finds what a persona may know for a query."""

    kept: KeptMemories
    embedder: Embedder
    policy: Policy
    policies: SpacePolicies
    journal: Journal
    clock: Clock
    ids: IdSource

    def find(
        self, spaces: Sequence[Space], query: str, *, limit: int | None, caller: Caller
    ) -> Found:
        """What is known in the spaces of a user with a persona; the first one is the persona's.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        policy = self.policies.of(spaces[0])
        now = self.clock.now()
        wanted = KeptFilter(kept_by=ROOM, spaces=spaces, types=FACT_TYPES)
        nearest, degraded = self._nearest(wanted, query, policy, now)
        scored = _scored(nearest, policy, now, with_words=bool(degraded))
        facts = {memory.key: fact_of(memory) for memory, _ in nearest.found}
        numbers = policy.companion.recall
        results = [
            FoundFact(
                fact=facts[each.candidate.key], score=round(each.score, 6), factors=each.factors
            )
            for each in scored[: limit or numbers.results]
        ]
        foundation = tuple(map(fact_of, nearest.foundation))
        best = [each.fact for each in results]
        taken = chosen(best[: numbers.results], foundation, numbers)
        found = Found(
            results=tuple(results),
            chosen=taken,
            foundation=foundation,
            cards=self._cards(wanted, best, taken, policy, now),
            degraded=degraded,
            trace_id=self.ids.new("trace"),
        )
        self._note(found, query, spaces, caller, now)
        return found

    def foundation(self, spaces: Sequence[Space]) -> tuple[Fact, ...]:
        """The pinned memories alone, where nothing is asked."""
        numbers = self.policies.of(spaces[0]).companion.recall
        wanted = KeptFilter(kept_by=ROOM, spaces=spaces, types=FACT_TYPES)
        found = self.kept.pinned(wanted, limit=numbers.foundation, now=self.clock.now())
        return tuple(map(fact_of, found))

    def _nearest(
        self, wanted: KeptFilter, query: str, policy: Policy, now: datetime
    ) -> tuple[Nearest, tuple[str, ...]]:
        """The candidates: by vector, or while the embedder is silent by words."""
        numbers = policy.companion.recall
        most = {"limit": numbers.candidates, "pinned": numbers.foundation}
        try:
            vector = self.embedder.embed_query(query)
        except ModelUnavailable as error:
            log.warning("recall without vectors: %s", error.message)
            text = self._text_of(wanted, query, now)
            return self.kept.with_words(wanted, text, now=now, **most), (_WORDS_ALONE,)
        return self.kept.nearest(wanted, vector, now=now, **most), ()

    def _text_of(self, wanted: KeptFilter, query: str, now: datetime) -> str:
        return lucene_query(
            query,
            spaces=[space.key for space in wanted.spaces],
            statuses=wanted.statuses,
            facets=Facets(),
            moments=Moments(now=epoch_ms(now)),
            terms_max=self.policy.index.terms_max,
        )

    def _cards(
        self,
        wanted: KeptFilter,
        results: Sequence[Fact],
        taken: Sequence[Fact],
        policy: Policy,
        now: datetime,
    ) -> tuple[FactCard, ...]:
        """What else is known of all that results are about, beside those chosen of them."""
        if not policy.companion.entity_pipeline:
            return ()
        numbers, keys = policy.companion.recall, ref_keys(results)
        owner = wanted.spaces[0].without_persona.key
        found = self.kept.of_entities(
            wanted,
            [f"{owner}|{key}" for key in keys],
            shown=[fact.uid for fact in taken],
            importance=least_core_importance(numbers.card_importance),
            limit=numbers.card_rows,
            now=now,
        )
        return cards(keys, map(fact_of, found), numbers)

    def _note(
        self, found: Found, query: str, spaces: Sequence[Space], caller: Caller, now: datetime
    ) -> None:
        """Leave a trace, and count what came back."""
        numbers = {space.persona: number for number, space in enumerate(spaces)}
        events = [(numbers[each.fact.persona], each.fact.uid, each.score) for each in found.results]
        trace = TraceRecord(
            uid=found.trace_id,
            kind=TraceKind.COMPANION,
            tenant=caller.tenant,
            spaces=tuple(space.key for space in spaces),
            key_id=caller.key_id,
            created_at=now,
            events=events,
            query=redacted(query),
            request={
                "returned": len(events),
                "candidates": len(events),
                "chosen": [fact.uid for fact in found.chosen],
            },
        )
        keys = [f"{spaces[number].key}|{uid}" for number, uid, _ in events]
        self.journal.remember(trace, keys)


def _scored(nearest: Nearest, policy: Policy, now: datetime, *, with_words: bool) -> list[Scored]:
    """The candidates in their order: blended, or by similarity alone where no entities count."""
    best = max((score for _, score in nearest.found), default=0.0) or 1.0
    candidates = [
        _candidate(memory, rank, (1 + score / best) / 2 if with_words else score)
        for rank, (memory, score) in enumerate(nearest.found, start=1)
    ]
    if not policy.companion.entity_pipeline:
        return similarity(candidates)
    return blend(candidates, policy.recall.blend, now=now)


def _candidate(memory: Memory, rank: int, score: float) -> Candidate:
    native = memory.native or {}
    refs = native.get("entity_refs")
    return Candidate(
        key=memory.key,
        uid=memory.uid,
        importance=memory.importance,
        confidence=memory.confidence,
        updated_at=memory.updated_at,
        created_at=memory.created_at,
        content=memory.content,
        entities=tuple(refs) if isinstance(refs, list) else (),
        vector=Arm(rank=rank, score=score),
    )
