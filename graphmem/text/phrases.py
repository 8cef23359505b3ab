"""Phrases: whether a text says one of some words, whatever its case and punctuation."""

from collections.abc import Iterable

from graphmem.text.analysis import words


def spoken(text: str) -> str:
    """The words of a text, folded, with one blank around each."""
    return f" {' '.join(words(text))} "


def says(said: str, phrases: Iterable[str]) -> bool:
    """Whether the spoken text has one of the phrases, as whole words. Phrases are in lower case."""
    return any(f" {phrase} " in said for phrase in phrases)
