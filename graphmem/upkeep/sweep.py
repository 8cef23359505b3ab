"""Sweeping: a rule goes through the spaces in batches.

Each batch is decided and applied in one transaction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.model.job import Run
from graphmem.model.policy import UpkeepPolicy
from graphmem.model.space import space_from_key
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
    """A rule for single memories: the named query that finds candidates, and the pure function that decides on them."""

    query: str
    parameters: Callable[[UpkeepPolicy, datetime], Mapping[str, Any]]
    decide: Callable[[GraphState, UpkeepPolicy, datetime], Decision]
    is_on: Callable[[UpkeepPolicy], bool] = _always
    with_corrections: bool = False  # whether it asks which memories correct another one


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Spaces that one policy holds in: a space of its own, or all other than some.

    ``space`` is a key or empty.
    """

    policy: UpkeepPolicy
    space: str = ""
    other_than: Sequence[str] = ()


class Sweep:
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
        """The spaces of a run, by the policy that holds in them."""
        if only:
            yield Part(policy=self._policies.of(space_from_key(only)).upkeep, space=only)
            return
        own = self._policies.spaces_with_overrides()
        yield Part(policy=self._policies.base.upkeep, other_than=own)
        below = {persona for space in own for persona in self._upkeep.personas(space)}
        for space in sorted({*own, *below}):
            yield Part(policy=self._policies.of(space_from_key(space)).upkeep, space=space)

    def _run_part(self, rule: Rule, part: Part, run: Run, now: datetime) -> None:
        after = ""
        while not run.must_stop():
            rows = self._connection.fetch(
                rule.query,
                **rule.parameters(part.policy, now),
                space=part.space,
                other_than=list(part.other_than),
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
