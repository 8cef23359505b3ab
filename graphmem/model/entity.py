"""Entities: the people, places, organisations, projects and things that memories mention."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from rapidfuzz.distance import Levenshtein

from graphmem.model.names import (
    Part,
    is_with_signs,
    parts_of_slug,
    slug,
    slug_with_signs,
    spelling,
)


class EntityType(StrEnum):
    """The known types of an entity key (001 has the first four, 003 adds the others)."""

    PERSON = "person"
    PLACE = "place"
    ORG = "org"
    PROJECT = "project"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class EntityRef:
    """A mention of an entity: its key, ``person:john_doe``, and how it was written there.

    ``name`` is what a key was made of, if signs of it count.
    """

    key: str
    label: str | None = None
    name: str | None = None

    @property
    def plain_key(self) -> str | None:
        """The key without the signs of the name, which one that was there before them has.

        It is meant as long as that has exactly this name as its label.
        """
        plain = slug(self.name) if self.name else ""
        return f"{self.key.partition(':')[0]}:{plain}" if plain else None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that it may mean."""
        return (self.key, self.plain_key) if self.plain_key else (self.key,)

    def meant(self, labels: Mapping[str, str]) -> str:
        """The key that it means; ``labels`` are those of the entities that are there, by key."""
        plain = self.plain_key
        return plain if plain and labels.get(plain) == self.name else self.key


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """An entity of an owner: ``space`` is a key without persona.

    A declared one needs no mention; ``description`` and ``attributes`` are its own.
    """

    key: str  # within its space: person:john_doe
    space: str
    label: str
    aliases: tuple[str, ...] = ()
    is_declared: bool = False
    description: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None  # when it was last declared or changed

    @property
    def type(self) -> str:
        """Its type, the first part of its key."""
        return self.key.partition(":")[0]

    def seen_from(self, spaces: Collection[str]) -> "Entity":
        """What readers of some spaces see: what is declared in the owner's is said to its readers.

        A persona shares the names of its owner's entities alone.
        """
        if self.space in spaces:
            return self
        return Entity(key=self.key, space=self.space, label=self.label, aliases=self.aliases)


_KEY_MAX_CHARS = 2_048  # in any Unicode form, which is looked at before its form is
_SPELT_MAX_CHARS = 512  # with words for signs
_LABEL_MAX_CHARS = 100
_TYPE = "[a-z][a-z0-9_]{0,39}"
_TYPE_ALONE = re.compile(_TYPE)
_KEY = re.compile(rf"({_TYPE}):(.+)", re.DOTALL)
TYPE_FORM = "Must be a lower-case letter and up to 39 more of a-z, 0-9 and _."
KEY_FORM = (
    "Must be type:name with a type of lower-case letters, digits and _ (the known ones are"
    f" {', '.join(EntityType)}) and a name with letters, digits or signs that count."
)


def is_entity_type(text: str) -> bool:
    """Whether a text can be the type of an entity."""
    return _TYPE_ALONE.fullmatch(text) is not None


def entity_ref(
    text: str, label: str | None = None, overrides: Mapping[str, str] | None = None
) -> EntityRef:
    """The reference that ``type:name`` makes; without a label, a name with signs is its own.

    ``overrides`` maps variants to the key that is meant (001).

    Raises:
        ValueError: it is not of that form, or no letter, digit or sign that counts is in the name.
    """
    match = _KEY.fullmatch(text.strip()) if len(text) <= _KEY_MAX_CHARS else None
    short = slug_with_signs(match[2]) if match else ""
    if not match or not short:
        raise ValueError(KEY_FORM)
    if is_with_signs(short) and len(short) > _SPELT_MAX_CHARS:
        message = f"Must be at most {_SPELT_MAX_CHARS} characters with words for its signs."
        raise ValueError(message)
    key = f"{match[1]}:{short}"
    if meant := (overrides or {}).get(key):
        return EntityRef(key=meant, label=label)
    name = " ".join(unicodedata.normalize("NFC", match[2]).split())
    if short in {slug(name), name.lower()}:
        return EntityRef(key=key, label=label)
    is_label = name.isprintable() and len(name) <= _LABEL_MAX_CHARS
    return EntityRef(key=key, label=label or (name if is_label else None), name=name)


def entity_key(text: str, overrides: Mapping[str, str] | None = None) -> str:
    """Normalise ``type:name`` to an entity key (001, Entity normaliser, and our words for signs).

    Raises:
        ValueError: see entity_ref.
    """
    return entity_ref(text, overrides=overrides).key


def label_from_key(key: str) -> str:
    """A readable label for a key that came without one: ``person:john_doe`` → ``John Doe``."""
    return "".join(
        part.text if part.is_sign else part.text.replace("_", " ").title() for part in _parts(key)
    )


def joined_name(key: str) -> str:
    """The name of a key without what only divides its words; the signs that count stay."""
    return spelling([replace(part, text=part.text.replace("_", "")) for part in _parts(key)])


def signs_of(key: str) -> tuple[str, ...]:
    """The signs of the name of a key that count, in their order; empty for what they divide."""
    return tuple(part.text if part.is_sign else "" for part in _parts(key))


def label_signs(label: str) -> tuple[str, ...]:
    """The signs of a label that count, in their order; nothing stands between them."""
    return tuple(filter(None, signs_of(f"{EntityType.OTHER}:{slug_with_signs(label)}")))


def _parts(key: str) -> list[Part]:
    return parts_of_slug(key.partition(":")[2])


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
    """How alike the names of two entity keys are; ``nearly_equal`` is at most two letters apart.

    Names with different signs are not alike.
    """
    if signs_of(one) != signs_of(other):
        return Likeness.UNLIKE
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
    first, second = (
        [char for part in _parts(key) if not part.is_sign for char in part.text if char.isdigit()]
        for key in (one, other)
    )
    return first != second
