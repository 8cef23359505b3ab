"""Context builder (001): the blocks of a prompt, in their order, within a budget. Pure.

What users say can begin no line and no block of its own here. The prompt of a persona stands as its
operator wrote it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from graphmem.companion.selection import FactCard, line_of, normalized
from graphmem.companion.summaries import display, spine_of, spine_text
from graphmem.model.companion import (
    CompanionUser,
    Fact,
    Message,
    Persona,
    Session,
    SessionState,
    SessionSummary,
    Spine,
    Todo,
    TodoKind,
)
from graphmem.model.policy.companion import CompanionPolicy, ContextPolicy
from graphmem.text.rendering import within_line

# in the order of the text, with what stands above them
HEADINGS: Mapping[str, str] = {
    "real_time": "Time",
    "session_state": "Session state",
    "persona_prompt": "Persona",
    "foundation": "Foundation",
    "relevant": "Relevant memories",
    "commitments": "Commitments",
    "threads": "Open threads",
    "frictions": "Frictions",
    "recent_wins": "Recent wins",
    "user_seed": "About the user",
    "spine": "Long-term summary",
    "session_summary_current": "Conversation so far",
    "session_summary_latest": "Last session",
    "recent_messages": "Recent messages",
    "user_message": "User message",
}
BLOCKS = tuple(HEADINGS)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_JOINT = "\n\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextInput:
    """All that a context is made of, as it was read.

    ``pending`` are the oldest todos that are open. ``recent`` messages come oldest first, without
    the present one, ``message``. ``session`` is the one of now, if one goes on.
    """

    now: datetime
    persona: Persona
    user: CompanionUser
    state: SessionState | None = None
    foundation: Sequence[Fact] = ()
    cards: Sequence[FactCard] = ()
    chosen: Sequence[Fact] = ()
    pending: Sequence[Todo] = ()
    wins: Sequence[Todo] = ()
    spine: Spine | None = None
    session: Session | None = None
    latest_summary: SessionSummary | None = None
    latest_ended_at: datetime | None = None
    recent: Sequence[Message] = ()
    message: str = ""
    has_entity_pipeline: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A part of a context: why it is there, or was dropped, and what it rests on."""

    name: str
    text: str
    why: str
    uids: tuple[str, ...] = ()
    dropped: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """A context, and what it is made of; dropped blocks are not in its text."""

    text: str
    blocks: tuple[Block, ...]
    tokens: int
    over_budget: bool
    warnings: tuple[str, ...] = ()


class _Goes(IntEnum):
    """What is dropped for the budget, in this order."""

    MEMORIES = 1
    CARDS = 2
    SESSION_SUMMARY = 3
    THREADS = 4
    NEVER = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """Lines of a block that stay or go together."""

    lines: Sequence[str]
    uids: Iterable[str] = ()
    goes: _Goes = _Goes.NEVER


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """A block before the budget is known."""

    name: str
    why: str
    parts: Sequence[_Part] = ()


def build_context(given: ContextInput, budget: int, policy: CompanionPolicy) -> Context:
    """The context of a message, of at most ``budget`` estimated tokens where it can be.

    Memories go first, then cards, the last session's summary and threads; nothing else ever does.
    """
    drafts = [draft for draft in _drafts(given, policy) if any(part.lines for part in draft.parts)]
    for step in range(_Goes.NEVER):
        blocks = tuple(_block(draft, step) for draft in drafts)
        text = _JOINT.join(block.text for block in blocks if not block.dropped)
        tokens = estimated_tokens(text, policy.context)
        if tokens <= budget:
            break
    return Context(
        text=text,
        blocks=blocks,
        tokens=tokens,
        over_budget=tokens > budget,
        warnings=_warnings(text, policy.context),
    )


def estimated_tokens(text: str, policy: ContextPolicy) -> int:
    """How many tokens a text may have: so many characters each, rounded up."""
    return -(-len(text) // policy.chars_per_token)


def _warnings(text: str, policy: ContextPolicy) -> tuple[str, ...]:
    if len(text) <= policy.warning_chars:
        return ()
    return (f"The context has {len(text):,} characters, more than {policy.warning_chars:,}.",)


def _block(draft: _Draft, step: int) -> Block:
    """A block as it is after some steps of dropping."""
    kept = [part for part in draft.parts if part.goes > step and part.lines]
    gone = [part for part in draft.parts if part.goes <= step and part.lines]
    shown = kept or gone
    names = " and ".join(part.goes.name.lower().replace("_", " ") for part in gone)
    return Block(
        name=draft.name,
        text="\n".join((f"## {HEADINGS[draft.name]}", *(each for p in shown for each in p.lines))),
        why=f"{draft.why}; {names} dropped for the budget" if gone else draft.why,
        uids=tuple(dict.fromkeys(uid for part in shown for uid in part.uids)),
        dropped=not kept,
    )


def _drafts(given: ContextInput, policy: CompanionPolicy) -> list[_Draft]:
    """All blocks in their order, the empty ones too."""
    context = policy.context
    return [
        _real_time(given),
        _session_state(given),
        _persona_prompt(given),
        _foundation(given),
        _relevant(given),
        _todos(given, "commitments", TodoKind.COMMITMENT, context),
        _todos(given, "threads", TodoKind.THREAD, context),
        _todos(given, "frictions", TodoKind.FRICTION, context),
        _recent_wins(given, context),
        _user_seed(given, context),
        _spine(given, policy),
        _current_summary(given, context),
        _latest_summary(given, policy),
        _recent_messages(given, context),
        _user_message(given),
    ]


def _real_time(given: ContextInput) -> _Draft:
    line = f"{_WEEKDAYS[given.now.astimezone(UTC).weekday()]}, {_iso(given.now)}"
    return _Draft(name="real_time", why="always there", parts=[_Part(lines=[line])])


def _session_state(given: ContextInput) -> _Draft:
    state = given.state
    lines = []
    if state and state.message_count:
        lines.append(f"Messages of the user so far: {state.message_count}")
    if state and state.last_interaction:
        lines.append(f"Last interaction: {_iso(state.last_interaction)}")
    return _Draft(name="session_state", why="they have spoken before", parts=[_Part(lines=lines)])


def _persona_prompt(given: ContextInput) -> _Draft:
    lines = [f"Name: {within_line(given.persona.name)}", given.persona.prompt.strip()]
    part = _Part(lines=[line for line in lines if line])
    return _Draft(name="persona_prompt", why="who speaks", parts=[part])


def _foundation(given: ContextInput) -> _Draft:
    return _Draft(name="foundation", why="pinned memories", parts=[_facts(given.foundation)])


def _relevant(given: ContextInput) -> _Draft:
    cards = given.cards if given.has_entity_pipeline else ()
    lines = [card.text for card in cards]
    uids = [fact.uid for card in cards for fact in card.facts]
    return _Draft(
        name="relevant",
        why="found for the message",
        parts=[
            _Part(lines=lines, uids=uids, goes=_Goes.CARDS),
            _facts(given.chosen, goes=_Goes.MEMORIES),
        ],
    )


def _todos(given: ContextInput, name: str, kind: TodoKind, policy: ContextPolicy) -> _Draft:
    """The newest of the oldest open todos: what waits longest is looked at."""
    most = {
        TodoKind.COMMITMENT: policy.commitments,
        TodoKind.THREAD: policy.threads,
        TodoKind.FRICTION: policy.frictions,
    }[kind]
    oldest = sorted(given.pending, key=lambda todo: (todo.created_at, todo.uid))[: policy.todos]
    found: dict[str, Todo] = {}
    for todo in reversed(oldest):
        if todo.kind is kind:
            found.setdefault(normalized(todo.content), todo)
    goes = _Goes.THREADS if kind is TodoKind.THREAD else _Goes.NEVER
    part = _items(list(found.values())[:most], goes=goes)
    return _Draft(name=name, why=f"open, {len(part.lines)} of {len(found)}", parts=[part])


def _recent_wins(given: ContextInput, policy: ContextPolicy) -> _Draft:
    age = timedelta(hours=policy.win_hours)
    kept = [
        (todo.completed_at, todo.uid, todo)
        for todo in given.wins
        if todo.kind is TodoKind.COMMITMENT and todo.completed_at
        if given.now - todo.completed_at <= age
    ]
    newest = [todo for _, _, todo in sorted(kept, key=lambda each: each[:2], reverse=True)]
    why = f"commitments kept in the last {policy.win_hours} hours"
    return _Draft(name="recent_wins", why=why, parts=[_items(newest[: policy.wins])])


def _user_seed(given: ContextInput, policy: ContextPolicy) -> _Draft:
    seed = within_line((given.user.seed or "").strip()[: policy.seed_chars])
    why = "what an operator wrote of the user"
    return _Draft(name="user_seed", why=why, parts=[_Part(lines=[f"- {seed}"] if seed else [])])


def _spine(given: ContextInput, policy: CompanionPolicy) -> _Draft:
    """The long summary, of whose todos a persona sees its own only."""
    if given.spine is None or not given.persona.enable_spine:
        return _Draft(name="spine", why="")
    sections, persona = given.spine.sections, given.persona.slug
    text = spine_text(sections, persona=persona, policy=policy.summaries)
    seen = spine_of(sections, persona, policy.summaries)
    part = _Part(
        lines=[text[: policy.context.spine_chars]] if text else [],
        uids=[line.uid for lines in seen.values() for line in lines],
    )
    return _Draft(name="spine", why=f"version {given.spine.version}", parts=[part])


def _current_summary(given: ContextInput, policy: ContextPolicy) -> _Draft:
    """The rolling summary, which lasts across sessions (trap 39)."""
    rolling = (given.state.rolling_summary or "") if given.state else ""
    lines = [within_line(line) for line in rolling[: policy.rolling_chars].splitlines()]
    part = _Part(
        lines=[f"- {line}" for line in lines if line],
        uids=[given.session.uid] if given.session else (),
    )
    return _Draft(name="session_summary_current", why="the rolling summary", parts=[part])


def _latest_summary(given: ContextInput, policy: CompanionPolicy) -> _Draft:
    name, why = "session_summary_latest", _beginning(given, policy)
    summary = given.latest_summary
    if summary is None or why is None:
        return _Draft(name=name, why="")
    ended = [f"Ended: {_iso(given.latest_ended_at)}"] if given.latest_ended_at else []
    lines = [*ended, display(summary.text, policy.context)]
    part = _Part(lines=lines, uids=[summary.session], goes=_Goes.SESSION_SUMMARY)
    return _Draft(name=name, why=why, parts=[part])


def _beginning(given: ContextInput, policy: CompanionPolicy) -> str | None:
    """Why a message begins anew; None where it goes on with a session."""
    minutes = policy.summaries.session_minutes
    session = given.session
    said = [each.at for each in given.recent if session and each.at >= session.started_at]
    if not said:
        return "a session begins"
    is_gap = given.now - max(said) > timedelta(minutes=minutes)
    return f"a gap of more than {minutes} minutes" if is_gap else None


def _recent_messages(given: ContextInput, policy: ContextPolicy) -> _Draft:
    last = given.recent[max(0, len(given.recent) - policy.messages) :]
    lines = [
        f"{'User' if said.is_user else 'Assistant'}: "
        + within_line(said.content[: policy.message_chars])
        for said in last
    ]
    part = _Part(lines=lines, uids=[said.uid for said in last])
    return _Draft(name="recent_messages", why="the last ones, oldest first", parts=[part])


def _user_message(given: ContextInput) -> _Draft:
    message = within_line(given.message)
    part = _Part(lines=[f"User: {message}"] if message else [])
    return _Draft(name="user_message", why="what is to be answered", parts=[part])


def _facts(facts: Sequence[Fact], *, goes: _Goes = _Goes.NEVER) -> _Part:
    return _Part(lines=[line_of(fact) for fact in facts], uids=[f.uid for f in facts], goes=goes)


def _items(todos: Sequence[Todo], *, goes: _Goes = _Goes.NEVER) -> _Part:
    lines = [f"- {within_line(todo.content)}" for todo in todos]
    return _Part(lines=lines, uids=[todo.uid for todo in todos], goes=goes)


def _iso(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
