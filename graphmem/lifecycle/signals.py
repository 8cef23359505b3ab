"""Signals: how much the words of a turn ask to be remembered (003, Signal scan). Pure, no call out.

Patterns match in linear time, whatever the text. Typographic apostrophes count as plain ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from graphmem.model.conversation import TurnRole
from graphmem.model.policy.rules import compiled_pattern

_PHRASES_MAX = 10  # that are told of one turn
_LIKELY = 2  # candidates that make a medium signal
_CACHED = 256
_SIGNS = '.,;:!?"()'
_END = r"(?:$|[^\pL\pM\pN_])"
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})

_HIGH = (
    "actually,? (?:i|my|we)",
    "no,? (?:i|my|we|that's) (?:not|wrong|incorrect)",
    "that's not right",
    "why did you say that",
    "i (?:always|never|prefer|hate|love|want|need)",
    "don't (?:use|do|call|say|make)",
    "please (?:always|never|remember|note)",
    "correction",
    "important ",
    "fyi",
    "for (?:the )?record",
    "my (?:name|email|company|role|title|preference) is",
    "i (?:work|live|am) (?:at|in|from|a)",
    "we (?:decided|agreed|chose|picked)",
    "the decision (?:is|was)",
    "going forward",
    "from now on",
)
_CANDIDATES = (
    "i (?:think|believe|feel)",
    "usually",
    "typically",
    "i (?:like|dislike)",
    "my (?:team|project|stack|setup)",
)
_DISAGREEMENTS = ("that's not right", "why did you say that", "that's wrong", "not correct")


class Level(StrEnum):
    """How strong the signal of a turn is; only ``high`` has it extracted at once."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """How strong a signal is, by which phrases, and whether the user disagrees."""

    level: Level = Level.NONE
    phrases: tuple[str, ...] = ()
    disagreement: bool = False


def scan(role: TurnRole, content: str, extra_patterns: Sequence[str] = ()) -> Signal:
    """The signal of a turn; only users give one.

    ``extra_patterns`` were checked when they were set.
    """
    if role is not TurnRole.USER:
        return Signal()
    text = content.translate(_APOSTROPHES).encode()
    extra = [found for each in extra_patterns if (found := _found(_compiled(each), text, 0))]
    high = [*extra, *_said(_HIGH, text)]
    likely = [] if high else _said(_CANDIDATES, text)
    return Signal(
        level=_level(len(high), len(likely)),
        phrases=_distinct(high or likely),
        disagreement=bool(_said(_DISAGREEMENTS, text)),
    )


@lru_cache(_CACHED)
def _compiled(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    """A pattern that was checked, compiled once."""
    return compiled_pattern(pattern)


@lru_cache(_CACHED)
def _one_of(phrases: Sequence[str]) -> Any:  # noqa: ANN401 - re2 has no types
    """Some phrases between characters that belong to no word, in any script."""
    said = "|".join(
        each.replace(" ", r"\s+") + ("" if each.endswith(" ") else _END) for each in phrases
    )
    return compiled_pattern(rf"(?:^|[^\pL\pM\pN_])({said})")


def _level(high: int, likely: int) -> Level:
    if high:
        return Level.HIGH
    if likely >= _LIKELY:
        return Level.MEDIUM
    return Level.LOW if likely else Level.NONE


def _said(phrases: Sequence[str], text: bytes) -> list[str]:
    """What a text says of some phrases, the first time that it says each."""
    if not _one_of(phrases).search(text):
        return []
    return [found for each in phrases if (found := _found(_one_of((each,)), text, 1))]


def _found(pattern: Any, text: bytes, group: int) -> str:  # noqa: ANN401 - re2 has no types
    match = pattern.search(text)
    return match.group(group).decode(errors="replace") if match else ""


def _distinct(found: Sequence[str]) -> tuple[str, ...]:
    """The first phrases, each once, in lower case."""
    phrases = (" ".join(phrase.lower().split()).rstrip(_SIGNS) for phrase in found)
    return tuple(dict.fromkeys(phrases))[:_PHRASES_MAX]
