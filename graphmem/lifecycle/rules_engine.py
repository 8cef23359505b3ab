"""Rules engine: what users say in some turns, by its wording and without any model. Pure.

Each sentence of a user that fits a category is a statement of its own turn; who said it is kept.
What assistants say never becomes a fact of a user.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import regex

from graphmem.lifecycle.categories import category_of
from graphmem.model.conversation import TurnRole
from graphmem.model.extraction import (
    Category,
    EngineName,
    Findings,
    Heard,
    Named,
    Relationship,
    Statement,
)
from graphmem.text.confidence import confidence_of
from graphmem.text.named_things import OTHER, names_in, relationships_in
from graphmem.text.sentences import sentences

_SENTENCES_MAX = 200  # of one turn
_TAG = regex.compile(r"(?<!\w)#([\p{L}\p{N}_-]{2,40})")
CORRECTION_TAG = "correction"  # which archival spares


def read(turns: Sequence[Heard], known: Mapping[str, str], *, joins: bool = False) -> Findings:
    """What the users of some turns state; ``known`` are kinds of entities by their names.

    With ``joins`` sentences of one category behind each other are one statement.
    """
    statements: list[Statement] = []
    relationships: list[Relationship] = []
    for turn in turns:
        if turn.role is TurnRole.USER:
            for sentence, category in _telling(turn.content, joins=joins):
                number = len(statements)
                places = names_in(sentence, known)
                statements.append(_statement(turn, sentence, category, [p.named for p in places]))
                relationships += relationships_in(sentence, places, turn.actor, number)
    named = [*_ends(relationships), *(each for one in statements for each in one.entities)]
    types = _types(named)
    return Findings(
        engine=EngineName.RULES,
        statements=tuple(_typed_statement(each, types) for each in statements),
        entities=_typed(named, types),
        relationships=tuple(
            replace(each, source=types[each.source.name], target=types[each.target.name])
            for each in relationships
        ),
    )


def _types(named: Sequence[Named]) -> dict[str, Named]:
    """One kind for each name: the first that is told, which verbs tell best."""
    found: dict[str, Named] = {}
    for each in named:
        if found.get(each.name, each).type in {OTHER, each.type}:
            found[each.name] = each
    return found


def _typed(named: Sequence[Named], types: Mapping[str, Named]) -> tuple[Named, ...]:
    return tuple(dict.fromkeys(types[each.name] for each in named))


def _typed_statement(statement: Statement, types: Mapping[str, Named]) -> Statement:
    return replace(statement, entities=_typed(statement.entities, types))


def _telling(content: str, *, joins: bool) -> Iterator[tuple[str, Category]]:
    """The sentences of a text that are worth keeping, each with its category."""
    said = sentences(content, limit=_SENTENCES_MAX) or (content.strip(),)
    found = ((sentence, category_of(sentence)) for sentence in said)
    if not joins:
        yield from ((sentence, category) for sentence, category in found if category)
        return
    for category, group in groupby(found, key=itemgetter(1)):
        if category:
            yield " ".join(sentence for sentence, _ in group), category


def _statement(turn: Heard, sentence: str, category: Category, named: Sequence[Named]) -> Statement:
    tags = [tag.lower() for tag in _TAG.findall(sentence)]
    return Statement(
        category=category,
        content=sentence,
        confidence=confidence_of(sentence),
        tags=tuple(dict.fromkeys(tags)),
        turns=(turn.uid,),
        entities=tuple(dict.fromkeys(named)),
    )


def _ends(relationships: Sequence[Relationship]) -> Iterator[Named]:
    for each in relationships:
        yield from (each.source, each.target)
