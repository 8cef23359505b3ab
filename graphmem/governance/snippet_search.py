"""Snippet search: what to look for among snippets older than the newest of each class. Pure.

These are not recent, so one is better than the newest only by what it has of the query.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphmem.governance.scoring import CONTAINED, SHARED, Query, Scored, importance_score, scored
from graphmem.model.governance import Item
from graphmem.model.space import Space
from graphmem.store.governance import Snippets, WordSearch, rank_of

_WORD_CHARS = 200  # of a word that is searched; the index cuts longer ones
_WORDS_AT_ONCE = 500  # of one search
_INNER_WORDS = 20  # that narrow a search for a whole query
_ANY = "governed_words:*"

Newest = tuple[Snippets, Sequence[Item]]  # a class with its newest snippets


@dataclass(frozen=True, kw_only=True)
class SnippetSearch:
    """Says what to search, beside the newest snippets of all classes; ``enough`` come back.

    ``known`` last beyond the call, so that they surely come back where they are better; ``present``
    are all that were read, of which the newest is what ages are counted from.
    """

    query: Query
    known: Sequence[Item]
    present: Sequence[Item]
    enough: int

    def of(self, full: Iterable[Newest]) -> Iterator[WordSearch]:
        """The searches in classes that may hold older snippets, by space and phase."""
        if not self.query.text:
            return
        by_phase: dict[tuple[Space, int], list[Newest]] = defaultdict(list)
        for wanted, items in full:
            by_phase[wanted.space, wanted.phase].append((wanted, items))
        for (space, phase), classes in by_phase.items():
            beside = self._scored(space, phase)
            for similarity in (CONTAINED, SHARED):
                open_ones = [
                    each for each in classes if not self._is_decided(each[0], beside, similarity)
                ]
                if open_ones:
                    yield self._search(open_ones, similarity)

    def _search(self, classes: Sequence[Newest], similarity: int) -> WordSearch:
        whole = similarity == CONTAINED
        return WordSearch(
            before_ticks={
                wanted.name: min(item.created_at for item in items) for wanted, items in classes
            },
            lasting=classes[0][0].lasting,
            searches=[_containing(self.query)] if whole else _sharing(self.query),
            contained=self.query.text if whole else "",
        )

    def _scored(self, space: Space, phase: int) -> list[Scored]:
        newest = max((item.mark for item in self.present if item.space == space), default=0)
        beside = [item for item in self.known if item.space == space and item.phase.index == phase]
        return scored(beside, self.query, newest)

    def _is_decided(self, wanted: Snippets, beside: Sequence[Scored], similarity: int) -> bool:
        """Whether enough snippets are better than an older one of a class can be."""
        importance = max(each for each in range(1, 8) if rank_of(each) == wanted.rank)
        bound = similarity + importance_score(importance)
        better = [
            each
            for each in beside
            if each.score > bound
            or (each.score == bound and rank_of(each.item.importance) == wanted.rank)
        ]
        return len(better) >= self.enough


def _containing(query: Query) -> str:
    """A search for what may contain all of a query: its ends may be parts of words."""
    first, *others = query.text.split()
    if not others:
        return f"governed_words:*{first}*" if len(first) <= _WORD_CHARS else _ANY
    *inner, last = others
    narrow = sorted(
        {word for word in inner if len(word) <= _WORD_CHARS}, key=lambda word: (-len(word), word)
    )
    ends = ((first, f"*{first}"), (last, f"{last}*"))
    parts = [text for word, text in ends if len(word) <= _WORD_CHARS]
    words = narrow[:_INNER_WORDS] if narrow else parts
    return " AND ".join(f"governed_words:{word}" for word in words) or _ANY


def _sharing(query: Query) -> list[str]:
    """Searches for what has a word of a query."""
    words = sorted(
        word if len(word) <= _WORD_CHARS else f"{word[:_WORD_CHARS]}*" for word in query.words
    )
    starts = range(0, len(words), _WORDS_AT_ONCE)
    parts = [words[start : start + _WORDS_AT_ONCE] for start in starts]
    return [f"governed_words:({' '.join(part)})" for part in parts]
