"""``fused``: weighted reciprocal ranks of the arms, with light factors and no decay by age."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from graphmem.model.policy import FusedPolicy
from graphmem.recall.candidates import Arm, Candidate, Scored, in_total_order, reciprocal_ranks


def fused(
    candidates: Sequence[Candidate], policy: FusedPolicy, *, with_graph: bool = False
) -> list[Scored]:
    """Score candidates from 0 to 1 and order them (neo4j-recall; k 10, text 1.5 : vector 1).

    1 would be rank 1 in every arm with full confidence and no contradiction. A fact whose turn is
    found too is weighed lightly and takes no rank from others.
    """
    graph_weight = policy.graph_weight if with_graph else 0.0
    weights = policy.vector_weight + policy.text_weight + graph_weight
    best = (weights or 1.0) / (policy.k + 1)
    return in_total_order([_score(each, policy, best) for each in _closed_up(candidates)])


def _closed_up(candidates: Sequence[Candidate]) -> Iterable[Candidate]:
    """The candidates with ranks that do not count facts which a turn among them says in full."""
    said_again = [candidate for candidate in candidates if candidate.is_in_turn]
    if not said_again:
        return candidates
    vector = sorted(each.vector.rank for each in said_again if each.vector)
    text = sorted(each.text.rank for each in said_again if each.text)
    return [
        replace(each, vector=_moved_up(each.vector, vector), text=_moved_up(each.text, text))
        for each in candidates
    ]


def _moved_up(arm: Arm | None, left_out: Sequence[int]) -> Arm | None:
    """An arm at its rank without the better ranks that are left out, which are in order."""
    return replace(arm, rank=arm.rank - bisect_left(left_out, arm.rank)) if arm else None


def _score(candidate: Candidate, policy: FusedPolicy, best: float) -> Scored:
    weights = {
        "vector": policy.vector_weight,
        "text": policy.text_weight,
        "graph": policy.graph_weight,
    }
    arms = {
        name: weights[name] * rank / best
        for name, rank in reciprocal_ranks(candidate, policy.k).items()
    }
    confidence = policy.confidence_floor + (1 - policy.confidence_floor) * candidate.confidence
    contradiction = policy.contradiction if candidate.contested else 1.0
    light = {"confidence": confidence, "contradiction": contradiction}
    if candidate.is_in_turn:
        light["in_turn"] = policy.in_turn
    return Scored(
        candidate=candidate,
        score=sum(arms.values()) * prod(light.values()),
        factors=arms | light,
    )
