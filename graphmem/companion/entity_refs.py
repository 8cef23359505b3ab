"""Entity refs: the normal forms of what a memory says of itself (001, Entity normalizer). Pure."""

import math
import re
from collections.abc import Iterable, Mapping

from graphmem.model.companion import EntityKind, FactType, NewFact, Subtype
from graphmem.model.names import slug, slug_with_signs
from graphmem.text.normalise import is_storable, nfc, one_line

REFS_MAX = 5
IMPORTANCE, IMPORTANCE_MAX = 1, 3
LABEL_MAX_CHARS = 100
_KEY_CONTENT_MAX_CHARS = 120
_PUNCTUATION = re.compile(r"""[.,!?;:'"(){}\[\]\\/]""")
REF_MAX_CHARS = 400  # so that the key of a memory, with its types, is none too long


def ref_of(kind: EntityKind, name: str) -> str | None:
    """The key of something of a kind, ``person:john_doe``; None where the name has no letters."""
    name = slug_with_signs(name) if is_storable(name) else ""
    return f"{kind}:{name}" if name else None


def is_ref(text: object) -> bool:
    """Whether a value is a well-formed key of something."""
    if not isinstance(text, str) or len(text) > REF_MAX_CHARS or not is_storable(text):
        return False
    kind, colon, name = text.partition(":")
    is_kind = bool(colon) and kind in set(EntityKind)
    return is_kind and bool(name) and name in {slug(name), slug_with_signs(name)}


def refs_of(values: Iterable[object], overrides: Mapping[str, str]) -> tuple[str, ...]:
    """The first five well-formed keys, in order; ``overrides`` maps variants to what is meant."""
    found = [str(value) for value in values if is_ref(value)]
    return tuple(dict.fromkeys(overrides.get(ref, ref) for ref in found))[:REFS_MAX]


def united_refs(known: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """The keys of a memory, then new ones, five at most."""
    return tuple(dict.fromkeys((*known, *new)))[:REFS_MAX]


def subtype_of(values: object) -> Subtype:
    """The subtype of untrusted values; unknown ones are dropped field by field."""
    if not isinstance(values, Mapping):
        return Subtype()
    kinds = {each.value: each for each in EntityKind}
    types = {each.value: each for each in FactType}
    return Subtype(
        entity_type=kinds.get(_text(values.get("entityType", values.get("entity_type")))),
        fact_type=types.get(_text(values.get("factType", values.get("fact_type")))),
    )


def importance_of(value: object) -> int:
    """An importance from 0 to 3, rounded half up; anything else is standard."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return IMPORTANCE
    return math.floor(value + 0.5) if 0 <= value <= IMPORTANCE_MAX else IMPORTANCE


def label_of(value: object) -> str | None:
    """A label of 1 to 100 characters, on one line; None for anything else."""
    if not isinstance(value, str) or not is_storable(value):
        return None
    label = one_line(value)
    return label if 1 <= len(label) <= LABEL_MAX_CHARS else None


def memory_key(fact: NewFact) -> str:
    """What a memory is known by: ``people|person|john_doe|relationship`` (001, memoryKey)."""
    primary = primary_of(fact.entity_refs, fact.content)
    entity_type = fact.subtype.entity_type or "none"
    fact_type = fact.subtype.fact_type or FactType.FACT
    return f"{fact.kind.lower()}|{entity_type}|{primary}|{fact_type}"


def primary_of(refs: Iterable[str], content: str) -> str:
    """The name of the first ref; without one what is said, whatever its layout."""
    first = next(iter(refs), None)
    if first:
        return first.partition(":")[2]
    bare = _PUNCTUATION.sub("", nfc(content.lower()))
    return "content:" + " ".join(bare.split())[:_KEY_CONTENT_MAX_CHARS]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
