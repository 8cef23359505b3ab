"""Caps: what of the findings of an engine is kept, and how much (003, Extraction result). Pure.

Rules and a model go through the same caps and filters; what is left out is said by stable codes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from graphmem.lifecycle.importance import Importance, importance_of, keywords
from graphmem.lifecycle.rules_engine import CORRECTION_TAG
from graphmem.model.extraction import (
    Category,
    Findings,
    Named,
    Question,
    Refusal,
    Relationship,
    Statement,
)
from graphmem.text.instructions import is_instruction_like
from graphmem.text.normalise import is_storable, one_line, shows_something, with_layout

FACTS_MAX, ENTITIES_MAX, RELATIONSHIPS_MAX = 12, 6, 5
QUESTIONS_MAX, PROFILE_UPDATES_MAX = 3, 4
CONFIDENCE = 0.7  # of a fact that comes without one
PLACEHOLDER = "[removed: it read like an instruction]"
INSTRUCTION_LIKE, BLANK = "instruction_like", "blank"
_TEXT_MAX_CHARS = 1_000  # of a profile update, question or reflection
_TAGS_MAX, _TAG_MAX_CHARS = 16, 64
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A statement that is to be kept, with how much it matters; ``refusal`` says why it is not."""

    category: Category
    content: str
    confidence: float
    importance: Importance
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    turns: tuple[str, ...]
    entities: tuple[Named, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sifted:
    """What is left of findings. Relationships name facts by their numbers."""

    facts: tuple[Fact, ...] = ()
    entities: tuple[Named, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    profile_updates: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    reflection: str | None = None
    refused: tuple[Refusal, ...] = ()
    degraded: tuple[str, ...] = ()


def sifted(findings: Findings) -> Sifted:
    """Findings without what is blank or gives orders, within the caps.

    Of more facts than the cap the most important stay, in the order in which they were said.
    """
    facts = [_fact(each) for each in findings.statements]
    kept = _most_important(facts)
    place = {number: at for at, number in enumerate(kept)}
    relationships = [_placed(each, place) for each in findings.relationships]
    stand = [each for each in dict.fromkeys(relationships) if each is not None]
    shown = _within(stand[:RELATIONSHIPS_MAX], ENTITIES_MAX)
    entities = _of_what_is_kept(findings, [facts[number] for number in kept], shown)
    named = frozenset(entities[:ENTITIES_MAX])
    profile = list(_texts(findings.profile_updates))
    questions = [each for each in findings.questions if list(_texts((each.question, each.context)))]
    over = {
        "facts": _over([fact for fact in facts if fact.refusal != BLANK], FACTS_MAX),
        "entities": _over(entities, ENTITIES_MAX),
        "relationships": _over(stand, len(shown)),
        "profile_updates": _over(profile, PROFILE_UPDATES_MAX),
        "questions": _over(questions, QUESTIONS_MAX),
    }
    return Sifted(
        facts=tuple(_naming(facts[number], named) for number in kept),
        entities=tuple(entities[:ENTITIES_MAX]),
        relationships=tuple(shown),
        profile_updates=tuple(profile[:PROFILE_UPDATES_MAX]),
        questions=tuple(_shortened(each) for each in questions[:QUESTIONS_MAX]),
        reflection=next(_texts((findings.reflection or "",)), None),
        refused=(*findings.refused, *_refusals(facts)),
        degraded=(
            *findings.degraded,
            *(f"{name}_over_limit: {count}" for name, count in over.items() if count),
        ),
    )


def _fact(statement: Statement) -> Fact:
    content = with_layout(statement.content) if is_storable(statement.content) else ""
    refusal = None
    if not shows_something(content):
        refusal, content = BLANK, ""
    elif is_instruction_like(content):
        refusal, content = INSTRUCTION_LIKE, PLACEHOLDER
    own = (CORRECTION_TAG,) if statement.category is Category.CORRECTION else ()
    short = (tag for tag in statement.tags if len(tag) <= _TAG_MAX_CHARS)
    tags = tuple(dict.fromkeys((*own, *short)))[:_TAGS_MAX]
    given = statement.confidence
    return Fact(
        category=statement.category,
        content=content,
        confidence=CONFIDENCE if given is None else min(1.0, max(0.0, given)),
        importance=importance_of(content, statement.category, statement.tags),
        keywords=keywords(content),
        tags=tags,
        turns=statement.turns,
        entities=statement.entities,
        refusal=refusal,
    )


def _most_important(facts: Sequence[Fact]) -> list[int]:
    """The numbers of at most twelve facts, in their order; what says nothing is none."""
    numbers = [number for number, fact in enumerate(facts) if fact.refusal != BLANK]
    by_weight = sorted(numbers, key=lambda number: -facts[number].importance.score)
    return sorted(by_weight[:FACTS_MAX])


def _naming(fact: Fact, named: frozenset[Named]) -> Fact:
    """A fact that mentions no more than the entities that are kept; a refused one mentions none."""
    mentioned = () if fact.refusal else tuple(each for each in fact.entities if each in named)
    return replace(fact, entities=mentioned)


def _within(relationships: Sequence[Relationship], most: int) -> list[Relationship]:
    """The first relationships whose ends are not more than so many."""
    kept: list[Relationship] = []
    ends: set[Named] = set()
    for each in relationships:
        if len(ends | {each.source, each.target}) <= most:
            kept.append(each)
            ends |= {each.source, each.target}
    return kept


def _placed(relationship: Relationship, place: dict[int, int]) -> Relationship | None:
    """A relationship whose fact is kept, under the number that this has now."""
    if relationship.source.name.casefold() == relationship.target.name.casefold():
        return None
    number = None if relationship.statement is None else place.get(relationship.statement)
    return None if number is None else replace(relationship, statement=number)


def _of_what_is_kept(
    findings: Findings, kept: Sequence[Fact], relationships: Sequence[Relationship]
) -> list[Named]:
    """The named things of what is kept: those that stand in a relationship first."""
    stated = {each for one in findings.statements for each in one.entities}
    ends = [each for one in relationships for each in (one.source, one.target)]
    mentioned = [each for one in kept if not one.refusal for each in one.entities]
    alone = [each for each in findings.entities if each not in stated]
    return list(dict.fromkeys((*ends, *mentioned, *alone)))


def _refusals(facts: Iterable[Fact]) -> Iterator[Refusal]:
    for fact in facts:
        if fact.refusal:
            yield Refusal(reason=fact.refusal, turn=fact.turns[0] if fact.turns else None)


def _texts(texts: Iterable[str]) -> Iterator[str]:
    """Texts that may be kept, each on one line."""
    for text in texts:
        line = one_line(text)[:_TEXT_MAX_CHARS] if is_storable(text) else ""
        if line and not is_instruction_like(line):
            yield line


def _shortened(question: Question) -> Question:
    return replace(
        question,
        question=one_line(question.question)[:_TEXT_MAX_CHARS],
        context=one_line(question.context)[:_TEXT_MAX_CHARS],
        priority=min(1.0, max(0.0, question.priority)),
    )


def _over(items: Sequence[object], most: int) -> int:
    return max(0, len(items) - most)
