"""Normal forms of text: as it is stored, and as it is compared."""

import hashlib
import re
import unicodedata

import regex

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" *\n *")
_EMPTY_LINES = re.compile(r"\n{3,}")
_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")
# what carries meaning beside letters and digits: C++, C#, 50%, -5
_MEANINGFUL = r"(?<=[\p{L}\p{N}])[#%]|(?<![\p{L}\p{N}])-(?=\p{N})"
_PLAIN = re.compile(r"[a-z0-9\s.,;:!?'\"()]*")
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_WORD_CHARS = regex.compile(rf"[\p{{L}}\p{{M}}\p{{N}}\p{{S}}]+|{_MEANINGFUL}")


def is_storable(text: str) -> bool:
    """Whether a text has neither NUL nor lone surrogates, which no store or log can hold."""
    return _NOT_STORABLE.search(text) is None


def normalise(text: str) -> str:
    """The stored form: NFC, no control characters, runs of blanks as one, line breaks kept."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _BLANKS.sub(" ", _CONTROL.sub("", text))
    return _EMPTY_LINES.sub("\n\n", _LINE_ENDS.sub("\n", text)).strip()


def comparable(text: str) -> str:
    """The form in which two contents are the same: lower case, punctuation and blanks as one blank.

    For ASCII this is 003's content form, but signs that carry meaning stay (C# is not C++), and so
    do the letters and symbols of every script.
    """
    folded = unicodedata.normalize("NFKC", text).lower()
    if _PLAIN.fullmatch(
        folded
    ):  # words, blanks and harmless punctuation: most text, and much faster
        return " ".join(_PLAIN_WORD.findall(folded)) or folded.strip()
    kept: list[str] = []
    end = 0
    for match in _WORD_CHARS.finditer(folded):
        if kept and match.start() > end:
            kept.append(" ")
        kept.append(match[0])
        end = match.end()
    return "".join(kept) or folded.strip()


def content_hash(text: str) -> str:
    """SHA-256 of the comparable form, in hex (003, content hash)."""
    return hashlib.sha256(comparable(text).encode()).hexdigest()


def shorten(text: str, limit: int) -> str:
    """The leading words of a text, at most ``limit`` characters, on one line."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    return (head.rpartition(" ")[0] or head) + "…"
