"""Expansion: the rarest words of a cue as further cues, and what all of them find in one order.

003, Configuration (queryExpansionEnabled). Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.recall.candidates import Scored, in_total_order
from graphmem.text.analysis import STOP_WORDS, stem, words

_WORDS_MAX = 24  # of a cue that are counted


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion:
    """How a cue is expanded: into at most so many cues, of words of at least so many letters."""

    cues: int
    letters: int


def words_to_count(cue: str, expansion: Expansion) -> tuple[str, ...]:
    """The distinct words of a cue that may be rare, in their order; none of a cue of one word."""
    found: dict[str, str] = {}
    for word in words(cue):
        if len(word) >= expansion.letters and word not in STOP_WORDS:
            found.setdefault(stem(word), word)
    distinct = tuple(found.values())
    return distinct[:_WORDS_MAX] if len(distinct) > 1 else ()


def rarest(counts: Mapping[str, int], expansion: Expansion) -> tuple[str, ...]:
    """The words that fewest memories have, and which are there at all; the cue itself is one more.

    ``counts`` are how many memories have each word, in the order of the words.
    """
    known = [word for word, count in counts.items() if count]
    rare_first = sorted(known, key=lambda word: counts[word])
    return tuple(rare_first[: max(expansion.cues - 1, 0)])


def fused_cues(
    cue: Sequence[Scored], by_word: Sequence[Sequence[Scored]], *, k: int
) -> list[Scored]:
    """The candidates of a cue and of its words in one order, by reciprocal ranks from 0 to 1.

    The cue counts as much as all of its words together. 1 would be the first of every list. Where
    there are no words, the candidates of the cue stay as they are.
    """
    if not by_word:
        return list(cue)
    share = 0.5 / len(by_word)
    parts: dict[str, dict[str, float]] = {}
    scored: dict[str, Scored] = {}
    lists = [("cue", 0.5, cue), *(("words", share, each) for each in by_word)]
    for name, weight, ranked in lists:
        for rank, each in enumerate(ranked, start=1):
            scored.setdefault(each.candidate.key, each)
            part = parts.setdefault(each.candidate.key, {"cue": 0.0, "words": 0.0})
            part[name] += weight * (k + 1) / (k + rank)
    return in_total_order(
        [
            replace(scored[key], score=sum(part.values()), factors={**scored[key].factors, **part})
            for key, part in parts.items()
        ]
    )
