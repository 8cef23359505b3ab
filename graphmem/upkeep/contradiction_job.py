"""Contradiction job: looks for memories that disagree, as a step of consolidation or by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from graphmem.errors import ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.model.job import Run
from graphmem.model.memory import Memory
from graphmem.model.policy import ConsolidatePolicy, ContradictionPolicy, UpkeepPolicy
from graphmem.model.policy.kinds import is_left_alone
from graphmem.model.space import space_from_key
from graphmem.model.state import Selection
from graphmem.model.upkeep_rows import SpaceState
from graphmem.ports import Clock
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.batch_rules import BATCH
from graphmem.upkeep.consolidation import DueSpace
from graphmem.upkeep.contradictions import (
    Disagreement,
    decide_disagreements,
    edges_between,
    find_disagreements,
)
from graphmem.upkeep.model_judge import ModelJudge

_ASKED_PAIRS = 40  # that a model is asked about in one space


def is_check_due(state: SpaceState, policy: UpkeepPolicy) -> bool:
    """Whether a space is looked at by itself: something was written, and no pass comes.

    Or a pass of an earlier version left it to be done.
    """
    is_new = state.unchecked > 0 and not policy.consolidate.enabled
    return policy.contradictions.enabled and (state.check_due or is_new)


@dataclass(frozen=True, kw_only=True)
class ContradictionJob:
    """Finds memories that disagree, by rules and, if there is one, by a language model."""

    upkeep: Upkeep
    memories: Memories
    gateway: Gateway
    judge: ModelJudge | None
    clock: Clock
    policies: SpacePolicies

    def run(self, run: Run) -> None:
        """One pass over the spaces that are due."""
        now = self.clock.now()
        for page in self.upkeep.spaces(run.space):
            for state in page:
                space = space_from_key(state.space)
                policy = self.policies.of(space).upkeep
                if is_left_alone(space) or not (run.by_hand or is_check_due(state, policy)):
                    continue
                if run.must_stop():
                    return
                self._check(state.space, policy.contradictions, policy.consolidate, run, now)
                if not run.dry_run:
                    self.upkeep.mark_checked(state.space, now=now)

    def check(self, due: DueSpace, run: Run) -> None:
        """Look for contradictions in a space that is consolidated, where it wants that."""
        policy = self.policies.of(due.space).upkeep.contradictions
        if policy.enabled:
            self._check(due.space.key, policy, due.policy, run, due.now)

    def _check(
        self,
        space: str,
        policy: ContradictionPolicy,
        consolidate: ConsolidatePolicy,
        run: Run,
        now: datetime,
    ) -> None:
        found = find_disagreements(self.upkeep.statements(space))
        self._decide(found, policy, run, now)
        if self.judge:
            known = {frozenset((pair.newer, pair.older)) for pair in found}
            near = self._near(space, policy, consolidate, now)
            unknown = [
                pair for pair in near if frozenset(memory.key for memory in pair) not in known
            ]
            self._decide(
                self._asked(self.judge, unknown[:_ASKED_PAIRS], policy, run), policy, run, now
            )

    def _near(
        self, space: str, policy: ContradictionPolicy, consolidate: ConsolidatePolicy, now: datetime
    ) -> list[tuple[Memory, Memory]]:
        """The new memories and those near them of the same entity, the newer one first."""
        near = self.upkeep.near(
            space, newest=consolidate.newest, neighbours=consolidate.neighbours, now=now
        )
        alike = [
            (pair.key, pair.other)
            for pair in near
            if pair.other and pair.similarity >= policy.similarity
        ]
        memories = self.memories.by_key({key for pair in alike for key in pair})
        pairs: dict[frozenset[str], tuple[Memory, Memory]] = {}
        for keys in alike:
            one, other = sorted(
                (memories[key] for key in keys), key=lambda each: (each.created_at, each.uid)
            )
            if {ref.key for ref in one.entities} & {ref.key for ref in other.entities}:
                pairs.setdefault(frozenset(keys), (other, one))
        return list(pairs.values())

    def _asked(
        self,
        judge: ModelJudge,
        pairs: Sequence[tuple[Memory, Memory]],
        policy: ContradictionPolicy,
        run: Run,
    ) -> list[Disagreement]:
        if not pairs:
            return []
        try:
            return judge.disagreements(pairs, confidence=policy.confidence)
        except ModelUnavailable as error:
            run.note_degraded(f"contradictions by rules alone: {error.message}")
            return []

    def _decide(
        self,
        found: Sequence[Disagreement],
        policy: ContradictionPolicy,
        run: Run,
        now: datetime,
    ) -> None:
        present = [pair for pair in found if run.gone.isdisjoint((pair.newer, pair.older))]
        for start in range(0, len(present), BATCH // 2):
            batch = present[start : start + BATCH // 2]
            self.gateway.execute(
                JobStep(
                    selected=Selection(
                        memories=frozenset(
                            key for pair in batch for key in (pair.newer, pair.older)
                        ),
                        edges=edges_between(batch),
                    ),
                    decider=partial(
                        decide_disagreements, disagreements=batch, policy=policy, now=now
                    ),
                ),
                run,
            )
