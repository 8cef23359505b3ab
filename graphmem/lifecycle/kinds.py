"""Kinds: whether a memory is an episode or a note, by its wording, category and tags. Pure.

The first of six steps that decides counts (003, Episode/Note Reconsolidation). The wording stands
in ``wording.toml``.
"""

from collections.abc import Collection
from typing import Any

from graphmem.model.memory import MemoryKind
from graphmem.text.wording import pattern, wording


def kind_of(content: str, category: str, tags: Collection[str]) -> MemoryKind:
    """The kind of a memory of a category of 003, in the order of the source.

    A time that has passed, the category, tags (those of notes first), verbs of what was done, words
    of what holds; else it is an episode.
    """
    text = " ".join(content.replace("\u2019", "'").split())
    said = {tag.lower() for tag in tags}
    if _matches("temporal", text):
        return MemoryKind.EPISODE
    if category in _words("note_categories"):
        return MemoryKind.NOTE
    if category in _words("episode_categories"):
        return MemoryKind.EPISODE
    if said & _words("note_tags"):
        return MemoryKind.NOTE
    if said & _words("episode_tags") or _matches("episode_verbs", text):
        return MemoryKind.EPISODE
    return MemoryKind.NOTE if _matches("note_words", text) else MemoryKind.EPISODE


def _words(name: str) -> frozenset[str]:
    return frozenset(wording("graphmem.lifecycle", "kinds")[name])


def _matches(name: str, text: str) -> Any:  # noqa: ANN401 - re2 has no types
    return pattern("graphmem.lifecycle", "kinds", name).search(text)
