"""Scoring: which semantic items a recall takes, by integers alone (004, recall). Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graphmem.model.governance import Item
from graphmem.text.dedup_keys import normalised

CONTAINED, SHARED = 2, 1  # similarity: the whole query stands in a text, or a word of it
_RECENCY = ((2, 2), (5, 1))  # age at most, score
_IMPORTANCE = ((4, 2), (2, 1))  # importance at least, score


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is asked for, as texts are compared: normalised, and its words."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Query":
        """The query of an input."""
        said = normalised(text)
        return cls(text=said, words=frozenset(said.split()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """An item with its score and the reasons for it."""

    item: Item
    score: int
    reasons: tuple[str, ...]


def similarity(query: Query, text: str) -> int:
    """How much a text has of a query: 2 all of it, 1 a word, 0 nothing."""
    said = normalised(text)
    if query.text and query.text in said:
        return CONTAINED
    return SHARED if not query.words.isdisjoint(said.split()) else 0


def recency_score(age: int) -> int:
    """What an age, counted from the newest candidate, adds."""
    return next((score for most, score in _RECENCY if age <= most), 0)


def importance_score(importance: int) -> int:
    """What an importance adds."""
    return next((score for least, score in _IMPORTANCE if importance >= least), 0)


def scored(items: Collection[Item], query: Query, newest: int) -> list[Scored]:
    """Items with their scores, the best first; ``newest`` is the mark of the newest candidate."""
    found = (_scored(item, query, newest) for item in items)
    return sorted(found, key=lambda each: (-each.score, -each.item.created_at, each.item.id))


def best(phases: Iterable[Sequence[Item]], query: Query, *, most: int) -> list[Scored]:
    """The best of the items of phases, which come first to last: first by phase, then by score."""
    by_phase = [list(items) for items in phases]
    newest = max((item.mark for items in by_phase for item in items), default=0)
    ordered = [each for items in by_phase for each in scored(items, query, newest)]
    return ordered[:most]


def _scored(item: Item, query: Query, newest: int) -> Scored:
    parts = {
        "matches_query": similarity(query, item.text),
        "recency": recency_score(newest - item.mark),
        "importance": importance_score(item.importance),
    }
    reasons = tuple(name for name, score in parts.items() if score)
    return Scored(item=item, score=sum(parts.values()), reasons=reasons or ("active_rule",))
