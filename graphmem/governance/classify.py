"""Classify: what a text is about, the fact that it states, and how much it matters. Pure (004)."""

import re
from dataclasses import dataclass

from graphmem.model.governance import EventType, FactKey, ItemSource
from graphmem.text.dedup_keys import normalised

_BASE = {
    EventType.PREFERENCE: 3,
    EventType.DECISION: 3,
    EventType.FACT: 4,
    EventType.CORRECTION: 4,
    EventType.EXECUTION: 2,
    EventType.CONTEXT: 1,
}
_EMPHATIC = ("always", "never", "must", "avoid")
_LOW_SIGNAL = frozenset(
    {"ok", "okay", "thanks", "thank you", "hello", "hi", "hey", "cool", "great"}
)
_CORRECTION = re.compile(r"\b(?:actually|correction)\b")
_NOT, _BUT = re.compile(r"\bnot\b"), re.compile(r"\bbut\b")
_PREFERENCE = re.compile(r"\bi (?:prefer|like|want)\b|\bnever (?:do|use|call)\b")
_DECISION = re.compile(
    r"\b(?:decision|decided|choose|we will use)\b|\blet['\u2019]s use\b|\buse [a-z0-9]"
)
_VALUE = r"([^.!?,;]+)"
_FACTS = tuple(
    (key, re.compile(pattern, re.IGNORECASE))
    for key, pattern in (
        (FactKey.NAME, rf"\bmy name is\b{_VALUE}"),
        (FactKey.NAME, rf"\bcall me\b{_VALUE}"),
        (FactKey.TIMEZONE, rf"\bmy timezone is\b{_VALUE}"),
        (FactKey.TIMEZONE, rf"\btimezone\s*(?:\bis\b|=){_VALUE}"),
        (FactKey.LANGUAGE, rf"\bmy language is\b{_VALUE}"),
        (FactKey.LANGUAGE, rf"\blanguage preference is\b{_VALUE}"),
        (FactKey.PROJECT, rf"\bmy project (?:name )?is\b{_VALUE}"),
        (FactKey.PROJECT, rf"\bworking on\b{_VALUE}"),
        (FactKey.EDITOR, rf"\bmy editor is\b{_VALUE}"),
        (FactKey.UNITS, r"\buse (metric|imperial) units\b"),
    )
)
_VALUE_MAX_CHARS = 60
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"
_ENDS = ".!,;: \t\r\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileFact:
    """A fact of a profile that a text states."""

    key: FactKey
    value: str


def is_low_signal(text: str) -> bool:
    """Whether a text says nothing that could be worth keeping."""
    return normalised(text) in _LOW_SIGNAL


def classified(text: str) -> EventType:
    """What a text of a user is about; what tools did and an AI said is not looked at."""
    lower = text.lower()
    if _CORRECTION.search(lower) or _contrasts(lower):
        return EventType.CORRECTION
    if _PREFERENCE.search(lower):
        return EventType.PREFERENCE
    if _DECISION.search(lower):
        return EventType.DECISION
    return EventType.FACT if profile_fact(text) else EventType.CONTEXT


def _contrasts(lower: str) -> bool:
    """Whether a line says what is not so, and behind it what is: ``not … but``."""
    return any(
        (denied := _NOT.search(line)) and _BUT.search(line, denied.end())
        for line in lower.split("\n")
    )


def profile_fact(text: str) -> ProfileFact | None:
    """The fact that a text states, if it does; of several the first in the order of patterns."""
    for key, pattern in _FACTS:
        found = pattern.search(text)
        if found and (value := _clean(found[1])):
            return ProfileFact(key=key, value=value)
    return None


def _clean(value: str) -> str:
    stripped = value.strip().strip(_QUOTES).rstrip(_ENDS)
    return " ".join(stripped.split())[:_VALUE_MAX_CHARS]


def importance_of(text: str, event: EventType, source: ItemSource) -> tuple[int, tuple[str, ...]]:
    """How much an item matters, 1 to 7, and why."""
    reasons = [f"event:{event}"]
    if source is ItemSource.USER:
        reasons.append("source:user")
    if any(word in text.lower() for word in _EMPHATIC):
        reasons.append("emphasis")
    if event is EventType.CORRECTION:
        reasons.append("corrective")
    return _BASE[event] + len(reasons) - 1, tuple(reasons)
