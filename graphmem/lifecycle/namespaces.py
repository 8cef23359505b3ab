"""Namespaces: in which space the turns of a session lie, where nobody says so (003). Pure."""

from functools import lru_cache
from typing import Any

from graphmem.model.policy import LifecycleConfig
from graphmem.model.policy.rules import compiled_pattern
from graphmem.model.space import Space, SpaceKind, namespace_name
from graphmem.text.normalise import nfc

_PATTERNS_MAX = 64


def namespace_of(session: str, config: LifecycleConfig) -> str:
    """The namespace of a session: by map, prefix, pattern, else the default one.

    What cannot be the name of a namespace counts as none, and the next rule is asked.
    """
    for rule in (_mapped, _behind_prefix, _matched):
        if name := namespace_name(rule(session, config)):
            return name
    return nfc(config.namespaces_default)


def space_of_session(session: str, config: LifecycleConfig, *, tenant: str) -> Space:
    """The space of a session that names none."""
    return Space(tenant=tenant, kind=SpaceKind.NAMESPACE, owner=namespace_of(session, config))


def _mapped(session: str, config: LifecycleConfig) -> str:
    return config.namespaces_map.get(session, "")


def _behind_prefix(session: str, config: LifecycleConfig) -> str:
    prefix = config.namespaces_prefix
    if not prefix or not session.startswith(prefix):
        return ""
    return session.removeprefix(prefix).partition(":")[0]


def _matched(session: str, config: LifecycleConfig) -> str:
    if not config.namespaces_pattern:
        return ""
    match = _compiled(config.namespaces_pattern).search(session)
    return (match[1] or "") if match else ""


@lru_cache(maxsize=_PATTERNS_MAX)
def _compiled(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    """A pattern that was checked, compiled once."""
    return compiled_pattern(pattern)
