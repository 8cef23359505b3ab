"""The memory.* keys of the typed graph (002): their checks, and the policy they set."""

from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.model.policy import Policy
from graphmem.model.policy.overrides import value_at


@dataclass(frozen=True, kw_only=True, slots=True)
class _Key:
    """A key: where its value stands in the policy, and which values it takes."""

    path: str
    least: int = 1
    most: int = 1
    only: str | bool | None = None  # the one value that there is
    is_global: bool = False  # holds for the whole service, not for one orchestrator


KEYS: Mapping[str, _Key] = {
    "enabled": _Key(path="memory.enabled"),
    "bulletin_mode": _Key(path="memory.bulletin_mode", only="every_message"),
    "worker_interval_seconds": _Key(
        path="memory.worker_interval_seconds", most=86_400, is_global=True
    ),
    "retrieval.top_n": _Key(path="memory.retrieval.top_n", most=200),
    "retrieval.rrf_k": _Key(path="recall.rrf.k", most=1_000_000),
    "ingest.enabled": _Key(path="memory.ingest.enabled"),
    "ingest.max_file_size_mb": _Key(path="memory.ingest.max_file_size_mb", most=1_024),
    "scope.cross_orchestrator": _Key(path="memory.scope.cross_orchestrator", only=False),
}


def config_problems(values: Mapping[str, object], *, of_one: bool = False) -> dict[str, list[str]]:
    """What is wrong with memory.* values, by key.

    ``of_one`` orchestrator not all of them can be set.
    """
    problems: dict[str, list[str]] = {}
    for name, value in values.items():
        if problem := _problem(name, value, of_one=of_one):
            problems[name] = [problem]
    return problems


def policy_overrides(values: Mapping[str, object]) -> dict[str, object]:
    """The values of the policy that memory.* values set, by their path."""
    return {KEYS[name].path: value for name, value in values.items()}


def config_values(policy: Policy) -> dict[str, object]:
    """The memory.* values of a policy, by key."""
    return {name: value_at(policy, key.path) for name, key in KEYS.items()}


def _problem(name: str, value: object, *, of_one: bool) -> str | None:
    key = KEYS.get(name)
    if key is None:
        return "There is no such key."
    if of_one and key.is_global:
        return "Holds for the whole service: set it under memory."
    default = value_at(Policy(), key.path)
    if type(value) is not type(default):
        return f"Must be {_KINDS[type(default)]}."
    if key.only is not None and value != key.only:
        return f"Must be {str(key.only).lower()} in this version."
    if type(value) is int and not key.least <= value <= key.most:
        return f"Must be an integer from {key.least} to {key.most:,}."
    return None


_KINDS = {bool: "true or false", int: "an integer", str: "a text"}
