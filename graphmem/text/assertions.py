"""Assertions: whether two texts say the same, and single values of which two can disagree."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

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
_SHORT = 4  # red is no participle
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
    "doctor dentist landlord name email phone address title role job company employer"
    " city hometown age deadline budget"
    " boss manager"
    " spouse wife husband partner height weight timezone capital owner status version birthday"
    " language".split()
)
_LIKES = dict.fromkeys("likes like loves love enjoys enjoy".split(), True) | dict.fromkeys(
    "dislikes dislike hates hate avoids avoid".split(), False
)


# verbs in front of the one number, date, time or code that a thing has
_MEASURES = frozenset("is has costs weighs takes lasts runs uses earns measures".split())
_SCHEDULES = frozenset("starts begins ends opens closes meets".split())
_ONCE = frozenset("born founded released established built launched opened".split())  # was …
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_MONTHS = frozenset(
    "january february march april may june july".split()
    + "august september october november december".split()
)
_NUMBERS = frozenset("two three four five six seven eight nine ten eleven twelve".split())
_BEFORE_MAY = frozenset("in by since until of from".split())
_PERIODS = _WEEKDAYS | _MONTHS | frozenset("spring summer autumn winter weekend weekends".split())
_NO_NAMES = frozenset("on at in from with by her his their its my our playing away".split())


class Kind(StrEnum):
    """What a value is: only two of one kind can exclude each other."""

    NAME = "name"
    NUMBER = "number"  # a number, date, time or code
    WORD = "word"
    DESCRIPTION = "description"  # one of many things that may be true together


@dataclass(frozen=True, kw_only=True, slots=True)
class Assertion:
    """What a statement says of its subject: one value of a family, such as residence: rome."""

    subject: tuple[str, ...]  # the words before it
    family: str
    value: tuple[str, ...]
    kind: Kind = Kind.WORD


def claim_words(text: str) -> tuple[str, ...]:
    """The words that make a claim, in order: equal ones make the same claim."""
    for pattern, meant in _CONTRACTIONS:
        text = pattern.sub(meant, text)
    return tuple(word for word in words(text) if word not in _FILLERS)


def assertion_of(text: str) -> Assertion | None:
    """The assertion that a text makes, if it makes one that can disagree with another."""
    said = claim_words(text)
    if found := _relation(said) or _attribute(said):
        return replace(found, kind=_kind(found.value, text))
    return _liking(said) or _slot(said) or _polarity(said)


def values_disagree(one: Assertion, other: Assertion) -> bool:
    """Whether two claims of one family exclude each other.

    Rome and Rome in Italy do not, nor do a city and a country, or values of two kinds.
    """
    if (one.family, one.kind) != (other.family, other.kind) or one.kind is Kind.DESCRIPTION:
        return False
    first, second = set(one.value), set(other.value)
    if _is_country(one.value) is not _is_country(other.value):
        return False
    return not (first <= second or second <= first)


def _is_country(value: tuple[str, ...]) -> bool:
    return " ".join(value) in countries()


@cache
def countries() -> frozenset[str]:
    """The names of countries, folded as words are."""
    import pycountry  # noqa: PLC0415, a tenth of a second that few statements need

    names = (
        name
        for country in pycountry.countries
        for name in (country.name, getattr(country, "common_name", country.name))
    )
    return frozenset(" ".join(words(name)) for name in names) | {"usa", "uk", "england", "europe"}


def _kind(value: tuple[str, ...], text: str) -> Kind:
    """What a value is, by how the text spells its first word and what stands before it."""
    if any(character.isdigit() for character in value[0]):
        return Kind.NUMBER
    if _PERIODS & set(value[1:]):
        return Kind.DESCRIPTION  # in winter, on Mondays: another holds at another time
    spelled = re.findall(rf"(?:\b(an?)\s+)?\b({re.escape(value[0])})\b", text, re.IGNORECASE)
    article, word = spelled[-1] if spelled else ("", "")
    if word[:1].isupper():
        return Kind.NAME
    is_described = bool(article) or value[0] in _NO_NAMES
    is_described |= len(value[0]) > _SHORT and value[0].endswith(("ing", "ed", "ly"))
    return Kind.DESCRIPTION if is_described else Kind.WORD


def _is_typed(said: tuple[str, ...], at: int) -> bool:
    """Whether a word is a number, a date, a time or a code."""
    word = said[at]
    if word == "may":
        return at > 0 and (said[at - 1] in _BEFORE_MAY or said[at - 1].isdigit())
    is_number = any(character.isdigit() for character in word) or word in _NUMBERS
    return is_number or word in _WEEKDAYS | _MONTHS


def _slot(said: tuple[str, ...]) -> Assertion | None:
    """A statement with one number, date, time or code: ``apollo starts on monday``."""
    typed = [at for at in range(len(said)) if _is_typed(said, at)]
    if not typed or typed != list(range(typed[0], typed[-1] + 1)):
        return None
    begin, end = typed[0], typed[-1] + 1
    at = next((n for n in range(1, begin) if _is_verb(said, n)), None)
    if at is None or not _fits(said[at], said[at + 1 : begin], said[begin:end]):
        return None
    subject = said[said.index("of") + 1 : at] if "of" in said[:at] else said[:1]
    rest = (*said[:at], "is", *said[at:begin], "…", *said[end:])
    return Assertion(
        subject=subject, family=" ".join(rest), value=said[begin:end], kind=Kind.NUMBER
    )


def _is_verb(said: tuple[str, ...], at: int) -> bool:
    is_past = said[at] == "was" and said[at + 1] in _ONCE
    return is_past or said[at] in _MEASURES | _SCHEDULES


def _fits(verb: str, between: tuple[str, ...], value: tuple[str, ...]) -> bool:
    """Whether something has one such value at a time: it starts on one day, it has 12 members."""
    is_dated = bool(set(value) & (_WEEKDAYS | _MONTHS))
    if verb == "has":
        return not between and not is_dated
    if verb == "is":
        return len(between) <= 1
    return verb in _SCHEDULES | {"was"} or not is_dated


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
    value = () if at is None else _value(said[at + 1 :])
    if not value:
        return None
    before = said[:at]
    favourite = next((i for i, word in enumerate(before[:-1]) if word in _FAVOURITE), None)
    if favourite is not None:
        family = "favourite " + " ".join(before[favourite + 1 :])
        return Assertion(subject=before[:favourite], family=family, value=value)
    if before[-1] in _ATTRIBUTES:
        return Assertion(subject=before[:-1], family=before[-1], value=value)
    if before[0] in _ATTRIBUTES and before[1:2] == ("of",):
        return Assertion(subject=before[2:], family=before[0], value=value)
    owner = next((i for i, word in enumerate(before) if word == "s" and i), None)
    if owner is not None and any(character.isdigit() for character in value[0]):
        return Assertion(subject=before[:owner], family=" ".join(before[owner + 1 :]), value=value)
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
    plain = tuple(word for word in said if word not in _NEGATIONS | _AUXILIARIES)
    value = "no" if _NEGATIONS & set(said) else "yes"
    at = next((at for at, word in enumerate(plain) if word in _VERBS), None)
    if at is None:
        if not 1 < len(plain) <= _VALUE_WORDS:
            return None
        at = 1  # she smokes, she does not smoke
        plain = (plain[0], plain[1].removesuffix("s"), *plain[2:])
    return Assertion(subject=plain[:at], family=f"holds {' '.join(plain)}", value=(value,))


def _value(rest: tuple[str, ...]) -> tuple[str, ...]:
    ends = next((at for at, word in enumerate(rest) if word in _END), len(rest))
    return rest[: min(ends, _VALUE_WORDS)]
