"""Dedup keys: what governed items that speak of the same have in common (004, dedup_key). Pure."""

import hashlib
import re
import unicodedata

from graphmem.model.governance import EventType, FactKey

_DIGEST_CHARS = 32
_WORDS = re.compile(r"[a-z0-9]+")


def normalised(text: str) -> str:
    """A text in lower case, of letters and digits alone, with single blanks.

    ASCII text is what the source makes of it; of other text the letters stay (trap 34).
    """
    lower = text.lower()
    if lower.isascii():
        return " ".join(_WORDS.findall(lower))
    kept = (each if _is_word(each) else " " for each in lower)
    return " ".join("".join(kept).split())


def _is_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def dedup_key(event: EventType, text: str) -> str:
    """What items that say the same have in common."""
    return f"{event}:{normalised(text)}"


def fact_dedup_key(key: FactKey) -> str:
    """What facts of one key have in common."""
    return f"fact:{key}"


def key_digest(text: str) -> str:
    """What stands for a text that is too long, or too private, to be kept as a key."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
