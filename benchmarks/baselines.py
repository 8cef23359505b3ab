"""Baselines over the same texts: BM25, exact dense vectors of whole texts, and their fusion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
from py_rust_stemmers import SnowballStemmer

from benchmarks.cases import Case
from benchmarks.metrics import reciprocal_rank_fusion
from graphmem.ports import Embedder

BM25 = "BM25"
DENSE = "exact dense"
FUSION = "BM25 + dense, RRF"
NAMES = (BM25, DENSE, FUSION)
_DEPTH = 100

Ranked = list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Document:
    """A distinct text and the turns that say it."""

    text: str
    turns: tuple[str, ...]


def baseline_rankings(cases: Sequence[Case], embedder: Embedder) -> dict[str, dict[str, Ranked]]:
    """Question id → name of the baseline → ranked groups of turns."""
    return {question: ranked for case in cases for question, ranked in _rankings_of(case, embedder)}


def _rankings_of(case: Case, embedder: Embedder) -> Iterable[tuple[str, dict[str, Ranked]]]:
    documents = _documents(case)
    texts = [document.text for document in documents]
    questions = [question.text for question in case.questions]
    by_words = _bm25(texts, questions)
    by_vectors = _dense(texts, questions, embedder)
    for question, words, vectors in zip(case.questions, by_words, by_vectors, strict=True):
        rankings = {
            BM25: words,
            DENSE: vectors,
            FUSION: reciprocal_rank_fusion((words, vectors))[:_DEPTH],
        }
        yield (
            question.id,
            {name: [documents[i].turns for i in found] for name, found in rankings.items()},
        )


def _documents(case: Case) -> list[_Document]:
    said: dict[str, list[str]] = {}
    for turn in case.turns:
        said.setdefault(turn.text, []).append(turn.id)
    return [_Document(text=text, turns=tuple(turns)) for text, turns in said.items()]


def _bm25(texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
    index = bm25s.BM25()
    index.index(_tokens(texts), show_progress=False)
    depth = min(_DEPTH, len(texts))
    found, scores = index.retrieve(_tokens(questions), k=depth, show_progress=False)
    return [
        [int(index) for index, score in zip(indexes, points, strict=True) if score > 0]
        for indexes, points in zip(found, scores, strict=True)
    ]


def _tokens(texts: Sequence[str]) -> list[list[str]]:
    stemmer = SnowballStemmer("english")
    tokens: list[list[str]] = bm25s.tokenize(
        list(texts),
        stopwords="en",
        stemmer=stemmer.stem_words,
        return_ids=False,
        show_progress=False,
    )
    return tokens


def _dense(texts: Sequence[str], questions: Sequence[str], embedder: Embedder) -> list[list[int]]:
    matrix = np.asarray(embedder.embed(texts), dtype=np.float32)
    rankings = []
    for question in questions:
        scores = matrix @ np.asarray(embedder.embed_query(question), dtype=np.float32)
        rankings.append([int(index) for index in np.argsort(-scores, kind="stable")[:_DEPTH]])
    return rankings
