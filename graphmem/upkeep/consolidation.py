"""Consolidation (003): near-duplicates become one, so do fragments of entities.

Summaries and topics are made.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from graphmem.errors import Conflict, MemoryDisabled, ModelUnavailable, NotFound
from graphmem.gateway.claims import claims_of
from graphmem.gateway.entities import EntityKeeper
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.model.caller import Caller, Role
from graphmem.model.job import Run
from graphmem.model.memory import Memory
from graphmem.model.policy import ConsolidatePolicy
from graphmem.model.policy.kinds import is_left_alone
from graphmem.model.space import Space, space_from_key
from graphmem.model.state import Selection
from graphmem.model.upkeep_rows import SimilarPair, SpaceState, Summarisable
from graphmem.ports import Clock, IdSource
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.archival import ARCHIVAL, PROTECTED_TYPES
from graphmem.upkeep.batch_rules import BatchRules
from graphmem.upkeep.expiry import EXPIRY
from graphmem.upkeep.fragments import entity_fragments
from graphmem.upkeep.merge_actions import RULES, MergeAction, actions_by_rules, decide_actions
from graphmem.upkeep.model_judge import ModelJudge
from graphmem.upkeep.rollup import Rollup, RollupWriter
from graphmem.upkeep.summaries import KeepSummary, entity_summary, needs_summary, plan_summaries
from graphmem.upkeep.topics import KeepTopics, TopicCounter

_FRAGMENT = "one name, written differently"
_SHOWN_TO_MODEL = 50  # memories beside the new ones


def is_consolidation_due(state: SpaceState, policy: ConsolidatePolicy, now: datetime) -> bool:
    """Whether a space is due: enough in it, three writes since, ten minutes ago (003)."""
    last = state.consolidated_at
    return (
        state.memories >= policy.memories
        and state.writes >= policy.writes
        and (last is None or now - last >= timedelta(minutes=policy.minutes))
    )


SpaceStep = Callable[[Space, Run, datetime], None]


def _no_step(space: Space, run: Run, now: datetime) -> None:
    """What nobody adds to a pass."""


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """Goes through the spaces that are due, step by step in the order of 003.

    ``after_merges`` is what a room does about a space once near-duplicates were merged.
    """

    upkeep: Upkeep
    memories: Memories
    gateway: Gateway
    keeper: EntityKeeper
    rules: BatchRules
    rollups: RollupWriter
    judge: ModelJudge | None
    clock: Clock
    ids: IdSource
    policies: SpacePolicies
    after_merges: SpaceStep = _no_step

    def run(self, run: Run) -> None:
        """One pass; the spaces that were consolidated are then due for a look at contradictions."""
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
                self._consolidate(space, state, policy, run, now)
                if not run.dry_run:
                    self.upkeep.mark_consolidated(state.space, now=now)

    def _consolidate(
        self, space: Space, state: SpaceState, policy: ConsolidatePolicy, run: Run, now: datetime
    ) -> None:
        self._near_duplicates(space, policy, run, now)
        self.after_merges(space, run, now)
        if space.persona is None:
            self._fragments(space, run)
        self._entity_summaries(space, policy, run, now)
        self.rules.run(EXPIRY, run, only=space.key)
        self.rules.run(ARCHIVAL, run, only=space.key, also_off=False)
        if policy.summarise and state.memories > policy.summarise_memories:
            self._summaries(space, policy, run, now)
        self._topics(space, policy, run)

    def _near_duplicates(
        self, space: Space, policy: ConsolidatePolicy, run: Run, now: datetime
    ) -> None:
        near = self.upkeep.near(
            space.key, newest=policy.newest, neighbours=policy.neighbours, now=now
        )
        memories = self.memories.by_key(
            {key for pair in near for key in (pair.key, pair.other) if key}
        )
        actions = self._actions(near, memories, policy, run)
        if actions:
            self._carry_out(actions, memories, run, now)

    def _carry_out(
        self,
        actions: Sequence[MergeAction],
        memories: Mapping[str, Memory],
        run: Run,
        now: datetime,
    ) -> None:
        contents = [action.content for action in actions if action.content]
        vectors = {} if run.dry_run else self.rollups.vectors(contents)
        keys = frozenset(key for action in actions for key in (action.key, action.other) if key)
        self.gateway.execute(
            JobStep(
                selected=Selection(memories=keys, claims=claims_of(memories[key] for key in keys)),
                decider=partial(
                    decide_actions,
                    actions=actions,
                    versions={key: memories[key].version for key in keys},
                    now=now,
                    embedded={content: number for number, content in enumerate(vectors)},
                ),
                vectors=dict(enumerate(vectors.values())),
            ),
            run,
        )

    def _actions(
        self,
        near: Sequence[SimilarPair],
        memories: Mapping[str, Memory],
        policy: ConsolidatePolicy,
        run: Run,
    ) -> list[MergeAction]:
        """What the model proposes; what the rules say without one, and when it is silent."""
        if self.judge and near:
            newest = list(dict.fromkeys(pair.key for pair in near))
            others = dict.fromkeys(
                pair.other for pair in near if pair.other and pair.other not in newest
            )
            try:
                return self.judge.actions(
                    [memories[key] for key in newest if key in memories],
                    [memories[key] for key in list(others)[:_SHOWN_TO_MODEL] if key in memories],
                )
            except ModelUnavailable as error:
                run.note_degraded(f"consolidated by rules: {error.message}")
        alike = [
            (pair.key, pair.other)
            for pair in near
            if pair.other and pair.similarity >= policy.similarity
        ]
        return actions_by_rules(alike, memories)

    def _fragments(self, space: Space, run: Run) -> None:
        caller = Caller(key_id=run.job, tenant=space.tenant, role=Role.ADMIN, spaces=("*",))
        for key, into in entity_fragments(self.upkeep.entities(space.key)):
            try:
                self.keeper.merge(
                    space, key, into, caller=caller, reason=_FRAGMENT, dry_run=run.dry_run
                )
            except (Conflict, MemoryDisabled, NotFound):  # off, or somebody else merged it
                continue
            run.counts["entities_merged"] += 1
            run.spaces.add(space.key)

    def _entity_summaries(
        self, space: Space, policy: ConsolidatePolicy, run: Run, now: datetime
    ) -> None:
        found = self.upkeep.summarisable(space.key, more_than=policy.summary_facts, now=now)
        wanted = [each for each in found if needs_summary(each.facts, each.summarised, policy)]
        for each in wanted[: policy.summaries]:
            text, by = self._summary_of(each, run)
            self.gateway.execute(KeepSummary(space=space, entity=each, text=text, by=by), run)

    def _summary_of(self, each: Summarisable, run: Run) -> tuple[str, str]:
        if self.judge:
            try:
                return self.judge.summary(each.label, each.contents), self.judge.by
            except ModelUnavailable as error:
                run.note_degraded(f"summarised by rules: {error.message}")
        return entity_summary(each.contents), RULES

    def _summaries(self, space: Space, policy: ConsolidatePolicy, run: Run, now: datetime) -> None:
        candidates = self.upkeep.small_memories(
            space.key,
            keep_newest=policy.summarise_newest,
            importance=policy.summarise_importance,
            protected=PROTECTED_TYPES,
        )
        for plan in plan_summaries(candidates, policy, new_uid=lambda: self.ids.new("memory")):
            self.rollups.write(self._worded(plan, run), run, now)

    def _worded(self, plan: Rollup, run: Run) -> Rollup:
        """A summary in the model's words, if there is a model that finds some."""
        if self.judge:
            try:
                text = self.judge.summary(
                    "all of them", [member.content for member in plan.members]
                )
            except ModelUnavailable as error:
                run.note_degraded(f"summarised by rules: {error.message}")
            else:
                return plan.in_words(text, by=self.judge.by)
        return plan

    def _topics(self, space: Space, policy: ConsolidatePolicy, run: Run) -> None:
        counter = TopicCounter()
        for key, content in self.upkeep.texts(space.key):
            if key not in run.gone:
                counter.add(key, content)
        kept = KeepTopics(space=space, topics=counter.top(policy.topics))
        run.counts["topics"] += self.gateway.execute(kept, run).answer
