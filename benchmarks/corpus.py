"""A corpus to load: distinct texts with vectors, and distinct questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np

from benchmarks import locomo, longmemeval
from graphmem.ports import Embedder

_EMBEDDED = 2_000  # texts with vectors of their own; later ones get these with noise
# a coordinate; the vectors have length 1 and 384 of them, so the angle is about 20 degrees
_NOISE = 0.02
_FRESH = 1_500  # texts that are never loaded, for the measured adds
_SEED = 20_260_301
_SUBJECTS = "Ada Ben Chloe Dev Elif Femi Grace Hugo Ines Jun".split()
_VERBS = "bought repaired painted lost found described sold borrowed cleaned photographed".split()
_THINGS = (
    "a red bicycle,the old piano,a wooden boat,two lamps,her camera,the garden gate,a stone bowl"
).split(",")
_PLACES = (
    "in Lisbon,near the harbour,at the market,behind the school,on the train,by the lake".split(",")
)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Texts to load, fresh ones to add while measuring, and questions to ask."""

    texts: tuple[str, ...]
    fresh: tuple[str, ...]
    questions: tuple[str, ...]
    origin: str


def load_corpus(data: Path, size: int) -> Corpus:
    """User turns and questions of the data sets, or generated sentences without them."""
    if (data / longmemeval.FILE).is_file() and (data / locomo.FILE).is_file():
        known, questions, origin = (
            longmemeval.user_texts(data),
            _questions(data),
            "user turns of LongMemEval",
        )
    else:
        known, questions, origin = (
            list(islice(_sentences(), 5_000)),
            _generated_questions(),
            "generated sentences",
        )
    fresh, rest = known[:_FRESH], known[_FRESH:]
    return Corpus(
        texts=tuple(islice(_distinct(rest), size)),
        fresh=tuple(fresh),
        questions=tuple(dict.fromkeys(questions)),
        origin=origin,
    )


class Vectors:
    """Vectors for any number of texts; later ones are the first with small noise."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._base = np.asarray(embedder.embed(texts[:_EMBEDDED]), dtype=np.float64)

    def of(self, index: int) -> list[float]:
        """The vector of the text at an index; equal in every run."""
        base = self._base[index % len(self._base)]
        if index < len(self._base):
            return _rounded(base)
        noise = np.random.default_rng([_SEED, index]).normal(0.0, _NOISE, base.shape)
        return _rounded(base + noise)


class RandomVectors:
    """Vectors of no meaning, where only their number matters."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    def of(self, index: int) -> list[float]:
        """The vector at an index; equal in every run."""
        return _rounded(np.random.default_rng([_SEED, index]).normal(size=self._dimensions))


def _rounded(vector: np.ndarray) -> list[float]:
    values: list[float] = np.round(vector / np.linalg.norm(vector), 6).tolist()
    return values


def _distinct(texts: Sequence[str]) -> Iterator[str]:
    """The texts, then again and again with the number of the round."""
    yield from texts
    for number in count(2):
        yield from (f"{text} (entry {number})" for text in texts)


def _questions(data: Path) -> list[str]:
    asked = [question.text for case in locomo.load_locomo(data) for question in case.questions]
    return longmemeval.question_texts(data) + asked


def _sentences() -> Iterator[str]:
    for number in count():
        parts = [
            words[number // step % len(words)]
            for words, step in ((_SUBJECTS, 1), (_VERBS, 10), (_THINGS, 100), (_PLACES, 700))
        ]
        yield (
            f"{' '.join(parts)}. It was visit number {number}, and it took {number % 90 + 1}"
            " minutes."
        )


def _generated_questions() -> list[str]:
    return [
        f"What did {who} do with {what} {where}?"
        for who in _SUBJECTS
        for what in _THINGS
        for where in _PLACES
    ]
