"""``fused``: weighted reciprocal ranks of the arms, with light factors and no decay by age."""

from collections.abc import Iterable

from graphmem.model.policy import FusedPolicy
from graphmem.recall.candidates import Candidate, Scored, in_total_order


def fused(
    candidates: Iterable[Candidate], policy: FusedPolicy, *, with_graph: bool = False
) -> list[Scored]:
    """Score candidates from 0 to 1 and order them (neo4j-recall; k 10, text 1.5 : vector 1).

    1 would be the first place in every arm with full confidence and no contradiction.
    """
    weights = (
        policy.vector_weight + policy.text_weight + (policy.graph_weight if with_graph else 0.0)
    )
    return in_total_order(
        [_score(candidate, policy, (weights or 1.0) / (policy.k + 1)) for candidate in candidates]
    )


def _score(candidate: Candidate, policy: FusedPolicy, best: float) -> Scored:
    arms = {
        "vector": policy.vector_weight / (policy.k + candidate.vector.rank) / best
        if candidate.vector
        else 0.0,
        "text": policy.text_weight / (policy.k + candidate.text.rank) / best
        if candidate.text
        else 0.0,
    }
    if candidate.graph:
        arms["graph"] = policy.graph_weight / (policy.k + candidate.graph.rank) / best
    factors = arms | {
        "confidence": policy.confidence_floor
        + (1 - policy.confidence_floor) * candidate.confidence,
        "contradiction": policy.contradiction if candidate.contested else 1.0,
    }
    score = sum(arms.values()) * factors["confidence"] * factors["contradiction"]
    return Scored(candidate=candidate, score=score, factors=factors)
