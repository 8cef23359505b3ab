"""Entity keys: how files name the entities of the graph, in the form of 003. Pure."""

import re

from graphmem.lifecycle.entity_matching import core_key, shown_key
from graphmem.model.entity import EntityType, entity_ref

_TYPES = {"company", *EntityType}
_CORE_KEY = re.compile(r"[a-z][a-z0-9_]*:")


def entity_name(key: str) -> str:
    """What stands for the key of an entity: its form of 003, or where that loses something, it."""
    shown = shown_key(key)
    return shown if key_of(shown) == key else key


def key_of(name: str) -> str:
    """The key in the graph of an entity that files name; one without a known type is another.

    What can be no key stays as it is: the check of lines names it.
    """
    is_typed = name.partition("-")[0] in _TYPES
    typed = core_key(name if is_typed else f"{EntityType.OTHER}-{name}")
    try:
        return entity_ref(name if _CORE_KEY.match(name) else typed).key
    except ValueError:
        return name
