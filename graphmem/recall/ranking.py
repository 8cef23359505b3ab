"""Ranking: candidates as the rankers see them, and the ranker that orders them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from graphmem.model.memory import MemoryKind
from graphmem.model.source import CapturedBy
from graphmem.recall.candidates import Arm, Candidate, Scored
from graphmem.recall.question import Question
from graphmem.recall.rankers.blend import blend
from graphmem.recall.rankers.fused import fused
from graphmem.recall.rankers.lifecycle import lifecycle
from graphmem.recall.rankers.rrf import rrf
from graphmem.recall.request import RankerName
from graphmem.store.candidates import CandidateRow, CandidateSet, Search
from graphmem.text.times import moment_of


def ranked(fetched: CandidateSet, search: Search, question: Question) -> list[Scored]:
    """The candidates in the order of the question's ranker, best first."""
    request, ranker, policy = question.request, question.ranker, question.policy
    said = _remembered_turns(fetched)
    rows = [row for row in fetched.rows if request.kept or not _is_kept(row, fetched)]
    candidates = [_candidate(row, fetched, said) for row in rows]
    if search.vector_memories:
        candidates = list(_within(candidates, search.vector_memories, search.text_limit))
    match ranker:
        case RankerName.FUSED:
            return fused(candidates, policy.fused, with_graph=request.graph)
        case RankerName.BLEND:
            return blend(candidates, policy.blend, now=question.now)
        case RankerName.LIFECYCLE:
            return lifecycle(candidates, policy.lifecycle, now=question.now, query=request.query)
        case _:
            return rrf(candidates, policy.rrf, now=question.now)


def _remembered_turns(fetched: CandidateSet) -> frozenset[str]:
    """The turns that candidates say word for word."""
    nodes = (*fetched.nodes.values(), *fetched.glances.values())
    said = (node for node in nodes if not _is_extracted(node))
    return frozenset(uid for node in said for uid in node.get("turns") or ())


def _is_kept(row: CandidateRow, fetched: CandidateSet) -> bool:
    """Whether a room keeps a candidate, as far as its content came along."""
    return fetched.seen(row.key).get("kept_by") is not None


def _is_extracted(node: Mapping[str, Any]) -> bool:
    """Whether a room extracted a memory from what was said."""
    return node.get("captured_by") == CapturedBy.EXTRACTOR and node.get("native") is not None


def _candidate(row: CandidateRow, fetched: CandidateSet, said: frozenset[str]) -> Candidate:
    node = fetched.seen(row.key)
    turns = frozenset(node.get("turns") or ())
    return Candidate(
        key=row.key,
        uid=row.uid,
        importance=row.importance,
        confidence=row.confidence,
        updated_at=row.updated_at,
        created_at=row.created_at,
        content=node.get("content", ""),
        said_at=moment_of(node.get("occurred_at") or node.get("created_at")),
        is_episode=node.get("memory_kind") == MemoryKind.EPISODE,
        intent=_noted_intent(node.get("native")),
        is_in_turn=_is_extracted(node) and bool(turns) and turns <= said,
        entities=tuple(sorted(key for key, _ in fetched.mentions.get(row.key, ()))),
        recall_count=row.recall_count,
        feedback_up=row.feedback_up,
        feedback_down=row.feedback_down,
        negative_hits=row.negative_hits,
        contested=row.contested,
        vector=_arm(row.vector_rank, row.vector_score),
        text=_arm(row.text_rank, row.text_score),
        graph=_arm(row.graph_rank, row.graph_score),
    )


def _noted_intent(native: str | None) -> Mapping[str, object] | None:
    """The intent among the native values of a memory."""
    if not native or '"intent"' not in native:
        return None
    found = json.loads(native).get("intent")
    return found if isinstance(found, Mapping) else None


def _arm(rank: int | None, score: float | None) -> Arm | None:
    return Arm(rank=rank, score=score) if rank is not None and score is not None else None


def _within(
    candidates: Iterable[Candidate], vector_ranks: int, text_ranks: int
) -> Iterable[Candidate]:
    """Candidates without the arms that rank them too low; those without any arm are left out."""
    for candidate in candidates:
        vector = _at_most(candidate.vector, vector_ranks)
        text = _at_most(candidate.text, text_ranks)
        if vector or text or candidate.graph:
            yield replace(candidate, vector=vector, text=text)


def _at_most(arm: Arm | None, rank: int) -> Arm | None:
    return arm if arm and arm.rank <= rank else None
