"""Entity matching: which entity a name means, and how that was found (003, Entity file). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from graphmem.model.entity import (
    Entity,
    EntityRef,
    EntityType,
    Likeness,
    digits_differ,
    entity_ref,
    joined_name,
    likeness,
)
from graphmem.model.extraction import Named

_CORE_TYPES = {"company": EntityType.ORG}  # 003 calls them otherwise
_OWN_TYPES: Mapping[str, str] = {EntityType.ORG: "company"}
_KNOWN_TYPES = frozenset(EntityType)
_NEAR = (Likeness.CONTAINED, Likeness.NEARLY_EQUAL)


class MatchedBy(StrEnum):
    """How an entity was recognised."""

    EQUAL = "equal"
    WITHOUT_SEPARATORS = "equal_without_separators"
    ALIAS = "alias"
    CONTAINED = "contained"
    NEARLY_EQUAL = "nearly_equal"
    NEW = "new"


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The entity that a name means."""

    ref: EntityRef
    matched_by: MatchedBy


def core_type(type_: str) -> str:
    """The type that the graph has for one of 003; an unknown one is other."""
    wanted = _CORE_TYPES.get(type_, type_)
    return wanted if wanted in _KNOWN_TYPES else EntityType.OTHER


def own_type(key: str) -> str:
    """The type of 003 of the entity of a key."""
    type_ = key.partition(":")[0]
    return _OWN_TYPES.get(type_, type_)


def shown_key(key: str) -> str:
    """The key of an entity in the form of 003: ``person-jane-doe``."""
    return f"{own_type(key)}-{key.partition(':')[2].replace('_', '-')}"


def core_key(key: str) -> str:
    """The key of the graph of a key in the form of 003: ``tool-c--plus--plus``."""
    type_, _, name = key.partition("-")
    slug = name.replace("--", "__").replace("-", "_")
    return f"{_CORE_TYPES.get(type_, type_)}:{slug}"


def named_key(name: str, type_: str) -> str:
    """The key of 003 of a name.

    Raises:
        ValueError: see entity_ref.
    """
    return shown_key(_ref(Named(name=name, type=type_), {}).key)


def _ref(named: Named, overrides: Mapping[str, str]) -> EntityRef:
    """The reference that a name makes; its type in front of it counts once.

    Raises:
        ValueError: see entity_ref.
    """
    type_, name = core_type(named.type), named.name.strip()
    for prefix in {named.type, own_type(f"{type_}:")}:
        if name.lower().startswith(f"{prefix}-"):
            name = name[len(prefix) + 1 :]
    return entity_ref(f"{type_}:{name}", name, overrides)


def match(
    named: Named, known: Sequence[Entity], overrides: Mapping[str, str], *, is_near: bool
) -> Match | None:
    """The entity that a name means among known ones, or a new one; None where it makes no key.

    Only one of the same type is meant, or where the type is not told the only one of that name;
    with ``is_near`` also one whose name contains it or nearly equals it, if it is the only one.
    """
    try:
        ref = _ref(named, overrides)
    except ValueError:
        return None
    same_type = [each for each in known if each.type == ref.key.partition(":")[0]]
    return (
        _equal(ref, same_type)
        or _of_any_type(ref, known)
        or (_nearly(ref, same_type) if is_near else None)
        or Match(ref=ref, matched_by=MatchedBy.NEW)
    )


def _equal(ref: EntityRef, known: Sequence[Entity]) -> Match | None:
    name = (ref.label or "").casefold()
    meant = ref.meant({each.key: each.label for each in known})
    for each in known:
        if each.key == meant:
            return _match(each, MatchedBy.EQUAL)
    joined = [each for each in known if joined_name(each.key) == joined_name(ref.key)]
    if len(joined) == 1:
        return _match(joined[0], MatchedBy.WITHOUT_SEPARATORS)
    called = [
        each
        for each in known
        if name in {alias.casefold() for alias in (*each.aliases, each.label)}
    ]
    return _match(called[0], MatchedBy.ALIAS) if len(called) == 1 else None


def _of_any_type(ref: EntityRef, known: Sequence[Entity]) -> Match | None:
    """The only entity of a name whose type nobody told."""
    if ref.key.partition(":")[0] != EntityType.OTHER:
        return None
    found = [_equal(replace(ref, key=_typed(ref.key, each.type)), [each]) for each in known]
    matches = [each for each in found if each]
    return matches[0] if len(matches) == 1 else None


def _typed(key: str, type_: str) -> str:
    return f"{type_}:{key.partition(':')[2]}"


def _nearly(ref: EntityRef, known: Sequence[Entity]) -> Match | None:
    """The one entity whose name contains the other or nearly equals it."""
    alike = {
        each.key: (each, likeness(ref.key, each.key))
        for each in known
        if not digits_differ(ref.key, each.key) and likeness(ref.key, each.key) in _NEAR
    }
    if len(alike) != 1:
        return None
    ((entity, how),) = alike.values()
    return _match(entity, MatchedBy(how.value))


def _match(entity: Entity, matched_by: MatchedBy) -> Match:
    return Match(ref=EntityRef(key=entity.key, label=entity.label), matched_by=matched_by)
