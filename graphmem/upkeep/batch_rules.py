"""Sweeping: a rule goes through the spaces in batches.

Each batch is decided and applied in one transaction.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.model.job import Run
from graphmem.model.policy import UpkeepPolicy
from graphmem.model.policy.kinds import KIND_ALWAYS, is_left_alone
from graphmem.model.space import SpaceKind, space_from_key
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.ports import Clock
from graphmem.store.connection import Connection
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep

BATCH = 500


def _always(_: UpkeepPolicy) -> bool:
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A rule for single memories: the query that finds them, the function that decides.

    The query of that name with ``_of_space`` finds those of one space, without a look at any other.
    """

    query: str
    parameters: Callable[[UpkeepPolicy, datetime], Mapping[str, Any]]
    decide: Callable[[GraphState, UpkeepPolicy, datetime], Decision]
    is_on: Callable[[UpkeepPolicy], bool] = _always
    with_corrections: bool = False  # whether it asks which memories correct another one


_LEFT_ALONE = frozenset(KIND_ALWAYS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Spaces that one policy holds in: a space of its own, or those of some kinds but some.

    ``space`` is a key or empty.
    """

    policy: UpkeepPolicy
    kinds: Sequence[SpaceKind]
    space: str = ""
    other_spaces: Sequence[str] = ()


class BatchRules:
    """Goes through spaces with a rule."""

    def __init__(
        self,
        connection: Connection,
        upkeep: Upkeep,
        *,
        gateway: Gateway,
        clock: Clock,
        policies: SpacePolicies,
    ) -> None:
        self._connection = connection
        self._upkeep = upkeep
        self._gateway = gateway
        self._clock = clock
        self._policies = policies

    def run(self, rule: Rule, run: Run, *, only: str = "", also_off: bool = True) -> None:
        """Apply a rule to all that it finds, until it finds no more or the run must stop.

        ``only`` is the key of the one space to work in, if the run itself names none. A run by hand
        works also where the rule is switched off, unless ``also_off`` says no.
        """
        now = self._clock.now()
        for part in self._parts(only or run.space):
            if rule.is_on(part.policy) or (run.by_hand and also_off):
                self._run_part(rule, part, run, now)

    def _parts(self, only: str) -> Iterator[Part]:
        """The spaces of a run, by the policy that holds in them; those left alone have no part."""
        if only:
            yield from self._part_of(only)
            return
        own = self._policies.spaces_with_overrides()
        by_policy: dict[UpkeepPolicy, list[SpaceKind]] = defaultdict(list)
        for kind in SpaceKind:
            if kind not in _LEFT_ALONE:
                by_policy[self._policies.of_kind(kind).upkeep].append(kind)
        for policy, kinds in by_policy.items():
            yield Part(policy=policy, kinds=kinds, other_spaces=own)
        for key in sorted({*own, *self._upkeep.personas(own)}):
            yield from self._part_of(key)

    def _part_of(self, key: str) -> Iterator[Part]:
        space = space_from_key(key)
        if not is_left_alone(space):
            yield Part(policy=self._policies.of(space).upkeep, kinds=[space.kind], space=key)

    def _run_part(self, rule: Rule, part: Part, run: Run, now: datetime) -> None:
        after = ""
        query = f"{rule.query}_of_space" if part.space else rule.query
        where = {"space": part.space} if part.space else {}
        while not run.must_stop():
            rows = self._connection.fetch(
                query,
                **rule.parameters(part.policy, now),
                **where,
                kinds=[kind.value for kind in part.kinds],
                other_spaces=list(part.other_spaces),
                after=after,
                limit=BATCH,
            )
            if not rows:
                return
            after = rows[-1]["key"]
            found = frozenset(row["key"] for row in rows) - run.gone
            self._gateway.execute(
                JobStep(
                    selected=Selection(
                        memories=found, corrections=found if rule.with_corrections else frozenset()
                    ),
                    decider=lambda state: rule.decide(state, part.policy, now),
                ),
                run,
            )
