"""Filters: what of a judgement is kept, in its normal form (001, Shadow Judge). Pure.

Rules and a model go through the same filters, in this order; each drop has a stable code.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import regex

from graphmem.companion.entity_refs import importance_of, label_of, refs_of, subtype_of
from graphmem.companion.judge import Judged, JudgedLoop, JudgedMemory, normalised_content
from graphmem.companion.loop_keys import key_of, signature_by_content
from graphmem.model.companion import FactKind, Message, NewFact, NewTodo, TodoKind
from graphmem.model.policy.companion import JudgePolicy
from graphmem.text.instructions import is_instruction_like
from graphmem.text.normalise import is_storable, nfc, one_line, shorten, shows_something

CONTENT_MAX_CHARS = 400
_OPEN_LOOP = "OPEN_LOOP"  # a type of old, which is known and never kept
_TYPES = frozenset({*FactKind, _OPEN_LOOP})
_PERSONAS = frozenset({"sophie", "isabella", "william", "alexander"})
_NOISE = (
    "testing",
    "frustrat",
    "grateful",
    "supportive",
    "assistant",
    "conversation",
    "ready to help",
)
_RELATIONS = (
    "mom|mother|dad|father|parent|sister|brother|wife|husband|partner|girl-?friend|boy-?friend"
    "|fianc[eé]e?|spouse|friend|co[ -]?founder|colleague|teammate|manager|boss|client|mentor"
)
_HEDGED = "maybe|might|could|wish|hope|if i|if we"
_BOUND = (  # by a time, or by an explicit will
    r"today|tonight|tomorrow|before|by|end of (?:the )?day|at \d{1,2}(?::\d\d)? ?[ap]\.?m\.?"
    r"|i will|(?:i'm|i am) going to|i'll"
)


def _whole_words(alternatives: str) -> regex.Pattern[str]:
    """Whole words in any letter case."""
    return regex.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", regex.IGNORECASE)


_RELATION = _whole_words(f"(?:{_RELATIONS})s?")
_MY, _POSSESSIVE = _whole_words("my"), _whole_words("my|our")
_HEDGE, _BINDING = _whole_words(_HEDGED), _whole_words(_BOUND)


class DropReason(StrEnum):
    """Why something is not kept."""

    UNKNOWN_TYPE = "unknown_type"
    OVER_LIMIT = "over_limit"
    NOISE = "noise"
    OPEN_LOOP = "open_loop"
    PERSONA_NAME = "persona_name"
    NO_RELATIONSHIP_WORD = "no_relationship_word"
    NO_POSSESSIVE = "no_possessive"
    BLANK = "blank"
    INSTRUCTION_LIKE = "instruction_like"
    KNOWN_LOOP = "known_loop"
    SAME_LOOP = "same_loop"
    SCREENED = "screened"  # the policy refuses what it says
    INVALID = "invalid"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drop:
    """What is not kept: a memory or a loop, of which kind, and why."""

    reason: DropReason
    what: str
    kind: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Filtered:
    """What is kept of a judgement, and what is not."""

    memories: tuple[NewFact, ...] = ()
    todos: tuple[NewTodo, ...] = ()
    dropped: tuple[Drop, ...] = ()


def filtered(
    judged: Judged,
    window: Sequence[Message],
    *,
    personas: Sequence[str],
    pending: Collection[tuple[TodoKind, str]],
    overrides: Mapping[str, str],
    policy: JudgePolicy,
) -> Filtered:
    """What is kept of a judgement.

    ``personas`` are names and slugs, ``pending`` the kinds and signatures of todos that wait,
    ``overrides`` what variants of entity refs mean.
    """
    drops: list[Drop] = []
    names = _PERSONAS | {normalised_content(each) for each in personas}
    is_related = any(_names_a_relation(each.content, policy.near_chars) for each in window)
    memories = [replace(each, type=_type(each.type)) for each in judged.memories]
    facts: list[NewFact] = []
    for memory, place in zip(memories, _places(memories), strict=True):
        reason = (
            _type_problem(memory, place, policy.memories)
            or _noise_problem(memory)
            or _persona_problem(memory, names)
            or _people_problem(memory, is_related=is_related)
            or _content_problem(memory.content)
        )
        if reason:
            drops.append(Drop(reason=reason, what="memory", kind=memory.type))
        else:
            facts.append(_fact(memory, overrides))
    todos: list[NewTodo] = []
    for place, loop in enumerate(judged.loops):
        todo = _todo(loop)
        reason = (
            (DropReason.OVER_LIMIT if place >= policy.loops else None)
            or _content_problem(loop.content)
            or _repeat_problem(todo, todos, pending)
        )
        if reason:
            drops.append(Drop(reason=reason, what="loop", kind=todo.kind))
        else:
            todos.append(todo)
    return Filtered(memories=tuple(facts), todos=tuple(todos), dropped=tuple(drops))


def _type(text: str) -> str:
    return text.partition("|")[0].strip().upper()


def _places(memories: Iterable[JudgedMemory]) -> Iterator[int]:
    """The number of each memory among those of a known type, which alone count for the cap."""
    place = -1
    for memory in memories:
        place += memory.type in _TYPES
        yield place


def _type_problem(memory: JudgedMemory, place: int, most: int) -> DropReason | None:
    if memory.type not in _TYPES:
        return DropReason.UNKNOWN_TYPE
    return DropReason.OVER_LIMIT if place >= most else None


def _noise_problem(memory: JudgedMemory) -> DropReason | None:
    """Talk about the talk itself, and what once was a type of its own."""
    content = memory.content.lower()
    if any(noise in content for noise in _NOISE):
        return DropReason.NOISE
    return DropReason.OPEN_LOOP if memory.type == _OPEN_LOOP else None


def _persona_problem(memory: JudgedMemory, names: Collection[str]) -> DropReason | None:
    is_name = memory.type == FactKind.PROFILE and normalised_content(memory.content) in names
    return DropReason.PERSONA_NAME if is_name else None


def _people_problem(memory: JudgedMemory, *, is_related: bool) -> DropReason | None:
    """Nobody is kept of whom no relationship is stated, in the memory and by the user."""
    if memory.type != FactKind.PEOPLE:
        return None
    content = nfc(memory.content)
    if not (_RELATION.search(content) or _MY.search(content)):
        return DropReason.NO_RELATIONSHIP_WORD
    return None if is_related else DropReason.NO_POSSESSIVE


def _names_a_relation(text: str, near_chars: int) -> bool:
    """Whether my or our stands before a word of relationship, and near it."""
    text = nfc(text)
    words = [match.start() for match in _RELATION.finditer(text)]
    for owned in _POSSESSIVE.finditer(text):
        first = bisect_left(words, owned.end())
        if first < len(words) and words[first] - owned.end() <= near_chars:
            return True
    return False


def _content_problem(content: str) -> DropReason | None:
    if not is_storable(content) or not shows_something(content):
        return DropReason.BLANK
    return DropReason.INSTRUCTION_LIKE if is_instruction_like(content) else None


def _fact(memory: JudgedMemory, overrides: Mapping[str, str]) -> NewFact:
    return NewFact(
        kind=FactKind(memory.type),
        content=_content(memory.content),
        subtype=subtype_of(memory.subtype),
        entity_refs=refs_of(memory.entity_refs, overrides),
        entity_label=label_of(memory.entity_label),
        importance=importance_of(memory.importance),
        confidence=memory.confidence,
    )


def _content(text: str) -> str:
    return shorten(one_line(text), CONTENT_MAX_CHARS)


def _todo(loop: JudgedLoop) -> NewTodo:
    """A loop in its normal form; its signature says the same of a paraphrase."""
    content, key = _content(loop.content), key_of(loop.dedupe_key)
    return NewTodo(
        kind=_kind(loop),
        content=content,
        dedupe_key=key or None,
        signature=key or signature_by_content(content),
    )


def _kind(loop: JudgedLoop) -> TodoKind:
    """The kind of a loop; what is unknown or only half meant is a thread."""
    kind = loop.kind.strip().upper()
    if kind not in set(TodoKind):
        return TodoKind.THREAD
    content = loop.content.replace("\u2019", "'")
    is_half_meant = _HEDGE.search(content) and not _BINDING.search(content)
    is_thread = kind == TodoKind.COMMITMENT and is_half_meant
    return TodoKind.THREAD if is_thread else TodoKind(kind)


def _repeat_problem(
    todo: NewTodo, todos: Iterable[NewTodo], pending: Collection[tuple[TodoKind, str]]
) -> DropReason | None:
    if (todo.kind, todo.signature) in pending:
        return DropReason.KNOWN_LOOP
    is_same = any((todo.kind, todo.signature) == (each.kind, each.signature) for each in todos)
    return DropReason.SAME_LOOP if is_same else None
