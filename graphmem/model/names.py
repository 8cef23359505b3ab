"""Names as keys hold them: the slug of 001, with words for the signs that it drops.

A sign that counts becomes a word, divided by a double underscore, which no slug holds: C++ is
``c__plus__plus``. 001 knows no such words; they are our extension of its entity normaliser.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_WORDS = {
    "+": "plus",
    "#": "sharp",
    "&": "and",
    "%": "percent",
    "@": "at",
    "*": "star",
    "/": "slash",
    "=": "equals",
    "<": "less",
    ">": "greater",
    "~": "tilde",
    "^": "caret",
    "|": "bar",
    "-": "minus",
    ".": "dot",
}
_MINUS, _DOT = "-", "."  # these count in some places only
_SIGNS = {word: sign for sign, word in _WORDS.items()}
_AND = "and"
_COUNTING = {"Sm", "Sc"}  # mathematical signs and currencies
_BLANKS = re.compile(r"[\s_-]+")
_CACHED = 4_096
_JOINT = "__"
_JOINTS = re.compile(r"__(?!_)")
_CODE_POINT = re.compile(r"u([0-9a-f]{4,5})")  # all such signs are below 100000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a name: a sign that counts, or the slug of what stands between signs."""

    text: str
    is_sign: bool = False


def slug(text: str) -> str:
    """The entity normaliser (001): lower-case letters and digits, joined by ``_``."""
    kept = "".join(
        char if _is_letter(char) or char in "_-" else " "
        for char in unicodedata.normalize("NFC", text).lower()
    )
    return _BLANKS.sub("_", kept).strip("_")


@lru_cache(_CACHED)
def slug_with_signs(text: str) -> str:
    """The slug of a name, with words for its signs that count; one of that form means itself."""
    name = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower().strip())
    parts = parts_of_slug(name) if is_with_signs(name) else _parts_of_name(name)
    return spelling(parts) if parts else slug(name)


def parts_of_slug(name: str) -> list[Part]:
    """The parts of a slug: what words of signs are in it, and what stands between them."""
    if _JOINT not in name:
        return [Part(name)]
    lone = name[len(_JOINT) : -len(_JOINT)]
    is_lone = name == f"{_JOINT}{lone}{_JOINT}" and _sign(lone) is not None
    parts = _read([lone] if is_lone else _JOINTS.split(name))
    return parts if _is_whole(parts) and spelling(parts) == name else [Part(name)]


def is_with_signs(name: str) -> bool:
    """Whether a text is a slug with words of signs."""
    return any(part.is_sign for part in parts_of_slug(name))


def _parts_of_name(name: str) -> list[Part]:
    """The signs of a name that count, and what stands between them; none where no sign does."""
    counting = _signs_that_count(name)
    if not counting:
        return []
    parts: list[Part] = []
    start = 0
    for place in (*counting, len(name)):
        if between := slug(name[start:place]):
            parts.append(Part(between))
        parts.extend(Part(sign, is_sign=True) for sign in name[place : place + 1])
        start = place + 1
    return parts


def spelling(parts: Sequence[Part]) -> str:
    """The name of the key of some parts.

    A lone sign stands between two joints. Where a text that is the word of a sign would be read as
    that sign, or a sign as a text, signs are spelt by their code points and such texts have an
    underscore behind them.
    """
    if len(parts) == 1:
        (only,) = parts
        return f"{_JOINT}{_word(only.text)}{_JOINT}" if only.is_sign else only.text
    words = [_word(part.text) if part.is_sign else part.text for part in parts]
    if _read(words) != [*parts]:
        words = [_code(part.text) if part.is_sign else _apart(part.text) for part in parts]
    return _JOINT.join(words)


def _read(words: Sequence[str]) -> list[Part]:
    """The parts that words mean.

    The word of a sign is that sign, but beside ``and`` it is a text: AT&T. Where one is set apart,
    code points alone are signs.
    """
    if any(map(_is_set_apart, words)):
        return [_read_apart(word) for word in words]
    return [
        Part(sign, is_sign=True)
        if (sign := _sign(word)) and not _is_joined(words, place)
        else Part(word)
        for place, word in enumerate(words)
    ]


def _is_joined(words: Sequence[str], place: int) -> bool:
    """Whether the word of a sign stands beside ``and``, and no text beside it."""
    around = (*words[max(place - 1, 0) : place], *words[place + 1 : place + 2])
    is_named = words[place] in _SIGNS and words[place] != _AND
    return is_named and _AND in around and all(map(_sign, around))


def _is_set_apart(word: str) -> bool:
    return word.endswith("_") or word in _CODES


def _read_apart(word: str) -> Part:
    is_code = word in _CODES or (word not in _SIGNS and _sign(word) is not None)
    return Part(_sign_of_code(word), is_sign=True) if is_code else Part(word.removesuffix("_"))


def _apart(text: str) -> str:
    return f"{text}_" if _sign(text) or text in _CODES else text


def _is_letter(char: str) -> bool:
    """Whether a slug keeps a character: letters, digits and the marks that belong to them."""
    return char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"}


def _signs_that_count(name: str) -> list[int]:
    """Where the signs of a name are that count.

    A minus does before or behind the whole name, a dot before it; where nothing but signs is left,
    each does, but dots alone are no name.
    """
    letters = [place for place, char in enumerate(name) if _is_letter(char)]
    first, last = (letters[0], letters[-1]) if letters else (len(name), len(name))
    found = [
        place
        for place, char in enumerate(name)
        if (char == _MINUS and not first < place < last)
        or (char == _DOT and place < first)
        or _counts_anywhere(char)
    ]
    return found if letters or any(name[place] != _DOT for place in found) else []


def _counts_anywhere(char: str) -> bool:
    if char in _WORDS:
        return char not in {_MINUS, _DOT}
    return unicodedata.category(char) in _COUNTING


def _code(sign: str) -> str:
    return f"u{ord(sign):04x}"


def _word(sign: str) -> str:
    return _WORDS.get(sign) or _code(sign)


def _sign_of_code(word: str) -> str:
    return chr(int(word[1:], 16))


def _sign(word: str) -> str | None:
    """The sign that a word stands for; None where it is no such word."""
    if word in _SIGNS:
        return _SIGNS[word]
    match = _CODE_POINT.fullmatch(word)
    char = chr(int(match[1], 16)) if match else ""
    return char if char and _counts_anywhere(char) and _word(char) == word else None


def _is_whole(parts: Iterable[Part]) -> bool:
    """Whether a name could have these parts: it has a sign, and no two texts beside each other."""
    kinds = "".join("+" if part.is_sign else "a" for part in parts)
    texts = [part.text for part in parts if not part.is_sign]
    return "+" in kinds and "aa" not in kinds and all(slug(text) == text for text in texts)


_CODES = frozenset(map(_code, _WORDS))
