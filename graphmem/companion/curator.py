"""The curator looks after what is kept of users: repeats first, then, on fresh data, folds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.companion.curating import (
    PEOPLE,
    PEOPLE_AND_PROJECTS,
    Fold,
    batches,
    decide_dedupe,
    decide_fold,
    is_due,
    named,
    plan_folds,
    repeats_in,
)
from graphmem.companion.projection import FACT_TYPES
from graphmem.errors import ModelUnavailable
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.indexing import texts_to_embed
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.companion import ROOM, CuratorState, SessionState
from graphmem.model.event import Effect
from graphmem.model.policy import IndexPolicy
from graphmem.model.policy.companion import CompanionCuratePolicy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.ports import Embedder, IdSource, Vector
from graphmem.store.companions import lock_state, save_state
from graphmem.store.curating import Curating, KeptFact, turns_of
from graphmem.store.kept import KeptFilter, KeptMemories
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies

BATCH = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class CuratorRun:
    """What one run did: how many memories it archived, and how many folds it made of some.

    ``memories`` are those that were active after it, for all personas and for those of the run.
    """

    archived: int
    folded: int
    memories: int


@dataclass(frozen=True, kw_only=True)
class ClaimCuration(Operation[tuple[SessionState, int], bool]):
    """Begin to look after a user with a persona, if that is due; then it is due for nobody else."""

    kind = TraceKind.COMPANION

    space: Space
    policy: CompanionCuratePolicy
    curating: Curating
    by_job: bool = False
    forced: bool = False

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the persona, and that of the user."""
        return self.space.readable_with_it()

    def read(self, transaction: Workbench) -> tuple[SessionState, int]:
        """What lasts of the user with the persona, locked, and how much is new since the last."""
        state = lock_state(transaction, self.space)
        if state.curator is None:
            return state, 0
        since = state.curator.last_run_at
        return state, self.curating.count_new(transaction, self.spaces, since)

    def decide(self, state: tuple[SessionState, int], now: datetime) -> Decided[bool]:
        """Begin now, if it is due; whether it is."""
        known, new_memories = state
        last = known.curator
        if not (self.forced or is_due(last, new_memories, self.policy, now, by_job=self.by_job)):
            return Decided(answer=False, is_refused=True)
        memories = last.last_memory_count_at_run if last else 0
        curator = CuratorState(last_run_at=now, last_memory_count_at_run=memories)
        return Decided(answer=True, records=replace(known, curator=curator))

    def apply(self, transaction: Workbench, decided: Decided[bool]) -> None:
        """Note that it began."""
        save_state(transaction, decided.records)


@dataclass(frozen=True, kw_only=True)
class NoteCuration(Operation[SessionState, None]):
    """Note how many memories there were after a run."""

    kind = TraceKind.COMPANION

    space: Space
    memories: int

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the persona."""
        return (self.space,)

    def read(self, transaction: Workbench) -> SessionState:
        """What lasts of the user with the persona, locked."""
        return lock_state(transaction, self.space)

    def decide(self, state: SessionState, now: datetime) -> Decided[None]:  # noqa: ARG002
        """Note it, unless the run is forgotten."""
        if state.curator is None:
            return Decided(answer=None, is_refused=True)
        curator = replace(state.curator, last_memory_count_at_run=self.memories)
        return Decided(answer=None, records=replace(state, curator=curator))

    def apply(self, transaction: Workbench, decided: Decided[None]) -> None:
        """Write the state with the number of memories, if it is noted."""
        save_state(transaction, decided.records)


@dataclass(frozen=True, kw_only=True)
class DedupeFacts(MemoryOperation[frozenset[str]]):
    """Put repeats among some memories of a space away; the answer is the keys of these."""

    kind = TraceKind.COMPANION

    space: Space
    facts: Sequence[KeptFact]
    names: Mapping[str, str]  # of entities: what each is now
    only_small: bool = False

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the memories."""
        return (self.space,)

    def selection(self) -> Selection:
        """The memories and their keys."""
        return Selection(memories=_keys(self.facts), claims=_claims(self.space, self.facts))

    def decide(self, state: GraphState, now: datetime) -> Decided[frozenset[str]]:
        """Keep one of each group."""
        decision = decide_dedupe(state, now, names=self.names, only_small=self.only_small)
        gone = {
            f"{event.space}|{event.subject}"
            for event in decision.events
            if event.effect is Effect.ARCHIVED
        }
        return Decided(answer=frozenset(gone), events=decision.events, memories=decision)


@dataclass(frozen=True, kw_only=True)
class FoldFacts(MemoryOperation[bool]):
    """Make one memory of several; the answer is whether they still were as they were read."""

    kind = TraceKind.COMPANION

    fold: Fold

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the memories."""
        return (self.fold.space,)

    def selection(self) -> Selection:
        """The memories, their keys and that of the fold."""
        fold = self.fold
        claim = logical_claim(fold.space, fold.memory_key, ROOM)
        claims = _claims(fold.space, fold.members) | {claim}
        return Selection(memories=_keys(fold.members), claims=claims)

    def read_records(self, transaction: Workbench) -> tuple[tuple[str, str], ...]:
        """The turns of the memories; where these change meanwhile, so do the memories."""
        return turns_of(transaction, _keys(self.fold.members))

    def decide(self, state: GraphState, now: datetime) -> Decided[bool]:
        """The fold and its members, archived; nothing where one of these changed."""
        decision = decide_fold(
            state, self.fold, now, turns=state.records, has_vectors=bool(self.vectors)
        )
        answer = bool(decision.created)
        return Decided(answer=answer, events=decision.events, memories=decision)


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """How a run is to be made: for whom, and by which rules.

    A job comes at times of its own, and folds projects as well. A forced run is made where none is
    due, too, or where the curator is switched off.
    """

    caller: Caller
    by_job: bool = False
    forced: bool = False
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class CompanionCurator:
    """Looks after what is kept of users."""

    gateway: Gateway
    policies: SpacePolicies
    curating: Curating
    kept: KeptMemories
    memories: Memories
    embedder: Embedder
    index: IndexPolicy
    ids: IdSource

    def run_for(
        self,
        space: Space,
        *,
        caller: Caller,
        by_job: bool = False,
        forced: bool = False,
        dry_run: bool = False,
    ) -> CuratorRun | None:
        """Look after a user with a persona, whose space it is, if that is due."""
        terms = Terms(caller=caller, by_job=by_job, forced=forced, dry_run=dry_run)
        return self.run(space.without_persona, [space] if space.persona else [], terms)

    def run(self, user: Space, personas: Sequence[Space], terms: Terms) -> CuratorRun | None:
        """Look after a user with those of some personas for which it is due.

        Of a user whom no persona knows, nobody notes when that was.
        """
        due = [each for each in personas if self._begins(each, terms)]
        if not due and (personas or not self._is_on(user, terms)):
            return None
        spaces, names = [user, *due], self.curating.names(user)
        gone = {key for space in spaces for key in self._dedupe(space, names, terms)}
        folds = self._fold(spaces, names, gone, terms)
        for persona in () if terms.dry_run else due:
            memories = self._count(persona.readable_with_it())
            self.gateway.execute(NoteCuration(space=persona, memories=memories), terms.caller)
        return CuratorRun(
            archived=len(gone) + sum(len(fold.members) for fold in folds),
            folded=len(folds),
            memories=self._count(spaces),
        )

    def _policy(self, space: Space) -> CompanionCuratePolicy:
        return self.policies.of(space).companion.curate

    def _is_on(self, space: Space, terms: Terms) -> bool:
        return terms.forced or self._policy(space).enabled

    def _begins(self, persona: Space, terms: Terms) -> bool:
        """Whether this run looks after a user with a persona now."""
        if not self._is_on(persona, terms):
            return False
        operation = ClaimCuration(
            space=persona,
            policy=self._policy(persona),
            curating=self.curating,
            by_job=terms.by_job,
            forced=terms.forced,
        )
        return self.gateway.execute(operation, terms.caller, dry_run=terms.dry_run).answer

    def _dedupe(self, space: Space, names: Mapping[str, str], terms: Terms) -> Iterator[str]:
        """Put the repeats of a space away; their keys."""
        only_small = self._policy(space).only_small
        groups = repeats_in(self.curating.active(space, names), only_small=only_small)
        for facts in batches(groups, BATCH):
            operation = DedupeFacts(space=space, facts=facts, names=names, only_small=only_small)
            done = self.gateway.execute(operation, terms.caller, dry_run=terms.dry_run)
            yield from done.answer

    def _fold(
        self, spaces: Iterable[Space], names: Mapping[str, str], gone: set[str], terms: Terms
    ) -> list[Fold]:
        """Fold the facts of entities, which are read anew; what was folded."""
        made: list[Fold] = []
        for space in spaces:
            policy = self._policy(space)
            if policy.only_small:
                continue
            planned = plan_folds(
                (each for each in self.curating.active(space, names) if each.key not in gone),
                space,
                PEOPLE_AND_PROJECTS if terms.by_job else PEOPLE,
                policy,
                most=policy.folds - len(made),
                new_uid=lambda: self.ids.new("memory"),
            )
            made += [fold for fold in self._named(planned) if self._is_folded(fold, terms)]
        return made

    def _named(self, folds: Sequence[Fold]) -> list[Fold]:
        """The folds with the names by which the entities are known."""
        if not folds:
            return []
        known = self.memories.by_key([each.key for fold in folds for each in fold.members])
        return [named(fold, known) for fold in folds]

    def _is_folded(self, fold: Fold, terms: Terms) -> bool:
        vectors = {} if terms.dry_run else self._vectors(fold.content)
        operation = FoldFacts(fold=fold, vectors=vectors)
        return self.gateway.execute(operation, terms.caller, dry_run=terms.dry_run).answer

    def _vectors(self, content: str) -> dict[int, Sequence[Vector]]:
        """The vectors of a content; none while the model is silent: a job makes them later."""
        try:
            return {0: self.embedder.embed(texts_to_embed(content, None, self.index))}
        except ModelUnavailable:
            return {}

    def _count(self, spaces: Sequence[Space]) -> int:
        return self.kept.count(KeptFilter(kept_by=ROOM, spaces=spaces, types=FACT_TYPES))


def _keys(facts: Iterable[KeptFact]) -> frozenset[str]:
    return frozenset(fact.key for fact in facts)


def _claims(space: Space, facts: Iterable[KeptFact]) -> frozenset[str]:
    """The claims of the keys of memories, which are locked before these."""
    return frozenset(
        logical_claim(space, fact.logical_key, ROOM) for fact in facts if fact.logical_key
    )
