"""Rule judge: what the present message says, by its wording and without any model. Pure.

Each clause gives at most one memory and one loop. The window is read for whom ``he`` and ``she``
mean. The wording stands in ``wording.toml``; its patterns match in linear time.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.companion.clauses import clauses_of, plain, sentences_of
from graphmem.companion.judge import Judged, JudgedLoop, JudgedMemory
from graphmem.companion.judge_entities import (
    About,
    about,
    is_closest,
    own_name,
    refs_and_label,
    relative_said,
    speaks_of_relative,
)
from graphmem.companion.loop_keys import loop_key
from graphmem.model.companion import EntityKind, FactKind, FactType, Message, TodoKind
from graphmem.text.confidence import confidence_of
from graphmem.text.wording import pattern, wording

_PACKAGE = "graphmem.companion"
_WORDS_MIN = 3
_PRONOUN = re.compile(r"(?P<pronoun>he|she)\b", re.IGNORECASE)
_TALK = ("question", "greeting", "order")
_LOOPS = (
    ("promise", TodoKind.COMMITMENT),
    ("remind", TodoKind.COMMITMENT),
    ("open", TodoKind.THREAD),
    ("bound", TodoKind.COMMITMENT),
    ("friction", TodoKind.FRICTION),
)
_KEY, _DETAIL, _GENERAL = "key", "detail", "general"
_NAME, _ROLE, _PLACE = "name", "role", "place"
_PREFERENCE, _HABIT, _RELATIONSHIP = "preference", "habit", "relationship"
_SECTIONS = {FactKind.PEOPLE: "people", FactKind.PROJECT: "project", FactKind.PROFILE: "profile"}
_ASPECTS = {
    FactKind.PEOPLE: (_RELATIONSHIP, _PREFERENCE, "fact"),
    FactKind.PROJECT: (_KEY, _DETAIL),
    FactKind.PROFILE: (_NAME, _ROLE, _PLACE, _RELATIONSHIP, _PREFERENCE, _HABIT, "trait"),
}
_STANDING = {_RELATIONSHIP, _KEY, _NAME, _ROLE, _PLACE}  # what is kept beside a loop too
_UNMOVED = {_RELATIONSHIP, _NAME}  # what is kept however passing the rest of it is
_CRITICAL, _SIGNIFICANT, _STANDARD = 3, 2, 1


_NEVER_GENERAL = frozenset(wording(_PACKAGE, "general")["never"].split())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Statement:
    """What kind of memory a clause is, and what of it is said."""

    kind: FactKind
    aspect: str
    start: int


def read(present: Message, window: Sequence[Message], *, personas: Sequence[str]) -> Judged:
    """What the present message says; ``personas`` are names and slugs of who may be spoken to."""
    before = [each.content for each in window if each.uid != present.uid]
    memories: dict[tuple[str, str], JudgedMemory] = {}
    loops: dict[tuple[str, str], JudgedLoop] = {}
    for sentence in sentences_of(present.content):
        for clause in _telling(sentence):
            meant = _with_relative(clause, before)
            for memory in _memories(meant, personas):
                memories.setdefault((memory.type, memory.content), memory)
            for loop in _loops(clause):
                loops.setdefault((loop.kind, loop.content), loop)
        before.append(sentence)
    return Judged(memories=tuple(memories.values()), loops=tuple(loops.values()))


def _telling(sentence: str) -> Sequence[str]:
    """The clauses of a sentence where two or more say something, else the sentence."""
    clauses = clauses_of(sentence)
    telling = [each for each in clauses if _loop_kind(plain(each)) or _statement(plain(each))]
    return telling if len(telling) > 1 else (sentence,)


def _with_relative(clause: str, before: Sequence[str]) -> str:
    """A clause that names whom ``he`` or ``she`` means, where somebody was spoken of before."""
    said = plain(clause)
    match = _PRONOUN.match(said)
    if not match:
        return clause
    found = (relative_said(text, match["pronoun"]) for text in reversed(before))
    phrase = next((each for each in found if each), None)
    return f"{phrase[:1].upper()}{phrase[1:]}{said[match.end() :]}" if phrase else clause


def _loops(clause: str) -> Iterator[JudgedLoop]:
    said = plain(clause)
    if kind := _loop_kind(said):
        yield JudgedLoop(kind=kind, content=clause, dedupe_key=loop_key(kind, said))


def _loop_kind(said: str) -> TodoKind | None:
    """What kind of open loop a clause is, if any."""
    if _is_talk(said):
        return None
    is_again = _is_routine(said)
    if _says("loops", "rule", said) or (is_again and _says("loops", "intent", said)):
        return TodoKind.HABIT
    kind = _first_kind(said) or _last_kind(said)
    if kind is not TodoKind.COMMITMENT:
        return kind
    if is_again:
        return TodoKind.HABIT
    return TodoKind.THREAD if _is_unsettled(said) else kind


def _first_kind(said: str) -> TodoKind | None:
    """The kind of the first thing that a clause says, without what only passes."""
    is_passing = _says("talk", "passing", said)
    is_momentary = _says("talk", "moment", said) and not _says("loops", "over", said)
    found = [
        (match.start(), place, kind)
        for place, (name, kind) in enumerate(_LOOPS)
        if (match := _says("loops", name, said))
        and not (is_momentary if kind is TodoKind.FRICTION else is_passing)
    ]
    return min(found)[2] if found else None


def _last_kind(said: str) -> TodoKind | None:
    """The kind of a routine, or of a mere wish, where a clause says nothing firmer."""
    if _is_routine(said) and not _says("loops", "fond", said):
        return TodoKind.HABIT
    is_wish = _says("loops", "wish", said) and not _says("talk", "passing", said)
    return TodoKind.THREAD if is_wish else None


def _is_routine(said: str) -> bool:
    """Whether the user does something again and again."""
    is_own = _says("loops", "again", said) and _says("loops", "own", said)
    return bool(is_own) and not _says("loops", "dull", said)


def _is_unsettled(said: str) -> bool:
    """Whether it is still open what will be done, and no time is set for it."""
    return bool(_says("loops", "unsettled", said)) and not _says("loops", "when", said)


def _memories(clause: str, personas: Sequence[str]) -> Iterator[JudgedMemory]:
    said = plain(clause)
    statement = _statement(said)
    if statement is None:
        return
    found = about(statement.kind, said, personas)
    if statement.aspect == _NAME:
        name = own_name(said)
        if name is None or name.lower() in {each.lower() for each in personas}:
            return
        found = (About(kind=EntityKind.PERSON, name=name),)
    refs, label = refs_and_label(found)
    yield JudgedMemory(
        type=statement.kind,
        content=clause,
        subtype={
            "entityType": found[0].kind if found else None,
            "factType": _fact_type(statement.aspect),
        },
        entity_refs=refs,
        entity_label=label,
        importance=_importance(statement, said, found),
        confidence=confidence_of(clause),
    )


def _statement(said: str) -> _Statement | None:
    """What a clause states that is worth keeping; the first thing that it says decides."""
    if _is_talk(said):
        return None
    kind = _loop_kind(said)
    found = [each for each in _statements(said) if kind is None or _stands_beside(kind, each)]
    if _says("talk", "passing", said):
        found = [each for each in found if each.aspect in _UNMOVED]
    if _says("talk", "moment", said):
        found = [each for each in found if each.aspect in _STANDING]
    first = min(found, key=lambda each: each.start, default=None)
    is_routine = kind is TodoKind.HABIT and not _says("loops", "intent", said)
    if first is None and is_routine and not _says("loops", "rule", said):
        return _Statement(kind=FactKind.PROFILE, aspect=_HABIT, start=0)
    return first


def _statements(said: str) -> Iterator[_Statement]:
    """What a clause says of people, projects and the user, the main aspect of each."""
    for kind, section in _SECTIONS.items():
        is_passing = _says(section, "passing", said)
        for aspect in _ASPECTS[kind]:
            match = _says(section, aspect, said)
            is_dull = aspect == _HABIT and _says("loops", "dull", said)
            if match and not is_dull and not (is_passing and aspect not in _UNMOVED):
                yield _Statement(kind=kind, aspect=aspect, start=match.start())
                break
    if _is_general(said):
        yield _Statement(kind=FactKind.PROFILE, aspect=_GENERAL, start=len(said))
    is_more = any(_says("profile", aspect, said) for aspect in (_NAME, _ROLE, _PLACE))
    if own_name(said) and not is_more:
        yield _Statement(kind=FactKind.PROFILE, aspect=_NAME, start=0)


def _is_general(said: str) -> bool:
    """Whether a clause tells in a plain present what the user does or has in general."""
    match = _says("general", "verb", said)
    verb = match["verb"].lower() if match else "was"
    is_past = verb.endswith("ed") and not verb.endswith("eed")
    is_owned = _says("general", "owned", said) and not speaks_of_relative(said)
    return bool(is_owned) or (not is_past and verb not in _NEVER_GENERAL)


def _stands_beside(kind: TodoKind, statement: _Statement) -> bool:
    """Whether a memory is kept of a clause that is an open loop."""
    is_habit = kind is TodoKind.HABIT and statement.kind is FactKind.PROFILE
    return statement.aspect in _STANDING and not is_habit


def _fact_type(aspect: str) -> FactType:
    types = {_PREFERENCE: FactType.PREFERENCE, _HABIT: FactType.HABIT}
    return types.get(aspect, FactType.RELATIONSHIP if aspect == _RELATIONSHIP else FactType.FACT)


def _importance(statement: _Statement, said: str, found: Sequence[About]) -> int:
    """3 for name, role and closest relationships, 2 for others, places and key facts, else 1."""
    is_close = statement.aspect == _RELATIONSHIP and is_closest(said)
    if is_close or statement.aspect in {_NAME, _ROLE}:
        return _CRITICAL
    is_placed = any(each.kind is EntityKind.PLACE for each in found)
    is_key = statement.aspect in {_RELATIONSHIP, _KEY, _PLACE}
    return _SIGNIFICANT if is_key or is_placed else _STANDARD


def _is_talk(said: str) -> bool:
    """Whether a clause asks, greets, thanks or orders; what is to be remembered is no question."""
    if _says("loops", "remind", said):
        return False
    return len(said.split()) < _WORDS_MIN or any(_says("talk", name, said) for name in _TALK)


def _says(section: str, name: str, said: str) -> Any:  # noqa: ANN401 - re2 has no types
    """Where a clause is worded like one of a list of wordings."""
    return pattern(_PACKAGE, section, name).search(said)
