"""Policy of the lifecycle: when turns are extracted, and what is made of them (003)."""

from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.model.policy.rules import (
    compiled_pattern,
    flag,
    number,
    pattern_problem,
    patterns,
    share,
    table_of_all,
    text_of_all,
    word,
)
from graphmem.model.space import namespace_name

_TEXT_MAX_CHARS, _ENTRIES_MAX = 256, 10_000


def _problem_of_map(value: object) -> str | None:
    if not isinstance(value, Mapping) or len(value) > _ENTRIES_MAX:
        return f"Must be a table of at most {_ENTRIES_MAX:,} sessions and their namespaces."
    texts = (text for entry in value.items() for text in entry)
    if all(isinstance(text, str) for text in texts):
        return None
    return "Must be a table of texts: session and namespace."


def _problem_of_prefix(value: object) -> str | None:
    is_text = isinstance(value, str) and len(value) <= _TEXT_MAX_CHARS
    return None if is_text else f"Must be a text of at most {_TEXT_MAX_CHARS} characters."


def _problem_of_pattern(value: object) -> str | None:
    if value == "":
        return None
    if problem := pattern_problem(value):
        return problem
    has_name = compiled_pattern(str(value)).groups > 0
    return None if has_name else "Must have a group in round brackets that is the name."


def _problem_of_name(value: object) -> str | None:
    if isinstance(value, str) and namespace_name(value):
        return None
    return "Must be the name of a namespace: 1 to 128 characters without blanks or / : | *."


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
    memory_boxes_enabled: bool = flag(default=False)  # gather what is told together
    box_topic_shift_threshold: float = share(0.35)  # topics that overlap less begin a box
    box_time_gap_minutes: int = number(30, most=100_000)  # more than these begin a box
    box_max_memories: int = number(50, most=1_000, is_positive=True)  # more are sealed
    box_recall_days: int = number(3, most=36_500)  # of the boxes that a context shows
    trace_weaver_enabled: bool = flag(default=False)  # join boxes of the same topics
    trace_weaver_lookback_days: int = number(7, most=36_500)
    trace_weaver_overlap_threshold: float = share(0.4)  # from which a box joins a trace
    recall_planner_enabled: bool = flag(default=True)  # a context asks how much a cue deserves
    max_memory_tokens: int = number(2_000, least=50, most=32_000)  # of a context that names none
    inject_questions: bool = flag(default=False)  # show open questions in contexts
    query_expansion_enabled: bool = flag(default=False)  # rare words of a cue are cues too
    query_expansion_max_queries: int = number(4, most=10, is_positive=True)  # with the cue itself
    query_expansion_min_token_len: int = number(3, most=100)  # letters of a word
    rerank_enabled: bool = flag(default=False)  # a language model puts what was found in order
    rerank_max_candidates: int = number(20, most=100, is_positive=True)
    rerank_timeout_ms: int = number(8_000, most=60_000, is_positive=True)
    verbatim_artifacts_enabled: bool = flag(default=False)  # keep words as they were said
    verbatim_artifacts_min_confidence: float = share(0.8)
    verbatim_artifacts_max_recall: int = number(5, most=100)  # of those that a context shows
    identity_enabled: bool = flag(default=True)  # keep reflections
    knowledge_index_enabled: bool = flag(default=True)
    knowledge_index_entities: int = number(40, most=200)
    knowledge_index_chars: int = number(4_000, most=100_000)
    feedback_enabled: bool = flag(default=False)  # memories count what was useful or not
    negative_examples_enabled: bool = flag(default=False)  # and how often they were wrong
    keep_turns: bool = flag(default=False)  # whether each turn is also a memory
    turn_days: int = number(0, most=36_500)  # the words of extracted turns; 0: for ever
    entity_near: bool = flag(default=False)  # names contained in others or nearly equal are one
    namespaces_enabled: bool = flag(default=False, of_all=True)  # the session tells the space
    namespaces_map: Mapping[str, str] = table_of_all(_problem_of_map)  # session → namespace
    namespaces_prefix: str = text_of_all("", _problem_of_prefix)  # behind it comes the name
    namespaces_pattern: str = text_of_all("", _problem_of_pattern)  # its first group is the name
    namespaces_default: str = text_of_all("default", _problem_of_name)
