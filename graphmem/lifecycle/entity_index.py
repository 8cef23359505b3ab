"""Entity index: what a space knows most of, best first, in a few lines (003). Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from graphmem.lifecycle.entity_matching import own_type
from graphmem.model.notebook import KnownEntity, NotebookLine
from graphmem.text.normalise import one_line, shorten

INDEX_KEPT_SECONDS = 600  # at most, before it is made again
_DAY_SECONDS = 86_400
_CONTENT_MAX_CHARS = 120
_TYPES: Mapping[str, float] = {
    "person": 1.0,
    "project": 0.8,
    "company": 0.7,
    "tool": 0.6,
    "place": 0.5,
}
_OTHER_TYPE = 0.3
_FACTS, _ACTIVITIES, _RELATIONS, _WEEK_DAYS = 20, 10, 8, 7


def entity_score(type_: str, *, days: float, facts: int, activities: int, relations: int) -> float:
    """How much an entity matters, 0 to 1, by its type of 003 and days since it changed."""
    return (
        0.40 / (1 + days / _WEEK_DAYS)
        + 0.25 * min(facts / _FACTS, 1)
        + 0.15 * min(activities / _ACTIVITIES, 1)
        + 0.10 * _TYPES.get(type_, _OTHER_TYPE)
        + 0.10 * min(relations / _RELATIONS, 1)
    )


def ranked(entities: Iterable[KnownEntity], now: datetime) -> list[KnownEntity]:
    """Entities by their scores, best first; of equal ones by key."""
    return sorted(entities, key=lambda each: (-_score(each, now), each.key))


def _score(entity: KnownEntity, now: datetime) -> float:
    days = max(0.0, (now - entity.last_at).total_seconds() / _DAY_SECONDS)
    return entity_score(
        own_type(entity.key),
        days=days,
        facts=entity.facts,
        activities=entity.activities,
        relations=entity.relations,
    )


def index_lines(
    entities: Iterable[KnownEntity], now: datetime, *, most: int, characters: int
) -> Iterator[NotebookLine]:
    """The lines of an index: the best entities, at most so many, whole lines within a length."""
    left = characters
    for entity in ranked(entities, now)[:most]:
        line = _line(entity)
        if len(line.text) > left:
            return
        left -= len(line.text) + 1  # its line end
        yield line


def _line(entity: KnownEntity) -> NotebookLine:
    facts = "1 fact" if entity.facts == 1 else f"{entity.facts} facts"
    told = shorten(one_line(entity.content), _CONTENT_MAX_CHARS)
    text = f"{one_line(entity.label)} ({own_type(entity.key)}, {facts}): {told}"
    return NotebookLine(text=text, uids=(entity.memory,))
