"""Categories: what kind of statement a sentence is, by its wording; small talk is none. Pure.

The first category whose words fit decides (003, Extraction result). The wording stands in
``wording.toml``; its patterns match in linear time.
"""

from typing import Any

from graphmem.model.extraction import Category
from graphmem.text.wording import pattern

_WORDS_MIN, _CHARS_MIN = 3, 10
_CORRECTIONS = frozenset({Category.CORRECTION})  # which may begin with words of small talk


def category_of(sentence: str) -> Category | None:
    """The category of a sentence; None where it says nothing worth keeping."""
    text = " ".join(sentence.replace("\u2019", "'").split())
    if len(text) < _CHARS_MIN or len(text.split()) < _WORDS_MIN:
        return None
    found = next((each for each in Category if _pattern(each.value).search(text)), None)
    if found is None or not _pattern("small_talk").search(text):
        return found
    is_question = text.rstrip("\"') ]").endswith("?")
    return found if found in _CORRECTIONS and not is_question else None


def _pattern(name: str) -> Any:  # noqa: ANN401 - re2 has no types
    """What one of the lists of wordings matches."""
    return pattern("graphmem.lifecycle", "wording", name)
