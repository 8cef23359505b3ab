"""Statements: what facts of 003 are known by: their words, and of what they state a value.

ASCII text hashes as in 003, which strips all but letters and digits, unless a sign in it counts:
C# is not C++, 5 % not 5, -3 not 3. Letters of all scripts stay (traps 34 and 57).
"""

import hashlib
import re

import regex

from graphmem.text.analysis import words
from graphmem.text.assertions import Assertion, assertion_of
from graphmem.text.normalise import nfc

STATEMENT_MAX_CHARS = 4_000  # no fact is longer
_ASSERTION_MAX_CHARS = 400
_KEPT = regex.compile(r"[\p{L}\p{M}\p{N}\p{S}]+|(?<=[\p{L}\p{N}])[#%]+|(?<![\p{L}\p{N}])-(?=\p{N})")
_OPENING = re.compile(
    r"(?:(?:actually|no|sorry|wait|oops|correction|i meant?|let me correct that|fyi)\b[\s,.:;!-]*)"
    r"+",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"[,;(]\s*(?:and\s+)?(?:not|instead of|rather than|no longer)\b.*", re.DOTALL
)
_SPEAKER = frozenset({"i", "my", "me", "user"})


def statement_form(text: str) -> str:
    """A statement in lower case, its words divided by single blanks, without punctuation."""
    parts: list[str] = []
    end = -1
    for match in _KEPT.finditer(nfc(text).lower()):
        parts.append(match[0] if match.start() == end else f" {match[0]}")
        end = match.end()
    return "".join(parts).strip()


def statement_hash(text: str) -> str:
    """SHA-256 of the normal form of a statement, in hex (003, Content-hash deduplication)."""
    return hashlib.sha256(statement_form(text).encode()).hexdigest()


def stated(text: str) -> Assertion | None:
    """The value that a statement states of something, without what it only sets right."""
    if len(text) > _ASSERTION_MAX_CHARS:
        return None
    bare = _CONTRAST.sub("", text[_opening_of(text) :]).strip()
    return assertion_of(bare)


def _opening_of(text: str) -> int:
    found = _OPENING.match(text)
    return found.end() if found else 0


def stated_of(text: str, actor: str | None) -> str | None:
    """What stands for the subject and family of which a text states a value.

    A speaker who says ``I`` is meant by name, where that is known.
    """
    found = stated(text)
    if found is None:
        return None
    subject = found.subject
    if subject and subject[0] in _SPEAKER:
        subject = (*(words(actor) if actor else ("i",)), *subject[1:])
    said = "|".join((" ".join(subject), found.family))
    return hashlib.sha256(said.encode()).hexdigest()[:32]
