"""Ranking: candidates as the rankers see them, and the ranker that orders them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from graphmem.model.policy import RecallPolicy
from graphmem.recall.candidates import Arm, Candidate, Scored
from graphmem.recall.rankers.blend import blend
from graphmem.recall.rankers.fused import fused
from graphmem.recall.rankers.lifecycle import lifecycle
from graphmem.recall.rankers.rrf import rrf
from graphmem.recall.request import RankerName, RecallRequest
from graphmem.store.candidates import Found, Harvest, Search


def ranked(
    harvest: Harvest,
    ranker: RankerName,
    policy: RecallPolicy,
    *,
    now: datetime,
    search: Search,
    request: RecallRequest,
) -> list[Scored]:
    """The candidates in the order of a ranker, best first."""
    candidates = [_candidate(row, harvest) for row in harvest.found]
    if ranker is RankerName.FUSED:
        return fused(candidates, policy.fused, with_graph=request.graph)
    numbers = policy.blend if ranker is RankerName.BLEND else policy.rrf
    places = request.candidates_vector or max(numbers.vector_candidates, request.limit)
    candidates = list(_within(candidates, places, search.text_limit))
    match ranker:
        case RankerName.BLEND:
            return blend(candidates, policy.blend, now=now)
        case RankerName.LIFECYCLE:
            return lifecycle(candidates, policy.lifecycle, now=now, query=request.query)
        case _:
            return rrf(candidates, policy.rrf, now=now)


def _candidate(row: Found, harvest: Harvest) -> Candidate:
    return Candidate(
        key=row.key,
        uid=row.uid,
        importance=row.importance,
        confidence=row.confidence,
        updated_at=row.updated_at,
        created_at=row.created_at,
        content=harvest.nodes.get(row.key, {}).get("content", ""),
        entities=tuple(sorted(key for key, _ in harvest.mentions.get(row.key, ()))),
        recall_count=row.recall_count,
        contested=row.contested,
        vector=_arm(row.vector_rank, row.vector_score),
        text=_arm(row.text_rank, row.text_score),
        graph=_arm(row.graph_rank, row.graph_score),
    )


def _arm(rank: int | None, score: float | None) -> Arm | None:
    return Arm(rank=rank, score=score) if rank is not None and score is not None else None


def _within(
    candidates: Iterable[Candidate], vector_places: int, text_places: int
) -> Iterable[Candidate]:
    """Candidates without the arms in which they came behind the last place that counts, if any arm is left."""
    for candidate in candidates:
        kept = replace(
            candidate,
            vector=candidate.vector
            if candidate.vector and candidate.vector.rank <= vector_places
            else None,
            text=candidate.text if candidate.text and candidate.text.rank <= text_places else None,
        )
        if kept.vector or kept.text or kept.graph:
            yield kept
