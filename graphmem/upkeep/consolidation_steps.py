"""Consolidation steps: what upkeep does in a pass over a space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
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
from graphmem.model.state import Selection
from graphmem.model.upkeep_rows import SimilarPair, Summarisable
from graphmem.ports import IdSource
from graphmem.store.memories import Memories
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.archival import ARCHIVAL, DECAY, PROTECTED_TYPES
from graphmem.upkeep.batch_rules import BatchRules
from graphmem.upkeep.consolidation import DueSpace
from graphmem.upkeep.expiry import EXPIRY
from graphmem.upkeep.fragments import entity_fragments
from graphmem.upkeep.merge_actions import RULES, MergeAction, actions_by_rules, decide_actions
from graphmem.upkeep.model_judge import ModelJudge
from graphmem.upkeep.rollup import Rollup, RollupWriter
from graphmem.upkeep.summaries import KeepSummary, entity_summary, needs_summary, plan_summaries
from graphmem.upkeep.topics import KeepTopics, TopicCounter

_FRAGMENT = "one name, written differently"
_SHOWN_TO_MODEL = 50  # memories beside the new ones


@dataclass(frozen=True, kw_only=True)
class ConsolidationSteps:
    """The steps, each by itself; a room puts them in order."""

    upkeep: Upkeep
    memories: Memories
    gateway: Gateway
    keeper: EntityKeeper
    rules: BatchRules
    rollups: RollupWriter
    judge: ModelJudge | None
    ids: IdSource

    def merge(self, due: DueSpace, run: Run) -> None:
        """Let near-duplicates become one."""
        policy, now = due.policy, due.now
        near = self.upkeep.near(
            due.space.key, newest=policy.newest, neighbours=policy.neighbours, now=now
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

    def join_fragments(self, due: DueSpace, run: Run) -> None:
        """Let entities be one whose names are written differently."""
        space = due.space
        if space.persona is not None:
            return
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

    def summarise_entities(self, due: DueSpace, run: Run) -> None:
        """Say in a few words what is known of entities."""
        space, policy, now = due.space, due.policy, due.now
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

    def decay_commitments(self, due: DueSpace, run: Run) -> None:
        """Put away commitments that nobody refreshed."""
        self.rules.run(DECAY, run, only=due.space.key, also_off=False)

    def expire(self, due: DueSpace, run: Run) -> None:
        """Put away what is past its time, such as doubtful facts."""
        self.rules.run(EXPIRY, run, only=due.space.key)

    def archive(self, due: DueSpace, run: Run) -> None:
        """Put away old, unimportant, hardly recalled facts, where that is on."""
        self.rules.run(ARCHIVAL, run, only=due.space.key, also_off=False)

    def summarise(self, due: DueSpace, run: Run) -> None:
        """Let many small memories become one each time, where that is on."""
        policy = due.policy
        if not policy.summarise or due.state.memories <= policy.summarise_memories:
            return
        candidates = self.upkeep.small_memories(
            due.space.key,
            keep_newest=policy.summarise_newest,
            importance=policy.summarise_importance,
            protected=PROTECTED_TYPES,
        )
        for plan in plan_summaries(candidates, policy, new_uid=lambda: self.ids.new("memory")):
            self.rollups.write(self._worded(plan, run), run, due.now)

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

    def make_topics(self, due: DueSpace, run: Run) -> None:
        """Note the words that stand out among the newest memories."""
        space = due.space
        counter = TopicCounter()
        newest = self.upkeep.newest_texts(space.key, limit=due.policy.topics_memories)
        for key, content in newest:
            if key not in run.gone:
                counter.add(key, content)
        kept = KeepTopics(space=space, topics=counter.top(due.policy.topics))
        run.counts["topics"] += self.gateway.execute(kept, run).answer
