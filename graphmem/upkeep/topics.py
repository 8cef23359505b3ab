"""Topics: the words that stand out in a space, by TF-IDF (003, Consolidation 11)."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.space import Space
from graphmem.model.upkeep_rows import Topic
from graphmem.store.upkeep import save_topics
from graphmem.text.analysis import STOP_WORDS, stem, words

_LETTERS_MIN = 3
_DOCUMENTS_MIN = 2  # in which a word stands before it is a topic
_MEMORIES = 10  # that a topic leads to


class TopicCounter:
    """Counts the words of memories, one after the other.

    The score of a word is the sum over memories of its share of the memory, times ln(all memories /
    memories with it).
    """

    def __init__(self) -> None:
        self._documents = 0
        self._documents_with: Counter[str] = Counter()
        self._share: dict[str, float] = defaultdict(float)
        self._forms: dict[str, Counter[str]] = defaultdict(Counter)
        self._examples: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def add(self, key: str, text: str) -> None:
        """Count the words of one memory."""
        found: Counter[str] = Counter()
        for word in words(text):
            if (
                len(word) >= _LETTERS_MIN
                and word not in STOP_WORDS
                and not any(char.isdigit() for char in word)
            ):
                term = stem(word)
                found[term] += 1
                self._forms[term][word] += 1
        self._documents += 1
        total = found.total()
        for term, number in found.items():
            share = number / total
            self._documents_with[term] += 1
            self._share[term] += share
            self._keep(term, share, key)

    def top(self, limit: int) -> list[Topic]:
        """The words that stand out most, best first."""
        scored = [
            (round(self._share[term] * math.log(self._documents / number), 6), term)
            for term, number in self._documents_with.items()
            if number >= _DOCUMENTS_MIN
        ]
        best = sorted(
            ((score, term) for score, term in scored if score > 0),
            key=lambda each: (-each[0], each[1]),
        )
        return [
            Topic(
                term=term,
                label=max(sorted(self._forms[term]), key=self._forms[term].__getitem__),
                score=score,
                memories=self._documents_with[term],
                examples=tuple(
                    key
                    for _, key in sorted(self._examples[term], key=lambda each: (-each[0], each[1]))
                ),
            )
            for score, term in best[:limit]
        ]

    def _keep(self, term: str, share: float, key: str) -> None:
        examples = self._examples[term]
        if len(examples) < _MEMORIES:
            heapq.heappush(examples, (share, key))
        else:
            heapq.heappushpop(examples, (share, key))


@dataclass(frozen=True, kw_only=True)
class KeepTopics(Operation[None, int]):
    """Keep the topics of a space instead of those that were kept before; says how many."""

    kind = "topics"

    space: Space
    topics: Sequence[Topic]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that they are of."""
        return (self.space,)

    def read(self, transaction: Workbench) -> None:
        """Nothing: what was counted replaces what was there."""

    def decide(self, state: None, now: datetime) -> Decided[int]:  # noqa: ARG002
        """All of them."""
        return Decided(answer=len(self.topics), records=now)

    def apply(self, transaction: Workbench, decided: Decided[int]) -> None:
        """Write the topics."""
        save_topics(transaction, self.space.key, self.topics, now=decided.records)
