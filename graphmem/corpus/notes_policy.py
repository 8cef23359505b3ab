"""Notes policy: notes tell of a career, not of how a corpus is kept (000). Pure."""

import re
from collections.abc import Iterator
from typing import Any

from graphmem.corpus.normalise import NOTES
from graphmem.corpus.schema import Place, Problem, dotted
from graphmem.model.corpus import Corpus

_WORDS = (
    *("source", "upload", "uploaded", "onboarding", "current chat", "from chat", "manual import"),
    *("persisted", "committed", "branch", "commit", "sha", "blob", "tree", "ref"),
)
_ANY_BLANKS = r"\s+"
_WORD = re.compile(
    rf"(?<!\w)({'|'.join(_WORDS)})(?!\w)".replace(" ", _ANY_BLANKS),
    re.IGNORECASE,
)


def notes_problems(corpus: Corpus) -> tuple[Problem, ...]:
    """The notes of a corpus that speak of how it is kept, each with the word that does."""
    return tuple(
        Problem(path=dotted(place), message=f'Notes hold content only, not "{word}".')
        for place, notes in _notes(corpus, ())
        if (word := spoken_of(notes))
    )


def spoken_of(notes: str) -> str | None:
    """The first word of some notes that no notes may have."""
    found = _WORD.search(notes)
    return " ".join(found[1].lower().split()) if found else None


def _notes(value: Any, place: Place) -> Iterator[tuple[Place, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _notes(inner, (*place, number))
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == NOTES and isinstance(inner, str):
                yield (*place, name), inner
            yield from _notes(inner, (*place, name))
