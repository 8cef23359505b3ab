"""Policy of the lifecycle: when turns are extracted, and what is made of them (003)."""

from dataclasses import dataclass

from graphmem.model.policy.rules import flag, number, patterns, share, word


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleConfig:
    """The room of the lifecycle; the names are those of the source (003, Configuration)."""

    trigger_mode: str = word("smart", "smart", "every_n", "time_based")
    buffer_max_turns: int = number(5, most=500, is_positive=True)
    buffer_max_minutes: int = number(15, most=10_000)  # a batch is due after more than these
    high_signal_patterns: tuple[str, ...] = patterns()  # looked for before the built-in ones
    fact_deduplication_enabled: bool = flag(default=True)
    intent_routing_enabled: bool = flag(default=False)  # keep what a fact is after
    contradiction_detection_enabled: bool = flag(default=False)
    contradiction_detection_similarity: float = share(0.7)  # of the 5 nearest that are looked at
    contradiction_detection_confidence: float = share(0.9)  # from which a model's answer counts
    contradiction_detection_auto_resolve: bool = flag(default=True)  # the older is superseded
    memory_linking_enabled: bool = flag(default=False)
    chunking_enabled: bool = flag(default=False)
    chunking_min_tokens: int = number(150)  # shorter facts stay whole
    chunking_target_tokens: int = number(200, is_positive=True)  # from which a part is full
    chunking_overlap_sentences: int = number(2, most=20)
    threading_enabled: bool = flag(default=False)
    threading_gap_minutes: int = number(30, most=100_000)  # more than these begin a thread
    episode_note_mode_enabled: bool = flag(default=False)  # tell what happened from what holds
    feedback_enabled: bool = flag(default=False)  # memories count what was useful or not
    negative_examples_enabled: bool = flag(default=False)  # and how often they were wrong
    keep_turns: bool = flag(default=False)  # whether each turn is also a memory
    turn_days: int = number(0, most=36_500)  # the words of extracted turns; 0: for ever
    entity_near: bool = flag(default=False)  # names contained in others or nearly equal are one
