"""Names: where in the folder a record lies. Pure.

Names that come from content hold only a-z, 0-9 and hyphens, so that no file system takes two for
one; where that loses something, a digest behind ``~`` tells them apart.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from graphmem.lifecycle.entity_matching import shown_key
from graphmem.lifecycle.files.dates import day_of, milliseconds_of
from graphmem.lifecycle.files.entity_keys import entity_name
from graphmem.model.extraction import Category
from graphmem.model.memory import Status

_DIGITS = 16  # of a digest
_WORD_MAX_CHARS = 40
_SAFE = re.compile(r"[a-z0-9]+(?:-+[a-z0-9]+)*")
_SAFE_MAX_CHARS = 100
_OWN_ID_END = re.compile(r"-(\d{1,16})-[a-z0-9]{1,15}")
PROFILE, IDENTITY, ALIASES = "profile.md", "IDENTITY.md", "config/aliases.json"


def memory_path(line: Mapping[str, Any], *, is_summary: bool = False) -> str:
    """Where a memory lies, by its status, category and when it was stored."""
    category = (line["native"] or {}).get("category") or line["type"]
    name = _memory_name(line, word(str(category)) or Category.FACT.value)
    day = day_of(line["created_at"])
    if line["status"] == Status.ARCHIVED:
        return f"archive/{day}/{name}"
    if is_summary:
        return f"summaries/{name}"
    return f"corrections/{name}" if category == Category.CORRECTION else f"facts/{day}/{name}"


def _memory_name(line: Mapping[str, Any], category: str) -> str:
    uid = line["uid"]
    if uid.startswith(category) and _OWN_ID_END.fullmatch(uid, len(category)):
        return f"{uid}.md"
    return timed_name(category, line["created_at"], uid)


def timed_name(what: str, moment: str | None, uid: str) -> str:
    """A name in the form of 003: what it is, when that was, and a digest of its id."""
    return f"{what}-{milliseconds_of(moment)}-{_digest(uid)}.md"


def dated_path(folder: str, what: str, moment: str | None, uid: str) -> str:
    """A name in the folder of its day."""
    return f"{folder}/{day_of(moment)}/{timed_name(what, moment, uid)}"


def box_path(uid: str, created_at: str) -> str:
    """Where a box lies."""
    return f"boxes/{day_of(created_at)}/box-{safe(uid)}.md"


def entity_path(key: str) -> str:
    """Where an entity lies, by its key in the graph."""
    shown = entity_name(key)
    return f"entities/{shown if _is_safe(shown) else _told_apart(shown_key(key), key)}.md"


def safe(text: str) -> str:
    """A name that stands for a text, and for no other one."""
    return text if _is_safe(text) else _told_apart(text, text)


def _is_safe(text: str) -> bool:
    return len(text) <= _SAFE_MAX_CHARS and _SAFE.fullmatch(text) is not None


def _told_apart(shown: str, text: str) -> str:
    return f"{word(shown)}~{_digest(text)}"


def word(text: str) -> str:
    """The plain letters and digits of a text, with hyphens between them."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_WORD_MAX_CHARS].strip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def made_uid(what: str, *parts: str) -> str:
    """The uid of something that came without one: the same gets the same."""
    return f"{what}-{_digest(chr(31).join(parts))}"
