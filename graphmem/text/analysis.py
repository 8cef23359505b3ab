"""Analysis: the words under which a text is indexed and looked up (neo4j-recall, What to index).

The service analyses, not the database, so index and query always agree, in every script.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import regex
from py_rust_stemmers import SnowballStemmer

from graphmem.text.unicode_forms import in_form

_STEMMER = SnowballStemmer("english")
_PAIRED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_TOKEN = regex.compile(
    rf"(?P<paired>(?:{_PAIRED}\p{{M}}*)+)|(?P<word>(?:(?!{_PAIRED})[\p{{L}}\p{{M}}\p{{N}}])+)"
    r"|(?P<sign>\p{Extended_Pictographic})"
)
_WRITTEN_WORD = re.compile(r"\w+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_PAIR_UNIT = regex.compile(r"\P{M}\p{M}*")
_LATIN_MARKS = regex.compile(r"[\u0300-\u036f]+")
_FOLDED = str.maketrans(
    {"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
_CACHED_WORDS = 65_536

# English words that carry no content; a query leaves them out unless nothing else is there
STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be because been before being but by can"
    " could did do"
    " does doing done for from get had has have having he her hers him his how i if in into is"
    " it its just"
    " many me much my no not of on or our ours own s shall she should so some than that the"
    " their theirs"
    " them then there these they this those to too us very was we were what when where which"
    " while who"
    " whom whose why will with would you your yours t re ve ll d m".split()
)


def fold(text: str) -> str:
    """NFKC, lower case, accents of Latin, Greek and Cyrillic letters removed."""
    lowered = in_form("NFKC", text).lower().translate(_FOLDED)
    if lowered.isascii():
        return lowered
    bare = _LATIN_MARKS.sub("", in_form("NFD", lowered))
    return in_form("NFC", bare)


def words(text: str) -> Iterator[str]:
    """The words of a text in order, folded but not stemmed.

    Scripts without blanks come as pairs.
    """
    folded = fold(text)
    if folded.isascii():  # ten times as fast, and most text is
        yield from _ASCII_WORD.findall(folded)
        return
    for match in _TOKEN.finditer(folded):
        if match.lastgroup == "paired":
            yield from _pairs(match[0])
        else:
            yield match[0]


def analyse(text: str) -> str:
    """The index form of a text: its stemmed words, divided by blanks."""
    return " ".join(stem(word) for word in words(text))


@lru_cache(_CACHED_WORDS)
def stem(word: str) -> str:
    """The Snowball stem of a folded word; other scripts come back as they are."""
    return _STEMMER.stem_word(word) if word.isascii() else word


def query_terms(text: str, *, limit: int) -> tuple[str, ...]:
    """The distinct stemmed words of a question, without stop words if others are there."""
    found = list(words(text))
    wanted = [word for word in found if word not in STOP_WORDS] or found
    return tuple(dict.fromkeys(stem(word) for word in wanted))[:limit]


def word_forms(text: str, *, limit: int) -> tuple[str, ...]:
    """The words of a question as they are written, in lower case, and their stems.

    For a look into texts that are not analysed. Stop words are left out if others are there.
    """
    written = _WRITTEN_WORD.findall(in_form("NFC", text).lower())
    wanted = [word for word in written if word not in STOP_WORDS] or written
    forms = [form for word in wanted for form in (word, stem(word))]
    return tuple(dict.fromkeys((*forms, *query_terms(text, limit=limit))))[:limit]


def _pairs(run: str) -> list[str]:
    units: list[str] = _PAIR_UNIT.findall(run)
    if len(units) < 2:  # noqa: PLR2004 - a pair
        return units
    return [first + second for first, second in pairwise(units)]
