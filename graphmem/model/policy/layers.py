"""Policy layers: what was configured for a space, and where each value came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphmem.model.orchestrator_config import policy_overrides
from graphmem.model.policy.kinds import KIND_DEFAULTS
from graphmem.model.space import Space, SpaceKind, configured_name

DEFAULT = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """Values of the policy by their path, and where each was set."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """What the file and the environment set: the policy, and memory.* keys (002)."""

    policy: Mapping[str, Any] = field(default_factory=dict)  # by path
    memory: Mapping[str, Any] = field(default_factory=dict)  # by key
    orchestrators: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # by name; of others tenant/name
    variables: Mapping[str, str] = field(
        default_factory=dict
    )  # path of a setting → the variable that set it
    write_section: Mapping[str, str] = field(default_factory=dict)  # path → its setting there

    def layers_of(self, space: Space) -> tuple[Layer, ...]:
        """What is configured for a space, weakest first.

        What is set for all spaces lies under what the kind of the space says (``kinds``).
        """
        origins = {path: self._origin(self._setting_of(path)) for path in self.policy}
        general = Layer(values=self.policy, origins=origins)
        kind = kind_layer(space, KIND_DEFAULTS)
        if space.kind is not SpaceKind.ORCHESTRATOR:
            return (general, kind)
        name = configured_name(space)
        return (
            general,
            kind,
            self._memory_layer(self.memory, "memory"),
            self._memory_layer(self.orchestrators.get(name, {}), f"orchestrators.{name}.memory"),
        )

    def _memory_layer(self, values: Mapping[str, Any], prefix: str) -> Layer:
        origins = {
            path: self._origin(f"{prefix}.{key}")
            for key in values
            for path in policy_overrides({key: 0})
        }
        return Layer(values=policy_overrides(values), origins=origins)

    def _setting_of(self, path: str) -> str:
        """What screening refuses is set in a section of its own."""
        return self.write_section.get(path, f"policy.{path}")

    def _origin(self, setting: str) -> str:
        variable = self.variables.get(setting)
        return f"environment: {variable}" if variable else f"file: {setting}"


def kind_layer(space: Space, values: Mapping[SpaceKind, Mapping[str, Any]]) -> Layer:
    """What the kind of a space says."""
    own = values.get(space.kind, {})
    return Layer(values=own, origins=dict.fromkeys(own, f"kind: {space.kind}"))


def combined(layers: Iterable[Layer]) -> Layer:
    """Layers as one; a later one counts more."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        values |= layer.values
        origins |= layer.origins
    return Layer(values=values, origins=origins)
