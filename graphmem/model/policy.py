"""Policy: the named numbers that tune behaviour. Rankers and deciders take them as arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class WritePolicy:
    """Limits of a write (http contract, Memories) and what screening refuses."""

    content_max_chars: int = 32_000
    summary_max_chars: int = 120
    context_max_chars: int = 8_000
    name_max_chars: int = 512  # actor, logical key, source fields
    tags_max: int = 32
    tag_max_chars: int = 64
    metadata_max_bytes: int = 16_384
    metadata_max_depth: int = 32
    entities_max: int = 16
    label_max_chars: int = 100
    references_max: int = 32
    batch_max: int = 500
    refuse_secrets: bool = True
    refuse_injection: bool = True
    speculative_confidence: float = (
        0.40  # below it a memory goes quiet unless it is said again (003, Confidence tiers)
    )
    speculative_days: int = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitmentPolicy:
    """Commitments that nobody refreshed (003, Commitment decay)."""

    days: int = 90  # after more than these they go quiet
    fulfilled_only: bool = False  # only those tagged fulfilled or expired, as the original of 003


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchivePolicy:
    """Facts that nobody needs (003, Fact archival).

    All of it must hold; pinned memories and corrections never go.
    """

    enabled: bool = False
    age_days: int = 90  # older than these
    importance: int = 30  # less important than this
    recalls: int = 2  # recalled at most so often


@dataclass(frozen=True, kw_only=True, slots=True)
class CuratePolicy:
    """The curator (001): repeats are put away, facts of one entity are folded."""

    enabled: bool = True
    every_hours: int = 24  # since the last time in a space
    new_memories: int = 25  # or so many new ones
    fold_members: int = 3  # from which the facts of an entity are folded
    fold_contents: int = 5  # that one folded memory holds at most
    folds: int = 5  # in one space and run
    fold_importance: int = 70  # of a folded memory: 2 of 3 on the scale of 001


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidatePolicy:
    """Consolidation (003): near-duplicates, entities, summaries, topics."""

    enabled: bool = True
    writes: int = 3  # moments at which something new was written, since the last time
    minutes: int = 10  # since the last time
    memories: int = 5  # without which there is nothing to consolidate
    newest: int = 20  # memories that are compared with what is there
    neighbours: int = 5  # of each
    similarity: float = 0.9  # of near-duplicates; cosine, as a share of 1
    summary_facts: int = 5  # an entity with more of them gets a summary
    summaries: int = 5  # in one pass
    topics: int = 50
    summarise: bool = False
    summarise_memories: int = 1000  # more active memories than these are summarised
    summarise_newest: int = 300  # of which these stay as they are
    summarise_importance: int = 30  # less important than this
    summarise_batch: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class ContradictionPolicy:
    """Active memories that disagree."""

    enabled: bool = True
    resolve: bool = False  # let the weaker of the two be superseded (004, Conflict)
    similarity: float = 0.7  # of pairs that a language model is asked about (003)
    confidence: float = 0.9  # from which its answer counts (003)


@dataclass(frozen=True, kw_only=True, slots=True)
class UpkeepPolicy:
    """What time does to memories."""

    commitments: CommitmentPolicy = CommitmentPolicy()
    archive: ArchivePolicy = ArchivePolicy()
    curate: CuratePolicy = CuratePolicy()
    consolidate: ConsolidatePolicy = ConsolidatePolicy()
    contradictions: ContradictionPolicy = ContradictionPolicy()


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityPolicy:
    """How entities are named: variants and the key that is meant (001, Entity normaliser)."""

    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexPolicy:
    """What is indexed of a memory (neo4j-recall, What to index)."""

    context_words: int = 80  # own text and neighbouring turns together
    sentences_max: int = 64  # chunks beside the whole text
    terms_max: int = 64  # distinct words of a query


@dataclass(frozen=True, kw_only=True, slots=True)
class FusedPolicy:
    """The default ranker: weighted reciprocal ranks (neo4j-recall), light factors, no decay by age."""

    k: int = 10
    text_weight: float = 1.5
    vector_weight: float = 1.0
    graph_weight: float = 1.5  # of the graph arm, where it is asked for
    contradiction: float = 0.95
    confidence_floor: float = 0.9  # factor = floor + (1 - floor) x confidence
    vector_candidates: int = 100  # chunks
    text_candidates: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class RrfPolicy:
    """The ranker of the typed graph (002, Retrieval)."""

    k: int = 60
    age_days: float = 30.0
    contradiction: float = 0.80
    vector_candidates: int = 50  # memories
    text_candidates: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class BlendPolicy:
    """The ranker of the companion memory (001, Retrieval).

    The weights sum to 1, so scores run from 0 to 1.
    """

    similarity_weight: float = 0.4
    recency_weight: float = 0.3
    frequency_weight: float = 0.3
    half_life_days: float = 14.0
    entities_used: int = 5  # of one memory, the first ones
    vector_candidates: int = 50  # memories


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecyclePolicy:
    """The ranker of the memory lifecycle (003, Recall).

    Importance is taken on its scale, 0 to 1.
    """

    recency_weight: float = 0.2  # similarity has the rest
    half_life_days: float = 7.0
    access_divisor: float = 3.0  # of log10(recalls + 1)
    access_max: float = 0.1
    importance_neutral: float = 0.4  # neither lifts nor lowers
    importance_weight: float = 0.25
    feedback_up: float = 0.05  # added for each
    feedback_down: float = 0.10  # taken away for each
    feedback_max: int = 3  # ups that count, and downs that count
    negative_hit: float = 0.05  # taken away for each
    negative_hits_max: int = 10
    negative_max: float = 0.25
    intent_weight: float = 0.12
    intent_goal: float = 0.5  # the parts of a match, 1 together
    intent_action: float = 0.3
    intent_areas: float = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanPolicy:
    """How much a cue deserves to recall (003, Recall)."""

    acknowledgement_max_chars: int = 18
    command_max_chars: int = 100
    minimal_limit: int = 4  # results
    full_limit: int = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphPolicy:
    """The graph arm: memories within two edges, or one shared entity, of the best candidates."""

    seeds: int = 10  # candidates it goes on from
    hub: int = 50  # memories with more edges, and entities with more mentions, lead nowhere
    candidates: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class CardPolicy:
    """Entity cards (001, Retrieval)."""

    rows: int = 30  # facts that are looked at
    cards: int = 5
    facts: int = 3  # on a card
    importance: int = (
        60  # from which a fact counts, unless it is pinned: 2 of 3 on the scale of 001
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallPolicy:
    """Limits of a recall, the rankers' numbers and the planner's."""

    query_max_chars: int = 8_000
    spaces_max: int = 8
    limit: int = 20  # results where a request names none
    limit_max: int = 200
    candidates_max: int = 500
    fused: FusedPolicy = FusedPolicy()
    rrf: RrfPolicy = RrfPolicy()
    blend: BlendPolicy = BlendPolicy()
    lifecycle: LifecyclePolicy = LifecyclePolicy()
    plan: PlanPolicy = PlanPolicy()
    graph: GraphPolicy = GraphPolicy()
    cards: CardPolicy = CardPolicy()


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalConfig:
    """Recalls of the typed graph; its ``rrf_k`` is ``recall.rrf.k``."""

    top_n: int = 20  # results where a request names no limit


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestConfig:
    """The ingest folder."""

    enabled: bool = True
    max_file_size_mb: int = 25  # of 1,048,576 bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopeConfig:
    """The wall between orchestrators."""

    cross_orchestrator: bool = False  # true is refused


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryConfig:
    """Orchestrator spaces (002, Configuration Additions), set by the memory.* keys."""

    enabled: bool = True
    bulletin_mode: str = "every_message"
    worker_interval_seconds: int = 30  # between two looks into the ingest folders
    retrieval: RetrievalConfig = RetrievalConfig()
    ingest: IngestConfig = IngestConfig()
    scope: ScopeConfig = ScopeConfig()


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """All of it."""

    write: WritePolicy = WritePolicy()
    index: IndexPolicy = IndexPolicy()
    recall: RecallPolicy = RecallPolicy()
    upkeep: UpkeepPolicy = UpkeepPolicy()
    memory: MemoryConfig = MemoryConfig()
    entities: EntityPolicy = field(default_factory=EntityPolicy)
