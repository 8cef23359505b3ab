"""Consolidation (003): the spaces that are due are gone through step by step, in one order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model.job import Run
from graphmem.model.policy import ConsolidatePolicy
from graphmem.model.policy.kinds import is_left_alone
from graphmem.model.space import Space, space_from_key
from graphmem.model.upkeep_rows import SpaceState
from graphmem.ports import Clock
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep


def is_consolidation_due(state: SpaceState, policy: ConsolidatePolicy, now: datetime) -> bool:
    """Whether a space is due: enough in it, three writes since, ten minutes ago (003)."""
    last = state.consolidated_at
    return (
        state.memories >= policy.memories
        and state.writes >= policy.writes
        and (last is None or now - last >= timedelta(minutes=policy.minutes))
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class DueSpace:
    """A space that is consolidated: its policy, what is known of it, and when the pass began."""

    space: Space
    policy: ConsolidatePolicy
    state: SpaceState
    now: datetime


SpaceStep = Callable[[DueSpace, Run], None]


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """Goes through the spaces that are due, step by step."""

    upkeep: Upkeep
    clock: Clock
    policies: SpacePolicies
    steps: Sequence[SpaceStep]

    def run(self, run: Run) -> None:
        """One pass over the spaces that are due."""
        now = self.clock.now()
        for page in self.upkeep.spaces(run.space):
            for state in page:
                space = space_from_key(state.space)
                policy = self.policies.of(space).upkeep.consolidate
                is_due = policy.enabled and is_consolidation_due(state, policy, now)
                if is_left_alone(space) or not (run.by_hand or is_due):
                    continue
                if run.must_stop():
                    return
                due = DueSpace(space=space, policy=policy, state=state, now=now)
                for step in self.steps:
                    step(due, run)
                if not run.dry_run:
                    self.upkeep.mark_consolidated(state.space, now=now)
