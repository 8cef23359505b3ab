"""Entities: the people, places, organisations, projects and things that memories mention."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Levenshtein


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


_KEY_MAX_CHARS = 2_048  # in any Unicode form, which is looked at before its form is
_KEY = re.compile(r"([a-z]+):(.+)", re.DOTALL)
_BLANKS = re.compile(r"[\s_-]+")


def slug(text: str) -> str:
    """The entity normaliser (001): lower-case letters and digits, joined by ``_``."""
    kept = "".join(
        char
        if char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"} or char in "_-"
        else " "
        for char in unicodedata.normalize("NFC", text).lower()
    )
    return _BLANKS.sub("_", kept).strip("_")


def entity_key(text: str, overrides: Mapping[str, str] | None = None) -> str:
    """Normalise ``type:name`` to an entity key.

    ``overrides`` maps variants to the key that is meant (001).

    Raises:
        ValueError: the type is unknown or the name has no letter or digit.
    """
    match = _KEY.fullmatch(text.strip()) if len(text) <= _KEY_MAX_CHARS else None
    if not match or match[1] not in set(EntityType) or not slug(match[2]):
        types = ", ".join(EntityType)
        msg = f"Must be type:name with a type of {types} and a name with letters or digits."
        raise ValueError(msg)
    key = f"{match[1]}:{slug(match[2])}"
    return (overrides or {}).get(key, key)


def label_from_key(key: str) -> str:
    """A readable label for a key that came without one: ``person:john_doe`` → ``John Doe``."""
    return key.partition(":")[2].replace("_", " ").title()


class Likeness(StrEnum):
    """How alike two names are, the strongest first (003, Entity file and index)."""

    EQUAL = "equal"
    EQUAL_WITHOUT_SEPARATORS = "equal_without_separators"
    CONTAINED = "contained"
    NEARLY_EQUAL = "nearly_equal"
    UNLIKE = "unlike"


_CONTAINED_MIN_CHARS = 4
_CONTAINED_SHARE = 0.6
_DISTANCE_MAX = 2
_DISTANCE_MIN_CHARS = 4


def likeness(one: str, other: str) -> Likeness:
    """How alike the names of two entity keys are; ``nearly_equal`` is at most two letters apart."""
    first, second = (key.partition(":")[2] for key in (one, other))
    if first == second:
        return Likeness.EQUAL
    first, second = (name.replace("_", "") for name in (first, second))
    if first == second:
        return Likeness.EQUAL_WITHOUT_SEPARATORS
    short, long = sorted((first, second), key=len)
    if (
        short in long
        and len(short) >= _CONTAINED_MIN_CHARS
        and len(short) > _CONTAINED_SHARE * len(long)
    ):
        return Likeness.CONTAINED
    distance = Levenshtein.distance(short, long, score_cutoff=_DISTANCE_MAX)
    if len(short) >= _DISTANCE_MIN_CHARS and distance <= _DISTANCE_MAX:
        return Likeness.NEARLY_EQUAL
    return Likeness.UNLIKE


def digits_differ(one: str, other: str) -> bool:
    """Whether two names hold different digits: Boeing 737 and Boeing 747 are never one."""
    first, second = ([char for char in key if char.isdigit()] for key in (one, other))
    return first != second
