"""Policy overrides: single numbers of the policy, set in the file for all spaces or for one space."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from graphmem.model.policy import Policy

# what may differ from space to space; limits and what is indexed hold for the whole service
_CHANGEABLE = (
    "write.refuse_secrets",
    "write.refuse_injection",
    *(
        f"recall.{part}."
        for part in ("fused", "rrf", "blend", "lifecycle", "plan", "graph", "cards")
    ),
    "upkeep.",
)
_NEVER_ZERO = {
    "fold_contents",
    "summarise_batch",
    "half_life_days",
    "rrf.age_days",
    "access_divisor",
    "seeds",
    "rows",
}
_NUMBER_MAX = 1_000_000
_MOST = {  # what makes work
    "seeds": 100,
    "hub": 1_000,
    "candidates": 500,
    "rows": 500,
    "cards": 50,
    "facts": 50,
    "entities_used": 16,
    "vector_candidates": 500,
    "text_candidates": 500,
    "minimal_limit": 200,
    "full_limit": 200,
    "days": 36_500,
    "age_days": 36_500,
    "every_hours": 876_000,
    "minutes": 1_000_000,
    "similarity": 1,
    "importance": 100,
    "fold_importance": 100,
    "summarise_importance": 100,
    "fold_contents": 50,
    "folds": 100,
    "newest": 200,
    "neighbours": 50,
    "summaries": 100,
    "topics": 500,
    "summarise_batch": 500,
}

_LEAST = {"fold_members": 2}


def policy_values(policy: Policy) -> dict[str, Any]:
    """All values of a policy that may be overridden, by their path."""
    return {path: value for path, value in _flat(policy, "") if path.startswith(_CHANGEABLE)}


def value_at(policy: Policy, path: str) -> object:
    """The value at a path of a policy, such as recall.rrf.k."""
    part: object = policy
    for name in path.split("."):
        part = getattr(part, name)
    return part


def override_problems(overrides: Mapping[str, object]) -> dict[str, list[str]]:
    """What is wrong with overrides, by path; empty when all is well."""
    known = policy_values(Policy())
    problems: dict[str, list[str]] = {}
    for path, value in overrides.items():
        if path not in known:
            problems[path] = ["There is no such value in the policy, or it cannot be overridden."]
        elif problem := _problem(path, known[path], value):
            problems[path] = [problem]
    return problems


def with_overrides(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """A policy with some values replaced; they must have no problems."""
    changed: Any = policy
    for path, value in overrides.items():
        changed = _replaced(changed, path.split("."), value)
    result: Policy = changed
    return result


def _replaced(part: Any, path: list[str], value: Any) -> Any:  # noqa: ANN401 - any section of the policy
    name, *rest = path
    present = getattr(part, name)
    return replace(
        part, **{name: _replaced(present, rest, value) if rest else type(present)(value)}
    )


def _flat(part: Any, prefix: str) -> list[tuple[str, Any]]:  # noqa: ANN401 - any section of the policy
    found: list[tuple[str, Any]] = []
    for each in fields(part):
        value = getattr(part, each.name)
        path = f"{prefix}{each.name}"
        found += _flat(value, f"{path}.") if is_dataclass(value) else [(path, value)]
    return found


def _problem(path: str, default: object, value: object) -> str | None:
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "Must be true or false."
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - not a number
        return "Must be a number."
    most = _MOST.get(path.rpartition(".")[2], _NUMBER_MAX)
    never_zero = path.endswith(tuple(_NEVER_ZERO))
    if not 0 <= value <= most or (value == 0 and never_zero):
        return f"Must be {'above' if never_zero else 'at least'} 0 and at most {most:,}."
    if value < (least := _LEAST.get(path.rpartition(".")[2], 0)):
        return f"Must be at least {least}."
    if isinstance(default, int) and value != int(value):
        return "Must be an integer."
    return None
