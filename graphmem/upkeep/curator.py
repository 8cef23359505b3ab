"""Curating: the curator's rules, space by space, where a space is due."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby

from graphmem.gateway.claims import content_claim
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.model.event import Effect
from graphmem.model.job import Run
from graphmem.model.memory import MemoryType
from graphmem.model.policy import CuratePolicy
from graphmem.model.policy.kinds import is_left_alone
from graphmem.model.space import space_from_key
from graphmem.model.state import Selection
from graphmem.model.upkeep_rows import SpaceState
from graphmem.ports import Clock, IdSource
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.batch_rules import BATCH
from graphmem.upkeep.dedupe import RepeatKey, decide_dedupe, is_curation_due, repeat_key
from graphmem.upkeep.fold import PEOPLE_TYPES, PROJECT_TYPES, plan_folds
from graphmem.upkeep.rollup import RollupWriter

_PAIR = 2  # from which memories repeat each other


class Curator:
    """Looks after the spaces that are due: repeats first, and then, on fresh data, folds."""

    def __init__(
        self,
        upkeep: Upkeep,
        *,
        gateway: Gateway,
        rollups: RollupWriter,
        clock: Clock,
        ids: IdSource,
        policies: SpacePolicies,
    ) -> None:
        self._upkeep = upkeep
        self._gateway = gateway
        self._rollups = rollups
        self._clock = clock
        self._ids = ids
        self._policies = policies

    def dedupe(self, run: Run) -> None:
        """Put repeats away in the spaces that are due; these are due for folding then."""
        now = self._clock.now()
        for page in self._upkeep.spaces(run.space):
            due = [each.space for each in page if self._is_curated(each, run, now)]
            if not self._dedupe_spaces(due, run, now):
                return
            if due and not run.dry_run:
                self._upkeep.mark_curated(due, now=now)

    def fold(self, run: Run) -> None:
        """Fold the facts of entities in the spaces whose repeats were put away."""
        now = self._clock.now()
        for page in self._upkeep.spaces(run.space):
            due = [each.space for each in page if self._is_folded(each, run)]
            for space in due:
                if run.must_stop():
                    return
                self._fold_space(space, run, now)
            if due and not run.dry_run:
                self._upkeep.mark_folded(due)

    def _policy(self, space: str) -> CuratePolicy:
        return self._policies.of(space_from_key(space)).upkeep.curate

    def _is_curated(self, each: SpaceState, run: Run, now: datetime) -> bool:
        """Whether repeats are looked for in a space."""
        if is_left_alone(space_from_key(each.space)):
            return False
        policy = self._policy(each.space)
        is_due = is_curation_due(each.curated_at, each.new_memories, policy, now)
        return run.by_hand or (policy.enabled and is_due)

    def _is_folded(self, each: SpaceState, run: Run) -> bool:
        """Whether facts are folded in a space."""
        if is_left_alone(space_from_key(each.space)):
            return False
        return run.by_hand or (each.fold_due and self._policy(each.space).enabled)

    def _dedupe_spaces(self, spaces: Sequence[str], run: Run, now: datetime) -> bool:
        """Whether all repeats of the spaces were seen to before the run had to stop."""
        batch: list[str] = []
        claims: set[str] = set()
        for group, claim in self._repeats(spaces):
            if run.must_stop():
                return False
            if batch and len(batch) + len(group) > BATCH:
                self._decide(batch, claims, run, now)
                batch, claims = [], set()
            batch += group
            claims.add(claim)
            while len(batch) > BATCH:  # one group that is larger than a batch
                kept = self._decide(batch[:BATCH], claims, run, now)
                # what stays of it is in the next one; where all stay, one stands for them
                staying = kept if len(kept) < BATCH else kept[:1]
                batch = [*staying, *batch[BATCH:]]
        self._decide(batch, claims, run, now)
        return True

    def _decide(self, keys: Sequence[str], claims: set[str], run: Run, now: datetime) -> list[str]:
        """Decide on some memories; the keys of those that stay."""
        if not keys:
            return []
        done = self._gateway.execute(
            JobStep(
                selected=Selection(memories=frozenset(keys), claims=frozenset(claims)),
                decider=partial(decide_dedupe, now=now),
            ),
            run,
        )
        gone = {
            f"{event.space}|{event.subject}"
            for event in done.events
            if event.effect is Effect.ARCHIVED
        }
        return [key for key in keys if key not in gone]

    def _repeats(self, spaces: Sequence[str]) -> Iterator[tuple[list[str], str]]:
        """The keys of memories that say the same, with the claim of what they say.

        One space after the other.
        """
        for space, dedupe_candidates in groupby(
            self._upkeep.dedupe_candidates(spaces), key=lambda candidate: candidate.space
        ):
            groups: dict[RepeatKey, list[str]] = defaultdict(list)
            claims: dict[RepeatKey, str] = {}
            for candidate in dedupe_candidates:
                key = repeat_key(
                    space, candidate.type, candidate.actor, candidate.logical_key, candidate.content
                )
                groups[key].append(candidate.key)
                if len(groups[key]) == _PAIR:
                    claims[key] = content_claim(
                        space_from_key(space),
                        MemoryType(candidate.type),
                        candidate.actor,
                        candidate.content,
                    )
            yield from ((groups[key], claim) for key, claim in claims.items())

    def _fold_space(self, space: str, run: Run, now: datetime) -> None:
        policy = self._policy(space)
        found = self._upkeep.foldable(
            space, members=policy.fold_members, people=PEOPLE_TYPES, projects=PROJECT_TYPES
        )
        for fold in plan_folds(found, policy, new_uid=lambda: self._ids.new("memory")):
            self._rollups.write(fold, run, now)
