"""Policy of the companion: what it reads, keeps, sums up and shows (001)."""

from dataclasses import dataclass

from graphmem.model.policy.rules import flag, number, share


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePolicy:
    """The judge: what it reads of a message, and how much it keeps (001, Shadow Judge)."""

    window_messages: int = number(6, most=50)  # earlier ones of the user that it may read
    window_minutes: int = number(60, most=10_000)
    window_read: int = number(4, most=50, is_positive=True)  # of these and the present one
    memories: int = number(5, most=50)  # that it keeps of a message
    loops: int = number(8, most=50)
    near_chars: int = number(40, most=1_000)  # between my or our and a word of relationship
    timeout_seconds: float = number(5.0, most=600, is_positive=True)  # of a model


@dataclass(frozen=True, kw_only=True, slots=True)
class TodoPolicy:
    """What becomes of todos by what the user says (001, Curator)."""

    match_commitments: int = number(10, most=100)  # that a model is asked about
    match_confidence: float = share(0.65)  # from which its answer counts
    match_timeout_seconds: float = number(3.0, most=600, is_positive=True)
    promote_hours: int = number(24, most=100_000)  # in which a commitment may become a habit
    prefix_chars: int = number(15, most=1_000)  # by which a habit is known
    threads_cleaned: int = number(20, most=500)  # the newest ones that are looked at


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryPolicy:
    """Sessions, and the summaries of them and of all (001, Sessions and summaries)."""

    session_minutes: int = number(30, most=100_000)  # after more than these another one begins
    session_messages: int = number(10, most=200)  # of each side that a summary rests on
    message_chars: int = number(800, most=32_000)
    session_timeout_seconds: float = number(2.5, most=600, is_positive=True)
    one_liner_chars: int = number(200, most=2_000, is_positive=True)
    list_items: int = number(5, most=50)
    item_chars: int = number(120, most=2_000, is_positive=True)
    tone_chars: int = number(40, most=400, is_positive=True)
    rolling_every: int = number(4, most=1_000, is_positive=True)  # user messages
    rolling_messages: int = number(6, most=200)  # of each side
    rolling_lines: int = number(5, most=50, is_positive=True)
    rolling_chars: int = number(600, most=10_000, is_positive=True)
    rolling_timeout_seconds: float = number(4.0, most=600, is_positive=True)
    spine_messages: int = number(20, most=10_000)  # a version is made after more than these
    spine_min_chars: int = number(20, most=1_000)  # a shorter one is left out
    spine_lines: int = number(20, most=200, is_positive=True)  # of a section
    last_message_chars: int = number(100, most=1_000)  # of the last message in the state


@dataclass(frozen=True, kw_only=True, slots=True)
class CompanionRecallPolicy:
    """What is found for a message (001, Retrieval)."""

    candidates: int = number(50, most=500, is_positive=True)
    results: int = number(12, most=100, is_positive=True)  # that a context asks for
    profile: int = number(2, most=100)  # chosen of each kind at most
    people: int = number(3, most=100)
    project: int = number(3, most=100)
    chosen: int = number(8, most=100)  # in all
    foundation: int = number(20, most=200)
    card_importance: int = number(2, most=3)
    card_rows: int = number(30, most=500, is_positive=True)
    card_facts: int = number(3, most=50, is_positive=True)
    cards: int = number(5, most=50)


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextPolicy:
    """What a prompt is made of, and how long it may be (001, Context builder)."""

    todos: int = number(20, most=500)  # the oldest pending ones that are looked at
    commitments: int = number(5, most=100)
    threads: int = number(3, most=100)
    frictions: int = number(3, most=100)
    wins: int = number(3, most=100)
    win_hours: int = number(48, most=100_000)
    seed_chars: int = number(800, most=32_000)
    spine_chars: int = number(1_200, most=32_000)
    rolling_chars: int = number(600, most=32_000)
    session_summary_chars: int = number(600, most=32_000)
    messages: int = number(6, most=100)
    message_chars: int = number(800, most=32_000)
    budget: int = number(1_200, most=200_000, is_positive=True)  # tokens
    chars_per_token: int = number(4, most=100, is_positive=True)
    warning_chars: int = number(20_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompanionCuratePolicy:
    """The curator of the room (001, Curator)."""

    enabled: bool = flag(default=True)
    cool_down_seconds: int = number(60, most=1_000_000)
    every_hours: int = number(24, most=876_000)
    new_memories: int = number(25)
    only_small: bool = flag(default=False)  # archives repeats of importance 0 and 1, no more
    fold_members: int = number(3, least=2)
    fold_contents: int = number(5, most=50, is_positive=True)
    folds: int = number(5, most=100)
    users: int = number(25, most=1_000, is_positive=True)  # of one batch


@dataclass(frozen=True, kw_only=True, slots=True)
class CompanionPolicy:
    """The room of the companion."""

    entity_pipeline: bool = flag(default=True)  # off: plain similarity, no cards
    reinforce: bool = flag(default=False)  # whether mentions lift importance
    reinforce_to_2: int = number(3, is_positive=True)  # mentions
    reinforce_to_3: int = number(10, is_positive=True)
    distinct_facts: bool = flag(default=False)  # another fact under a key is one of its own
    judge: JudgePolicy = JudgePolicy()
    todos: TodoPolicy = TodoPolicy()
    summaries: SummaryPolicy = SummaryPolicy()
    recall: CompanionRecallPolicy = CompanionRecallPolicy()
    context: ContextPolicy = ContextPolicy()
    curate: CompanionCuratePolicy = CompanionCuratePolicy()
