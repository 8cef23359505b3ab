"""Policy of upkeep: what time does to memories."""

from dataclasses import dataclass

from graphmem.model.extraction import Category
from graphmem.model.policy.rules import flag, number, share, word_list


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeculativePolicy:
    """Memories that are hardly believed go quiet unless they are said again (003)."""

    enabled: bool = flag(default=True)
    confidence: float = share(0.40)  # below it
    days: int = number(30, most=36_500)


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitmentPolicy:
    """Commitments that nobody refreshed (003, Commitment decay)."""

    enabled: bool = flag(default=True)
    days: int = number(90, most=36_500)  # after more than these they go quiet
    fulfilled_only: bool = flag(
        default=False
    )  # only those tagged fulfilled or expired, as the original of 003


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchivePolicy:
    """Facts that nobody needs (003, Fact archival).

    All of it must hold; pinned memories and corrections never go.
    """

    enabled: bool = flag(default=False)
    age_days: int = number(90, most=36_500)  # older than these
    importance: int = number(30, most=100)  # less important than this
    recalls: int = number(2)  # recalled at most so often
    protected_categories: tuple[str, ...] = word_list(  # of 003; they never go
        ("commitment", "preference", "decision", "principle"), *Category
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class CuratePolicy:
    """The curator (001): repeats are put away, facts of one entity are folded."""

    enabled: bool = flag(default=True)
    every_hours: int = number(24, most=876_000)  # since the last time in a space
    new_memories: int = number(25)  # or so many new ones
    fold_members: int = number(3, least=2)  # from which the facts of an entity are folded
    fold_contents: int = number(
        5, most=50, is_positive=True
    )  # that one folded memory holds at most
    folds: int = number(5, most=100)  # in one space and run
    fold_importance: int = number(70, most=100)  # of a folded memory: 2 of 3 on the scale of 001


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidatePolicy:
    """Consolidation (003): near-duplicates, entities, summaries, topics."""

    enabled: bool = flag(default=True)
    # since the last time: extractions that kept something where a space has turns, else moments at
    writes: int = number(3)  # which something new was written
    minutes: int = number(10, most=1_000_000)  # since the last time
    memories: int = number(5)  # without which there is nothing to consolidate
    newest: int = number(20, most=200)  # memories that are compared with what is there
    neighbours: int = number(5, most=50)  # of each
    similarity: float = share(0.9)  # of near-duplicates; cosine, as a share of 1
    summary_facts: int = number(5)  # an entity with more of them gets a summary
    summaries: int = number(5, most=100)  # in one pass
    topics: int = number(50, most=500)
    topics_memories: int = number(2_000, most=100_000)  # the newest, whose words are counted
    summarise: bool = flag(default=False)
    summarise_memories: int = number(1000)  # more active memories than these are summarised
    summarise_newest: int = number(300)  # of which these stay as they are
    summarise_importance: int = number(30, most=100)  # less important than this
    summarise_batch: int = number(50, most=500, is_positive=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class ContradictionPolicy:
    """Active memories that disagree."""

    enabled: bool = flag(default=True)
    resolve: bool = flag(default=False)  # let the weaker of the two be superseded (004, Conflict)
    similarity: float = share(0.7)  # of pairs that a language model is asked about (003)
    confidence: float = number(0.9)  # from which its answer counts (003)
    memories: int = number(2_000, most=100_000)  # the newest, that new ones are compared with


@dataclass(frozen=True, kw_only=True, slots=True)
class UpkeepPolicy:
    """What time does to memories."""

    speculative: SpeculativePolicy = SpeculativePolicy()
    commitments: CommitmentPolicy = CommitmentPolicy()
    archive: ArchivePolicy = ArchivePolicy()
    curate: CuratePolicy = CuratePolicy()
    consolidate: ConsolidatePolicy = ConsolidatePolicy()
    contradictions: ContradictionPolicy = ContradictionPolicy()
