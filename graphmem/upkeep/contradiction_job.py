"""Contradiction job: looks for memories that disagree, as a step of consolidation or by itself."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from graphmem.errors import ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.model.job import Run
from graphmem.model.memory import Memory
from graphmem.model.policy import ContradictionPolicy, UpkeepPolicy
from graphmem.model.policy.kinds import is_left_alone
from graphmem.model.space import space_from_key
from graphmem.model.state import Selection
from graphmem.model.upkeep_rows import SpaceState
from graphmem.ports import Clock
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep, Versioned
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
_MARGIN = timedelta(minutes=10)  # in which a merge that began before a look may end


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
                due = DueSpace(space=space, policy=policy.consolidate, state=state, now=now)
                self._check(due, policy.contradictions, run, is_whole=run.by_hand)

    def check(self, due: DueSpace, run: Run) -> None:
        """Look for contradictions in a space that is consolidated, where it wants that."""
        policy = self.policies.of(due.space).upkeep.contradictions
        if policy.enabled:
            self._check(due, policy, run)

    def _check(
        self, due: DueSpace, policy: ContradictionPolicy, run: Run, *, is_whole: bool = False
    ) -> None:
        """Look among what came since and the newest beside it, or in all that is there."""
        space, now = due.space.key, due.now
        unchecked = self.upkeep.unchecked(space)
        since = None if is_whole or due.state.check_due else due.state.checked_at
        if since is None or len(unchecked) > policy.memories:
            statements = list(self.upkeep.statements(space))
        else:
            keys = [key for key, _ in unchecked]
            statements = self.upkeep.statements_beside(
                due.space, keys, since=since - _MARGIN, most=policy.memories
            )
        found = find_disagreements(statements)
        self._decide(found, policy, run, now)
        self._ask_model(due, policy, found, run)
        if not run.dry_run:
            self.upkeep.mark_memories_checked(unchecked, _read_with(found))
            self.upkeep.mark_checked(space, now=now)

    def _ask_model(
        self, due: DueSpace, policy: ContradictionPolicy, found: Sequence[Disagreement], run: Run
    ) -> None:
        """Let a model, where there is one, say which others of the newest disagree."""
        if self.judge is None:
            return
        known = {frozenset((pair.newer, pair.older)) for pair in found}
        near = self._near(due, policy)
        unknown = [pair for pair in near if frozenset(each.key for each in pair) not in known]
        asked = self._asked(self.judge, unknown[:_ASKED_PAIRS], policy, run)
        self._decide(asked, policy, run, due.now)

    def _near(self, due: DueSpace, policy: ContradictionPolicy) -> list[tuple[Memory, Memory]]:
        """The new memories and those near them of the same entity, the newer one first."""
        near = self.upkeep.near(
            due.space.key,
            newest=due.policy.newest,
            neighbours=due.policy.neighbours,
            now=due.now,
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


def _read_with(found: Sequence[Disagreement]) -> Mapping[str, Sequence[Versioned]]:
    """By memory, those that it disagrees with, in the versions in which they were read."""
    others: dict[str, list[Versioned]] = defaultdict(list)
    for pair in found:
        newer, older = zip((pair.newer, pair.older), pair.versions, strict=True)
        others[newer[0]].append(older)
        others[older[0]].append(newer)
    return others
