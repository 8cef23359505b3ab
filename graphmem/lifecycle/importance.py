"""Importance: how much a statement matters, from 0 to 1, and why (003, Importance). Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphmem.model.extraction import Category
from graphmem.text.analysis import STOP_WORDS

_START = 0.5
_TRIVIAL_CHARS = 10
_CRITICAL, _HIGH, _HEDGE = 0.20, 0.12, -0.15
_SELF, _NUMBERS, _TAG = 0.05, 0.03, 0.05
_LONG_CHARS, _LONG_MAX = 200, 0.1
_REASONS_MAX, _KEYWORDS = 5, 5
_LEVELS = ((0.9, "critical"), (0.7, "high"), (0.4, "normal"), (0.2, "low"))
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"


def _words(*alternatives: str) -> re.Pattern[str]:
    """Whole words; each alternative is read in one pass, so matching is linear."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


_TRIVIAL = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|yes|no|yep|yeah|yup|nope|nah|ok|okay"
    r"|sure|thanks|thank you|thx|ty|got it|understood|roger|copy|noted|bye|goodbye|see you"
    r"|(?:ha){2,}h?|lol|lmao|h+m+)[\s.!?,]*",
    re.IGNORECASE,
)
_CRITICAL_WORDS = _words(
    *("critical", "crucial", "essential", "must", "always", "never", "important"),
    *("remember this", "don't forget", "my name is", "i am", "i'm called"),
    *("my (?:birthday|phone|email|address|ssn|password)", "i (?:hate|love|despise|adore)"),
    *("(?:absolutely|definitely|certainly) (?:not|must|should)", "actually", "no,? that's wrong"),
    *("correction", "let me correct", "i said", "i meant", "i was wrong"),
)
_HIGH_WORDS = _words(
    *("decided", "decision", "chose", "choosing", "picked", "selected"),
    *("we(?:'ll| will) (?:go with|use|implement)", "make sure", "ensure", "always", "don't"),
    *("do not", "never", "avoid", "you (?:should|must|need to)", f"by (?:{_WEEKDAYS})", "deadline"),
    *("due (?:date|by)", "by (?:end of|next)", "tomorrow", "(?:next|this) week", "today"),
    *("i (?:prefer|like|want|need|dislike)", "my (?:preference|style|approach|way)"),
    *("i'll", "i will", "promise", "commit", "guarantee", "scheduled", "appointment", "meeting"),
    "call",
)
_HEDGES = _words(
    *("maybe", "perhaps", "possibly", "might", "could be", "i think", "i guess", "not sure"),
    *("uncertain", "probably", "likely", "seems like", "kind of", "sort of", "somewhat", "a bit"),
    *("in a way", "to some extent"),
)
_SELF_WORDS = _words("i", "i'm", "i've", "i'd", "i'll", "my", "mine")
_NUMBER_WORDS = re.compile(r"\d{2,}|\bv\d|\b(?:version|api|config)\b", re.IGNORECASE)
_CATEGORIES: Mapping[Category, float] = {
    Category.CORRECTION: 0.15,
    Category.PRINCIPLE: 0.12,
    Category.PREFERENCE: 0.10,
    Category.COMMITMENT: 0.10,
    Category.DECISION: 0.08,
    Category.RELATIONSHIP: 0.05,
    Category.SKILL: 0.05,
    Category.MOMENT: 0.03,
    Category.ENTITY: 0.02,
    Category.FACT: 0.0,
}
_TAGS = frozenset("important critical preference decision rule principle".split())
_KEYWORD = re.compile(r"[a-z0-9-]{3,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Importance:
    """How much a statement matters: 0 to 1 with two decimals, its level, and at most 5 reasons."""

    score: float
    level: str
    reasons: tuple[str, ...]


def importance_of(content: str, category: Category, tags: Sequence[str] = ()) -> Importance:
    """The importance of a statement; each step counts once."""
    text = content.strip().replace("\u2019", "'")
    if len(text) <= _TRIVIAL_CHARS or _TRIVIAL.fullmatch(text):
        return Importance(score=0.1, level="trivial", reasons=("trivial",))
    steps = [(reason, amount) for reason, amount in _steps(text, category, tags) if amount]
    score = min(1.0, max(0.0, _START + sum(amount for _, amount in steps)))
    return Importance(
        score=round(score, 2),
        level=_level(score),
        reasons=tuple(reason for reason, _ in steps)[:_REASONS_MAX],
    )


def _steps(text: str, category: Category, tags: Sequence[str]) -> list[tuple[str, float]]:
    length = min(max(len(text) - _LONG_CHARS, 0) / 1_000, _LONG_MAX)
    tagged = [tag for tag in dict.fromkeys(tag.lower() for tag in tags) if tag in _TAGS]
    return [
        ("critical words", _CRITICAL * bool(_CRITICAL_WORDS.search(text))),
        ("important words", _HIGH * bool(_HIGH_WORDS.search(text))),
        ("hedged", _HEDGE * bool(_HEDGES.search(text))),
        (f"category {category}", _CATEGORIES[category]),
        ("long", length),
        ("about the speaker", _SELF * bool(_SELF_WORDS.search(text))),
        ("numbers", _NUMBERS * bool(_NUMBER_WORDS.search(text))),
        *((f"tag {tag}", _TAG) for tag in tagged),
    ]


def _level(score: float) -> str:
    # sums of decimals are a little off; a bound is reached all the same
    return next((name for least, name in _LEVELS if score >= least - 1e-9), "trivial")


def keywords(content: str) -> tuple[str, ...]:
    """The five most frequent words of three characters or more, the first said first."""
    found = (word for word in _KEYWORD.findall(content.lower()) if word not in STOP_WORDS)
    return tuple(word for word, _ in Counter(found).most_common(_KEYWORDS))
