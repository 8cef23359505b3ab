"""Assertions: whether two texts say the same, and single values of which two can disagree."""

import re
from dataclasses import dataclass

from graphmem.text.analysis import words

_CONTRACTIONS = (
    (re.compile(r"\bcan['\u2019]t\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['\u2019]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['\u2019]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['\u2019]re\b", re.IGNORECASE), " are"),
    (re.compile(r"['\u2019]ve\b", re.IGNORECASE), " have"),
    (re.compile(r"['\u2019]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"\bi['\u2019]m\b", re.IGNORECASE), "i am"),
)
# words that change nothing about what is claimed
_FILLERS = frozenset("a an the really very just also please actually".split())
_NEGATIONS = frozenset("not never no".split())
_AUXILIARIES = frozenset("do does did".split())
_VERBS = frozenset("is are am can has have will".split())
_END = frozenset("and but because since while with although though so who which when if".split())
_VALUE_WORDS = 6  # of a value at most
# what stands before a value of which there is one at a time; matched on whole words, longest first
_RELATIONS = {
    "residence": ("lives in", "live in", "living in", "resides in", "is based in"),
    "employer": (
        "works at",
        "works for",
        "work at",
        "work for",
        "is employed by",
        "is employed at",
    ),
    "occupation": ("works as", "work as"),
    "birthplace": ("was born in", "were born in"),
    "birthday": ("was born on", "were born on", "birthday is", "birthday is on"),
    "spouse": ("is married to", "am married to"),
    "nationality": ("is a citizen of",),
}
_PHRASES = [
    (family, tuple(phrase.split()))
    for family, phrases in _RELATIONS.items()
    for phrase in sorted(phrases, key=len, reverse=True)
]
# "works at night" names no employer
_NO_VALUES = frozenset("night home day weekends least times noon fear peace".split())
_FAVOURITE = frozenset("favourite favorite".split())
# what somebody or something has one of: "X's email is …", "the deadline is …", "favourite colour is
# …"
_ATTRIBUTES = frozenset(
    "name email phone address title role job company employer city hometown age deadline budget"
    " boss manager"
    " spouse wife husband partner height weight timezone capital owner status version birthday"
    " language".split()
)
_LIKES = dict.fromkeys("likes like loves love enjoys enjoy".split(), True) | dict.fromkeys(
    "dislikes dislike hates hate avoids avoid".split(), False
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Assertion:
    """What a statement says of its subject: one value of a family, such as residence: rome."""

    subject: tuple[str, ...]  # the words before it
    family: str
    value: tuple[str, ...]


def claim_words(text: str) -> tuple[str, ...]:
    """The words that make a claim, in order: equal ones make the same claim."""
    for pattern, meant in _CONTRACTIONS:
        text = pattern.sub(meant, text)
    return tuple(word for word in words(text) if word not in _FILLERS)


def assertion_of(text: str) -> Assertion | None:
    """The assertion that a text makes, if it makes one that can disagree with another."""
    said = claim_words(text)
    return _relation(said) or _attribute(said) or _liking(said) or _polarity(said)


def values_disagree(one: Assertion, other: Assertion) -> bool:
    """Whether two claims of one family cannot both hold; Rome and Rome in Italy can."""
    first, second = set(one.value), set(other.value)
    return one.family == other.family and not (first <= second or second <= first)


def _relation(said: tuple[str, ...]) -> Assertion | None:
    for family, phrase in _PHRASES:
        for start in range(1, len(said) - len(phrase)):
            end = start + len(phrase)
            if said[start:end] == phrase and not _NEGATIONS & set(said[:start]):
                return _related(family, said[:start], _value(said[end:]))
    return None


def _related(family: str, subject: tuple[str, ...], value: tuple[str, ...]) -> Assertion | None:
    if not value or value[0] in _NO_VALUES:
        return None
    if family == "birthplace" and value[0].isdigit():
        family = "birth"
    return Assertion(subject=subject, family=family, value=value)


def _attribute(said: tuple[str, ...]) -> Assertion | None:
    """``ada s email is x``, ``favourite colour is blue``: the one value that something has."""
    verbs = (
        at for at in range(1, len(said) - 1) if said[at] == "is" and said[at + 1] not in _NEGATIONS
    )
    at = next(verbs, None)
    if at is None:
        return None
    before, value = said[:at], _value(said[at + 1 :])
    favourite = next((i for i, word in enumerate(before[:-1]) if word in _FAVOURITE), None)
    if favourite is not None:
        family = "favourite " + " ".join(before[favourite + 1 :])
        return Assertion(subject=before[:favourite], family=family, value=value)
    if before[-1] in _ATTRIBUTES:
        return Assertion(subject=before[:-1], family=before[-1], value=value)
    return None


def _liking(said: tuple[str, ...]) -> Assertion | None:
    for at in range(1, len(said) - 1):
        if said[at] in _LIKES:
            before = tuple(word for word in said[:at] if word not in _AUXILIARIES | _NEGATIONS)
            is_negated = bool(_NEGATIONS & set(said[max(0, at - 2) : at]))
            thing = _value(said[at + 1 :])
            likes = _LIKES[said[at]] is not is_negated
            return Assertion(
                subject=before, family=f"likes {' '.join(thing)}", value=("yes" if likes else "no",)
            )
    return None


def _polarity(said: tuple[str, ...]) -> Assertion | None:
    """A statement and its negation: ``ada is not allergic to nuts``."""
    if not _VERBS & set(said):
        return None
    plain = tuple(word for word in said if word not in _NEGATIONS | _AUXILIARIES)
    verb = next(at for at, word in enumerate(plain) if word in _VERBS)
    value = "no" if _NEGATIONS & set(said) else "yes"
    return Assertion(subject=plain[:verb], family=f"holds {' '.join(plain)}", value=(value,))


def _value(rest: tuple[str, ...]) -> tuple[str, ...]:
    ends = next((at for at, word in enumerate(rest) if word in _END), len(rest))
    return rest[: min(ends, _VALUE_WORDS)]
