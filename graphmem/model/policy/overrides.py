"""Policy overrides: single values of the policy, by path, set for all spaces or for one."""

from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any

from graphmem.model.policy import Policy
from graphmem.model.policy.rules import Rule, rule_of

_OLDER_REFUSAL, _INSTRUCTIONS = "write.refuse_injection", "screening.instructions"
_NEWER_NAMES = {"recall.lifecycle.intent_weight": "recall.lifecycle.intent_routing_boost"}


def policy_values(policy: Policy, *, of_space: bool = False) -> dict[str, Any]:
    """All values of a policy that may be overridden, or may be in one space, by their path."""
    return {
        path: value for path, value, rule in _changeable(policy) if not (of_space and rule.of_all)
    }


def value_at(policy: Policy, path: str) -> object:
    """The value at a path of a policy, such as recall.rrf.k."""
    part: object = policy
    for name in path.split("."):
        part = _part(part, name)
    return part


def has_section(policy: Policy, path: str) -> bool:
    """Whether a policy has the section that a path begins with."""
    section = path.partition(".")[0]
    return hasattr(policy, section) or section in policy.rooms


def renamed(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides under the names of today; of an older and its newer name the newer one counts."""
    found: dict[str, Any] = {}
    for path, value in overrides.items():
        if path == _OLDER_REFUSAL and isinstance(value, bool):
            found.setdefault(_INSTRUCTIONS, "refuse" if value else "mark")
        elif path in _NEWER_NAMES:
            found.setdefault(_NEWER_NAMES[path], value)
        else:
            found[path] = value
    return found


def gathered(values: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides in which the entries of a table of the policy are that table again."""
    tables = [path for path, value in policy_values(Policy()).items() if isinstance(value, Mapping)]
    found: dict[str, Any] = {}
    for path, value in values.items():
        table = next((each for each in tables if path.startswith(f"{each}.")), None)
        if table:
            found.setdefault(table, {})[path.removeprefix(f"{table}.")] = value
        else:
            found[path] = value
    return found


def override_problems(
    overrides: Mapping[str, object], policy: Policy | None = None, *, of_space: bool = False
) -> dict[str, list[str]]:
    """What is wrong with overrides, by path; empty when all is well.

    ``policy`` has the sections that there are. Overrides ``of_space`` are those of one space.
    """
    known = {path: (value, rule) for path, value, rule in _changeable(policy or Policy())}
    problems: dict[str, list[str]] = {}
    for path, value in overrides.items():
        if path not in known:
            problems[path] = ["There is no such value in the policy, or it cannot be overridden."]
            continue
        default, rule = known[path]
        if problem := rule.problem(default, value):
            problems[path] = [problem]
        elif of_space and rule.of_all:
            problems[path] = ["Holds for all spaces: the settings alone set it."]
    return problems


def with_overrides(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """A policy with some values replaced; they must have no problems."""
    changed: Any = policy
    for path, value in overrides.items():
        changed = _replaced(changed, path.split("."), value)
    result: Policy = changed
    return result


def _part(section: Any, name: str) -> Any:  # noqa: ANN401 - any section of the policy
    """A part of a section; sections of added rooms stand beside those of the house."""
    if isinstance(section, Policy) and name in section.rooms:
        return section.rooms[name]
    return getattr(section, name)


def _replaced(section: Any, path: list[str], value: Any) -> Any:  # noqa: ANN401 - any section
    name, *rest = path
    present = _part(section, name)
    changed = _replaced(present, rest, value) if rest else type(present)(value)
    if isinstance(section, Policy) and name in section.rooms:
        return replace(section, rooms={**section.rooms, name: changed})
    return replace(section, **{name: changed})


def _changeable(policy: Policy) -> Iterator[tuple[str, Any, Rule]]:
    """The path, value and rule of all that may be set."""
    yield from _of_section(policy, "")
    for name, section in policy.rooms.items():
        yield from _of_section(section, f"{name}.")


def _of_section(section: Any, prefix: str) -> Iterator[tuple[str, Any, Rule]]:  # noqa: ANN401
    each: Field[Any]
    for each in fields(section):
        value, path = getattr(section, each.name), f"{prefix}{each.name}"
        if is_dataclass(value):
            yield from _of_section(value, f"{path}.")
        elif rule := rule_of(each):
            yield path, value, rule
