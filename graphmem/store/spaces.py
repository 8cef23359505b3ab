"""Spaces: how many memories they hold, and the policy that holds in them."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cachetools import TTLCache

from graphmem.errors import MemoryDisabled, StoreUnavailable
from graphmem.model.page import Cursor, Page
from graphmem.model.policy import Policy
from graphmem.model.policy.kinds import KIND_ALWAYS
from graphmem.model.policy.layers import Configuration, Layer, combined, kind_layer
from graphmem.model.policy.overrides import (
    has_section,
    override_problems,
    renamed,
    with_overrides,
)
from graphmem.model.space import Space, SpaceKind, space_from_key
from graphmem.store.connection import Connection
from graphmem.store.pages import read_page

_CACHED_SECONDS = 10.0  # how long a change made by another process may take to be seen
_POLICIES_MAX = 100_000
_NOBODY = "-"
_SHOWN = 100
ORCHESTRATORS = f"/{SpaceKind.ORCHESTRATOR}:"  # a part of the keys of their spaces alone


@dataclass(frozen=True, kw_only=True, slots=True)
class SpaceCounts:
    """A space and how many memories it holds, by type and status."""

    space: Space
    by_type_and_status: Sequence[tuple[str, str, int]]


class Spaces:
    """Counts the memories of spaces."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(
        self, prefixes: Sequence[str], patterns: Sequence[str], *, limit: int, after: Cursor | None
    ) -> Page[SpaceCounts]:
        """One page of the spaces whose keys begin so and match an expression, by key."""
        (cursor,) = after or ("",)
        return read_page(
            self._connection,
            "spaces.counts",
            "spaces.count",
            filters={"space_prefixes": list(prefixes), "space_patterns": list(patterns)},
            cursor={"cursor": cursor},
            limit=limit,
            item_of=_counts,
            cursor_of=lambda row: (row["space"],),
        )

    def outdated(self) -> list[Space]:
        """The first hundred spaces whose names only older versions allowed."""
        rows = self._connection.fetch("spaces.outdated", limit=_SHOWN, space_part=ORCHESTRATORS)
        return [space_from_key(row["space"]) for row in rows]


def _counts(row: Mapping[str, Any]) -> SpaceCounts:
    return SpaceCounts(
        space=space_from_key(row["space"]),
        by_type_and_status=[(kind, status, count) for kind, status, count in row["counts"]],
    )


class SpacePolicies:
    """The policy of a space: the defaults, what is configured, and what is its own."""

    def __init__(
        self, connection: Connection, base: Policy, configuration: Configuration | None = None
    ) -> None:
        self._connection = connection
        self.configuration = configuration or Configuration()
        self._defaults = base
        self._lock = threading.Lock()
        self._last: Mapping[str, Mapping[str, Any]] | None = None
        # what the policies were made of, and they
        self._made: tuple[Mapping[str, Mapping[str, Any]] | None, dict[Space, Policy]] = (None, {})
        self._cache: TTLCache[str, Mapping[str, Mapping[str, Any]]] = TTLCache(1, _CACHED_SECONDS)

    def of(self, space: Space) -> Policy:
        """The effective policy of a space; a persona's own lies over that of its owner."""
        known = self._known()
        made_of, made = self._made  # read once: another thread may begin anew meanwhile
        if made_of is not known:
            made = {}
            self._made = (known, made)
        if (policy := made.get(space)) is None:
            policy = with_overrides(self._defaults, self._layer(space, known).values)
            made[space] = policy
        return policy

    def of_kind(self, kind: SpaceKind) -> Policy:
        """The effective policy of the spaces of a kind that have nothing of their own."""
        return self.of(Space(tenant=_NOBODY, kind=kind, owner=_NOBODY))

    def add_section(self, name: str, section: Any) -> None:  # noqa: ANN401 - a section of its own
        """Add the section of a room, a dataclass as those of the house, to the policy."""
        self._defaults = replace(self._defaults, rooms={**self._defaults.rooms, name: section})
        self._made = (None, {})

    def layer(self, space: Space) -> Layer:
        """All that holds in a space beside the defaults, and where each value came from."""
        return self._layer(space, self._known())

    def _layer(self, space: Space, own: Mapping[str, Mapping[str, Any]]) -> Layer:
        layers = [*self.configuration.layers_of(space)]
        for owner in dict.fromkeys((space.without_persona, space)):
            values = own.get(owner.key, {})
            layers.append(
                Layer(values=values, origins=dict.fromkeys(values, f"space: {owner.name}"))
            )
        return combined([*layers, kind_layer(space, KIND_ALWAYS)])

    def check_enabled(self, space: Space) -> None:
        """Let a call about an orchestrator on only where its memory is switched on.

        Raises:
            MemoryDisabled: it is off (memory.enabled).
        """
        if space.kind is SpaceKind.ORCHESTRATOR and not self.of(space).memory.enabled:
            raise MemoryDisabled

    @property
    def defaults(self) -> Policy:
        """The policy before anything of it is overridden, with the sections that there are."""
        return self._defaults

    @property
    def base(self) -> Policy:
        """The policy of spaces that have none of their own, with the sections that there are."""
        values = self.configuration.policy
        return with_overrides(
            self._defaults,
            {path: values[path] for path in values if has_section(self._defaults, path)},
        )

    def spaces_with_overrides(self) -> list[str]:
        """The keys of the spaces and personas that have something of their own."""
        return sorted(self._known())

    def overrides(self, space: Space) -> Mapping[str, Any]:
        """What a space has of its own, with what its owner has; values by their path."""
        known = self._known()
        return {**known.get(space.without_persona.key, {}), **known.get(space.key, {})}

    def save(self, space: Space, overrides: Mapping[str, Any]) -> None:
        """Set what a space has of its own, instead of what it had."""
        text = json.dumps(overrides, sort_keys=True) if overrides else None
        self._connection.run("spaces.save_policy", space=space.key, policy=text)
        self.reload()

    def reload(self) -> None:
        """Read anew what spaces have of their own."""
        with self._lock:
            self._cache.clear()
        self._known()

    def _known(self) -> Mapping[str, Mapping[str, Any]]:
        with self._lock:
            if "all" in self._cache:
                return self._cache["all"]
        try:
            rows = self._connection.fetch("spaces.policies", limit=_POLICIES_MAX)
        except StoreUnavailable:
            if self._last is None:
                raise
            known = (
                self._last
            )  # better than to wait again; the call itself will fail if the database stays away
        else:
            known = {row["space"]: self._sound(json.loads(row["policy"])) for row in rows}
        with self._lock:
            self._cache["all"] = self._last = known
        return known

    def _sound(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Overrides without what this version no longer knows."""
        overrides = renamed(overrides)
        problems = override_problems(overrides, self._defaults, of_space=True)
        return {path: value for path, value in overrides.items() if path not in problems}
