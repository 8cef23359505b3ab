"""Normal forms of text: as it is stored, and as it is compared."""

import hashlib
import re

import regex

from graphmem.text.unicode_forms import in_form

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" *\n *")
_EMPTY_LINES = re.compile(r"\n{3,}")
_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")
_BLANK_LINES_BEFORE = re.compile(r"\A(?:[^\S\n]*\n)+")
_UNSEEN = regex.compile(r"[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]*")
_BLANKS_INSIDE = re.compile(r"(?<=\S)[^\S\n]+(?=\S)")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_CAPITALS = re.compile(r"[A-Z][0-9]*[A-Z]")
_FULL_STOPS = (".", "。")


def is_storable(text: str) -> bool:
    """Whether a text has neither NUL nor lone surrogates, which no store or log can hold."""
    return _NOT_STORABLE.search(text) is None


def shows_something(text: str) -> bool:
    """Whether a text has a character that can be seen."""
    return _UNSEEN.fullmatch(text) is None


def with_layout(text: str) -> str:
    """The stored form of content: NFC, no control characters, and its layout as it was sent.

    Blank lines and blanks at both ends are cut; of several lines the first keeps its indentation.
    """
    text = _CONTROL.sub("", _nfc_lines(text)).rstrip()
    text = _BLANK_LINES_BEFORE.sub("", text)
    return text if "\n" in text else text.lstrip()


def normalise(text: str) -> str:
    """The stored form of names: NFC, no control characters, runs of blanks as one."""
    text = _BLANKS.sub(" ", _CONTROL.sub("", _nfc_lines(text)))
    return _EMPTY_LINES.sub("\n\n", _LINE_ENDS.sub("\n", text)).strip()


def one_line(text: str) -> str:
    """The stored form of what stands in a line of its own wherever it is shown."""
    if text.isascii() and text.isprintable():  # most text, and much faster
        return " ".join(text.split())
    return " ".join(normalise(text).split())


def nfc(text: str) -> str:
    """A text in the Unicode form that ids are kept and asked for in."""
    return in_form("NFC", text)


def _nfc_lines(text: str) -> str:
    return nfc(text.replace("\r\n", "\n").replace("\r", "\n"))


def comparable(text: str) -> str:
    """The form in which two contents say the same.

    Letter case, blank runs inside a line, blanks at line ends and one full stop at the very end
    do not count; a word of two or more capitals stands as it is. All else does.
    """
    text = "\n".join(_BLANKS_INSIDE.sub(" ", line.rstrip()) for line in nfc(text).split("\n"))
    if text.endswith(_FULL_STOPS) and len(text) > 1:
        text = text[:-1]
    if text.isascii() and not _CAPITALS.search(text):  # most text, and much faster
        return text.lower()
    return nfc(_WORD.sub(lambda word: _folded(word[0]), text))


def _folded(word: str) -> str:
    is_in_capitals = sum(map(str.isupper, word)) > 1 and not any(map(str.islower, word))
    return word if is_in_capitals else word.lower()


def content_hash(text: str) -> str:
    """SHA-256 of the comparable form, in hex."""
    return hashlib.sha256(comparable(text).encode()).hexdigest()


def shorten(text: str, limit: int) -> str:
    """The leading words of a text, at most ``limit`` characters, on one line."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    return (head.rpartition(" ")[0] or head) + "…"
