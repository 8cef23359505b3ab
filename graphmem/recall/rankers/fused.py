"""``fused``: weighted reciprocal ranks of the arms, with light factors and no decay by age."""

from collections.abc import Iterable
from math import prod

from graphmem.model.policy import FusedPolicy
from graphmem.recall.candidates import Candidate, Scored, in_total_order, reciprocal_ranks


def fused(
    candidates: Iterable[Candidate], policy: FusedPolicy, *, with_graph: bool = False
) -> list[Scored]:
    """Score candidates from 0 to 1 and order them (neo4j-recall; k 10, text 1.5 : vector 1).

    1 would be rank 1 in every arm with full confidence and no contradiction.
    """
    graph_weight = policy.graph_weight if with_graph else 0.0
    weights = policy.vector_weight + policy.text_weight + graph_weight
    best = (weights or 1.0) / (policy.k + 1)
    return in_total_order([_score(candidate, policy, best) for candidate in candidates])


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
