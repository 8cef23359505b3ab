"""Policy of recalls: the numbers of the rankers, the planner, the graph arm and entity cards."""

from dataclasses import dataclass

from graphmem.model.policy.rules import flag, number


@dataclass(frozen=True, kw_only=True, slots=True)
class FusedPolicy:
    """The default ranker: weighted reciprocal ranks, light factors, no decay by age."""

    k: int = number(10)
    text_weight: float = number(1.5)
    vector_weight: float = number(1.0)
    graph_weight: float = number(1.5)  # of the graph arm, where it is asked for
    contradiction: float = number(0.95)
    confidence_floor: float = number(0.9)  # factor = floor + (1 - floor) x confidence
    in_turn: float = number(0.25)  # of a fact whose turn is found too, which says it in full
    vector_candidates: int = number(100, most=500)  # chunks
    text_candidates: int = number(50, most=500)


@dataclass(frozen=True, kw_only=True, slots=True)
class RrfPolicy:
    """The ranker of the typed graph (002, Retrieval)."""

    k: int = number(60)
    age_days: float = number(30.0, most=36_500, is_positive=True)
    contradiction: float = number(0.80)
    vector_candidates: int = number(50, most=500)  # memories
    text_candidates: int = number(50, most=500)


@dataclass(frozen=True, kw_only=True, slots=True)
class BlendPolicy:
    """The ranker of the companion memory (001, Retrieval).

    The weights sum to 1, so scores run from 0 to 1.
    """

    similarity_weight: float = number(0.4)
    recency_weight: float = number(0.3)
    frequency_weight: float = number(0.3)
    half_life_days: float = number(14.0, is_positive=True)
    entities_used: int = number(5, most=16)  # of one memory, the first ones
    vector_candidates: int = number(50, most=500)  # memories


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecyclePolicy:
    """The ranker of the memory lifecycle (003, Recall).

    Importance is taken on its scale, 0 to 1.
    """

    recency_weight: float = number(0.2)  # similarity has the rest
    half_life_days: float = number(7.0, is_positive=True)
    access_divisor: float = number(3.0, is_positive=True)  # of log10(recalls + 1)
    access_max: float = number(0.1)
    boost_access_count: bool = flag(default=True)  # whether recalls before count at all
    importance_neutral: float = number(0.4)  # neither lifts nor lowers
    importance_weight: float = number(0.25)
    feedback_up: float = number(0.05)  # added for each
    feedback_down: float = number(0.10)  # taken away for each
    feedback_max: int = number(3)  # ups that count, and downs that count
    negative_hit: float = number(0.05)  # taken away for each
    negative_hits_max: int = number(10)
    negative_max: float = number(0.25)
    intent_routing_boost: float = number(0.12)  # for a full match of intents
    intent_goal: float = number(0.5)  # the parts of a match, 1 together
    intent_action: float = number(0.3)
    intent_areas: float = number(0.2)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanPolicy:
    """How much a cue deserves to recall (003, Recall)."""

    acknowledgement_max_chars: int = number(18)
    command_max_chars: int = number(100)
    minimal_limit: int = number(4, most=200)  # results
    full_limit: int = number(8, most=200)


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphPolicy:
    """The graph arm: memories within two edges, or one shared entity, of the best candidates."""

    seeds: int = number(10, most=100, is_positive=True)  # candidates it goes on from
    hub: int = number(
        50, most=1_000
    )  # memories with more edges, and entities with more mentions, lead nowhere
    candidates: int = number(50, most=500)


@dataclass(frozen=True, kw_only=True, slots=True)
class CardPolicy:
    """Entity cards (001, Retrieval)."""

    rows: int = number(30, most=500, is_positive=True)  # facts that are looked at
    cards: int = number(5, most=50)
    facts: int = number(3, most=50)  # on a card
    relations: int = number(3, most=50)  # on a card
    # from which a fact counts, unless it is pinned: 2 of 3 on the scale of 001
    importance: int = number(60, most=100)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallPolicy:
    """Limits of a recall, the rankers' numbers and the planner's."""

    query_max_chars: int = 8_000
    spaces_max: int = 8
    limit: int = 20  # results where a request names none
    limit_max: int = 200
    candidates_max: int = 500
    access_tracking_enabled: bool = flag(default=True)  # whether memories count their recalls
    access_tracking_buffer_max_size: int = number(  # memories whose counts may wait half a second
        1_000, most=100_000, of_all=True
    )
    fused: FusedPolicy = FusedPolicy()
    rrf: RrfPolicy = RrfPolicy()
    blend: BlendPolicy = BlendPolicy()
    lifecycle: LifecyclePolicy = LifecyclePolicy()
    plan: PlanPolicy = PlanPolicy()
    graph: GraphPolicy = GraphPolicy()
    cards: CardPolicy = CardPolicy()
