"""Kinds of spaces: what time does by itself depends on whose space it is (rooms)."""

from collections.abc import Mapping
from typing import Any

from graphmem.model.space import Space, SpaceKind

_ASLEEP: Mapping[str, Any] = {
    "upkeep.speculative.enabled": False,
    "upkeep.commitments.enabled": False,
    "upkeep.archive.enabled": False,
    "upkeep.curate.enabled": False,
    "upkeep.consolidate.enabled": False,
}

# Values that a kind of space has instead of those that are set for all spaces; a space may set its
# own over them.
KIND_DEFAULTS: Mapping[SpaceKind, Mapping[str, Any]] = {SpaceKind.ORCHESTRATOR: _ASLEEP}

# Values that nobody can change in a kind of space.
KIND_ALWAYS: Mapping[SpaceKind, Mapping[str, Any]] = {
    SpaceKind.CORPUS: {**_ASLEEP, "upkeep.contradictions.enabled": False}
}


def is_left_alone(space: Space) -> bool:
    """Whether no job ever changes what a space holds, not even by hand."""
    return space.kind in KIND_ALWAYS
