"""Entities: the people, places, organisations, projects and things that memories mention."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class EntityType(StrEnum):
    """The types of an entity key (001 has the first four, 003 adds the others)."""

    PERSON = "person"
    PLACE = "place"
    ORG = "org"
    PROJECT = "project"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class EntityRef:
    """A mention of an entity: its key, ``person:john_doe``, and how it was written there."""

    key: str
    label: str | None = None


_KEY = re.compile(r"([a-z]+):(.+)", re.DOTALL)
_BLANKS = re.compile(r"[\s_-]+")


def slug(text: str) -> str:
    """The entity normaliser (001): lower case, letters and digits of any script, joined by ``_``."""
    kept = "".join(
        char if char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"} or char in "_-" else " "
        for char in unicodedata.normalize("NFC", text).lower()
    )
    return _BLANKS.sub("_", kept).strip("_")


def entity_key(text: str) -> str:
    """Normalise ``type:name`` to an entity key.

    Raises:
        ValueError: the type is unknown or the name has no letter or digit.
    """
    match = _KEY.fullmatch(text.strip())
    if not match or match[1] not in set(EntityType) or not slug(match[2]):
        msg = f"Must be type:name with a type of {', '.join(EntityType)} and a name with letters or digits."
        raise ValueError(msg)
    return f"{match[1]}:{slug(match[2])}"


def label_from_key(key: str) -> str:
    """A readable label for a key that came without one: ``person:john_doe`` → ``John Doe``."""
    return key.partition(":")[2].replace("_", " ").title()
