"""Fragments: one thing that the graph knows under several names (003, Consolidation 3)."""

from collections import defaultdict
from collections.abc import Iterable

from graphmem.model.entity import EntityType, joined_name, label_signs
from graphmem.model.entity_change import EntityState

Merge = tuple[str, str]  # the key of the fragment, and of what it becomes


def entity_fragments(entities: Iterable[EntityState]) -> list[Merge]:
    """Which entities of one space and type have names that differ in blanks alone.

    One that was declared stays as it is. A specific type wins over ``other``, then the longest
    name, then the one that is mentioned most. Names with digits are left to curators: version 1.2
    is not version 12. Signs that count divide names: those of the key, and those of a label that an
    older version put on a key without them.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[EntityState]] = defaultdict(list)
    for entity in sorted(entities, key=lambda each: each.key):
        name = joined_name(entity.key)
        if not entity.is_merged and not any(char.isdigit() for char in name):
            groups[name, label_signs(entity.label)].append(entity)
    merges: list[Merge] = []
    for group in groups.values():
        specific = {_type(entity) for entity in group} - {EntityType.OTHER.value}
        if len(group) > 1 and len(specific) <= 1:
            into = max(group, key=_standing)
            merges += _merged(group, into)
        else:
            merges += _within_types(group)
    return merges


def _within_types(group: list[EntityState]) -> list[Merge]:
    """Where a name is of several specific types, only fragments of the same type are one."""
    merges: list[Merge] = []
    for kind in sorted({_type(entity) for entity in group}):
        same = [entity for entity in group if _type(entity) == kind]
        into = max(same, key=_standing)
        merges += _merged(same, into)
    return merges


def _merged(group: Iterable[EntityState], into: EntityState) -> list[Merge]:
    return [
        (entity.key, into.key) for entity in group if entity is not into and not entity.is_declared
    ]


def _type(entity: EntityState) -> str:
    return entity.key.partition(":")[0]


def _standing(entity: EntityState) -> tuple[bool, bool, int, int, str]:
    return (
        entity.is_declared,
        _type(entity) != EntityType.OTHER.value,
        len(entity.key.partition(":")[2]),
        entity.mentions,
        entity.key,
    )
