"""Keep: the facts of an extraction become memories, led back to their turns (003, Persist order).

Facts, claims, relations and the emptied extraction are one transaction. Whoever lost the claim of
the extraction writes nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graphmem.errors import GraphmemError
from graphmem.gateway.decide import decide_item
from graphmem.gateway.draft import Draft
from graphmem.gateway.item import Item, selection_for
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.relations import Posted, PostRelation, RelationState
from graphmem.gateway.revising import reinforce
from graphmem.gateway.sources import add_source
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle.buffer import TURN_READ_CHARS
from graphmem.lifecycle.entity_matching import MatchedBy, shown_key
from graphmem.lifecycle.noting import NotebookState, Notes, noted, read_notebook, write_notes
from graphmem.lifecycle.plan import Plan, PlannedFact, PlannedRelation, refusal_code, source_of
from graphmem.lifecycle.threads import Threads, threaded
from graphmem.lifecycle.told import Told
from graphmem.model.conversation import Turn, conversation_key
from graphmem.model.entity import Entity, label_from_key
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.extraction import (
    Category,
    Extraction,
    FactOutcome,
    Kept,
    KeptEntity,
    KeptFact,
    Refusal,
    Thread,
)
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import LifecycleConfig, Policy
from graphmem.model.source import CapturedBy
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import Outcome, WriteResult
from graphmem.store.activity import note_activity
from graphmem.store.entities import lock_standing, save_entities, take_entities
from graphmem.store.extractions import finish_extraction, lock_extraction, turns_of
from graphmem.store.statements import Stated, known_statements
from graphmem.store.threads import link_threads, lock_newest_thread
from graphmem.text.statements import stated

_OUTCOMES = {
    Outcome.CREATED: FactOutcome.CREATED,
    Outcome.SUPERSEDED: FactOutcome.SUPERSEDED,
    Outcome.SUPERSEDED_BY_NEWER: FactOutcome.SUPERSEDED_BY_NEWER,
}
GONE = "turn_taken_back"  # of a fact whose turns were deleted while they were read


@dataclass(frozen=True, kw_only=True, slots=True)
class _Records:
    extraction: Extraction | None
    turns: Mapping[str, Turn] = field(default_factory=dict)  # by uid
    relations: Sequence[RelationState] = ()
    newest_thread: Thread | None = None
    stated: Sequence[Stated] = ()
    notebook: NotebookState = field(default_factory=NotebookState)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    extraction: Extraction
    posted: Sequence[tuple[PostRelation, Decided[Posted]]] = ()
    declared: Sequence[Entity] = ()
    mentioned: frozenset[str] = frozenset()  # keys of entities that the facts mention
    threads: Threads | None = None
    notes: Notes = field(default_factory=Notes)


@dataclass(frozen=True, kw_only=True)
class KeepFacts(MemoryOperation[Extraction | None]):
    """Write what an extraction keeps; the answer is None where another worker has it.

    ``known`` are memories, by key, that were found to state the same or of the same things;
    ``relation_uids`` those of new relations; ``thread_uids`` those of new threads; ``box_uid`` that
    of a new box.
    """

    kind = TraceKind.EXTRACTION

    extraction: Extraction
    plan: Plan
    policy: Policy
    config: LifecycleConfig
    relation_uids: Sequence[str] = ()
    thread_uids: Sequence[str] = ()
    box_uid: str = ""
    known: frozenset[str] = frozenset()

    @property
    def space(self) -> Space:
        """The space of the session."""
        return self.extraction.space

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the session."""
        return (self.space,)

    @property
    def _items(self) -> list[Item]:
        planned = self.plan.facts
        return [item for each in planned for item in (each.item, *each.parts) if item]

    def selection(self) -> Selection:
        """The session, what the facts need, and what states the same or of the same things."""
        selected = selection_for(self._items)
        linked = {each.memory for one in self.plan.facts for each in one.links}
        judged = {key for one in self.plan.facts for key in one.superseded}
        found = self.known | linked | judged
        wall = self.space.key
        stated_claims = {f"{wall}|statement|{each.statement}" for each in self.plan.facts}
        of_the_same = {f"{wall}|asserts|{each.asserts}" for each in self.plan.facts if each.asserts}
        return replace(
            selected,
            claims=selected.claims | stated_claims | of_the_same,
            memories=selected.memories | found,
            updated=selected.updated | found,
            conversations=frozenset({conversation_key(self.space, self.extraction.session)}),
        )

    def read(self, transaction: Workbench) -> GraphState:
        """Lock all of it; what is found to state the same under these locks as well."""
        known = self._stated(transaction)
        while True:
            found = self.known | {each.key for each in known}
            state = MemoryOperation.read(replace(self, known=found), transaction)
            known = self._stated(transaction)
            if {each.key for each in known} <= state.memories.keys():
                return replace(state, records=replace(state.records, stated=known))

    def _stated(self, transaction: Workbench) -> list[Stated]:
        planned = self.plan.facts
        return known_statements(
            transaction,
            self.space,
            [each.statement for each in planned if each.statement],
            [each.asserts for each in planned if each.asserts],
        )

    def read_records(self, transaction: Workbench) -> _Records:
        """The extraction with its turns, and what is between the entities of its relations."""
        extraction = lock_extraction(transaction, self.extraction.key)
        if extraction is None:
            return _Records(extraction=None)
        turns = turns_of(transaction, extraction, chars=TURN_READ_CHARS)
        newest = None
        if self.config.threading_enabled:
            newest = lock_newest_thread(transaction, self.space, self.extraction.session)
        notebook = read_notebook(transaction, self.plan, turns, self.config)
        owner = self.space.without_persona.key
        ends = {key for each in self.plan.relations for key in (each.start.key, each.end.key)}
        mentioned = {ref.key for item in self._items for ref in item.request.entities}
        lock_standing(transaction, {f"{owner}|{key}" for key in ends | mentioned})
        return _Records(
            extraction=extraction,
            turns={turn.uid: turn for turn in turns},
            relations=[each.read(transaction) for each in self._posts()],
            newest_thread=newest,
            notebook=notebook,
        )

    def _posts(self) -> list[PostRelation]:
        pairs = zip(self.plan.relations, self.relation_uids, strict=True)
        return [
            PostRelation(request=each.request, start=each.start, end=each.end, uid=uid)
            for each, uid in pairs
        ]

    def decide(self, state: GraphState, now: datetime) -> Decided[Extraction | None]:
        """Keep each fact in order, then the relations between what they name."""
        records: _Records = state.records
        extraction = records.extraction
        if extraction is None or extraction.is_done or extraction.claim != self.extraction.claim:
            return Decided(answer=None)
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        threads = self._threads(records)
        keeper = _FactKeeper(operation=self, draft=draft, records=records, threads=threads)
        facts = [keeper.keep(each) for each in self.plan.facts]
        posted, refused = self._relations(draft, records, facts, now)
        decision = draft.decision(keeper.results)
        is_whole = set(self.plan.turns) <= records.turns.keys()
        kept = Kept(
            facts=tuple(facts),
            relationships=tuple(_relationship(decided.answer) for _, decided in posted),
            refused=(*self.plan.sifted.refused, *keeper.refused, *refused),
            degraded=self.plan.sifted.degraded,
        )
        done = replace(
            extraction,
            engine=self.plan.engine,
            at=now,
            claim="",
            claimed_until=None,
            kept=self._with_the_rest(kept) if is_whole else kept,
        )
        mentioned = {
            ref.key for memory in (*decision.created, *decision.changed) for ref in memory.entities
        }
        change = _Change(
            extraction=done,
            posted=posted,
            declared=self._declared(mentioned, posted, now) if is_whole else (),
            mentioned=frozenset(mentioned),
            threads=threads,
            notes=self._noted(records, done, decision, now),
        )
        events = (
            _event(done),
            *(_fact_event(done, fact) for fact in facts if fact.uid),
            *(event for _, decided in posted for event in decided.events),
            *change.notes.events,
            *decision.events,
        )
        return Decided(answer=done, events=events, memories=decision, records=change)

    def _noted(
        self, records: _Records, done: Extraction, decision: Decision, now: datetime
    ) -> Notes:
        """What the facts that were kept add to the notebook of the space."""
        told = Told(
            extraction=done,
            plan=self.plan,
            turns=tuple(records.turns.values()),
            box_uid=self.box_uid,
            superseded=frozenset(
                each.uid for each in decision.changed if each.status is Status.SUPERSEDED
            ),
        )
        return noted(records.notebook, told, self.config, now)

    def _with_the_rest(self, kept: Kept) -> Kept:
        """What was kept, with what rests on all turns together."""
        named = (
            KeptEntity(key=shown_key(match.ref.key), matched_by=match.matched_by.value)
            for match in self.plan.matches.values()
        )
        return replace(
            kept,
            entities=tuple({each.key: each for each in named}.values()),
            profile_updates=self.plan.sifted.profile_updates,
            questions=self.plan.sifted.questions,
            reflection=self.plan.sifted.reflection,
        )

    def _threads(self, records: _Records) -> Threads | None:
        """The threads that the turns belong to, where threads are kept."""
        if not self.config.threading_enabled:
            return None
        turns = sorted(records.turns.values(), key=lambda turn: (turn.number, turn.key))
        return threaded(
            records.newest_thread,
            turns,
            uids=self.thread_uids,
            gap_minutes=self.config.threading_gap_minutes,
        )

    def _relations(
        self, draft: Draft, records: _Records, facts: Sequence[KeptFact], now: datetime
    ) -> tuple[list[tuple[PostRelation, Decided[Posted]]], list[Refusal]]:
        """The relations that rest on facts which were kept, and those that may not be."""
        posted: list[tuple[PostRelation, Decided[Posted]]] = []
        refused: list[Refusal] = []
        for planned, post, between in zip(
            self.plan.relations, self._posts(), records.relations, strict=True
        ):
            memory = self._memory_of(draft, planned, facts)
            if memory is None:
                continue
            resting = replace(post, request=replace(post.request, memories=[memory.uid]))
            state = replace(between, memories={memory.key: memory})
            try:
                decided = resting.decide(state, now)
            except GraphmemError as error:
                refused.append(Refusal(reason=error.code))
            else:
                posted.append((resting, decided))
        return posted, refused

    def _memory_of(
        self, draft: Draft, planned: PlannedRelation, facts: Sequence[KeptFact]
    ) -> Memory | None:
        """The memory of the fact that states a relation, if that was kept and is current."""
        uid = facts[planned.fact].uid
        return draft.current(f"{self.space.key}|{uid}") if uid else None

    def _declared(
        self,
        mentioned: set[str],
        posted: Sequence[tuple[PostRelation, Decided[Posted]]],
        now: datetime,
    ) -> list[Entity]:
        """New entities that no fact mentions: they are there because somebody named them."""
        ends = {
            ref.key
            for _, decided in posted
            for ref in (decided.answer.relation.start, decided.answer.relation.end)
        }
        owner = self.space.without_persona.key
        stated_refs = {ref.key for item in self._items for ref in item.request.entities}
        return [
            Entity(
                key=match.ref.key,
                space=owner,
                label=match.ref.label or label_from_key(match.ref.key),
                is_declared=True,
                created_at=now,
                updated_at=now,
            )
            for match in self.plan.matches.values()
            if match.matched_by is MatchedBy.NEW
            and match.ref.key not in mentioned | ends | stated_refs
        ]

    def apply_records(self, transaction: Workbench, decided: Decided[Extraction | None]) -> None:
        """Write the extraction, its relations, the entities that it names, and threads."""
        change: _Change | None = decided.records
        if change is None:
            return
        owner = self.space.without_persona
        self._declare(transaction, owner, change.declared)
        made = set(change.mentioned)
        for post, posted in change.posted:
            new = tuple(ref for ref in posted.answer.new_ends if ref.key not in made)
            made |= {ref.key for ref in new}
            post.apply(transaction, replace(posted, answer=replace(posted.answer, new_ends=new)))
        finish_extraction(transaction, change.extraction)
        named = {match.ref.key for match in self.plan.matches.values()}
        note_activity(transaction, change.extraction, sorted(named))
        if change.threads:
            link_threads(transaction, change.threads.changed, change.threads.of_turns)
        write_notes(transaction, change.notes)

    def _declare(self, transaction: Workbench, owner: Space, declared: Sequence[Entity]) -> None:
        if declared:
            there = take_entities(transaction, owner, [each.key for each in declared])
            save_entities(transaction, [each for each in declared if each.key not in there])


@dataclass(kw_only=True)
class _FactKeeper:
    """Keeps the facts of one extraction in a draft, one after the other."""

    operation: KeepFacts
    draft: Draft
    records: _Records
    threads: Threads | None
    results: list[WriteResult] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    _stating: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _of_the_same: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        """Know which memories state what."""
        for each in self.records.stated:
            self._note(each.key, each.statement, each.asserts)

    def _note(self, key: str, statement: str | None, asserts: str | None) -> None:
        if statement:
            self._stating[statement].append(key)
        if asserts:
            self._of_the_same[asserts].append(key)

    def keep(self, planned: PlannedFact) -> KeptFact:
        """What becomes of a fact."""
        fact = planned.fact
        turns = [self.records.turns[uid] for uid in fact.turns if uid in self.records.turns]
        if planned.item is None:
            return self._kept(planned, FactOutcome.REFUSED, None)
        if not turns:
            return self._refuse(planned, GONE)
        if known := self._known(planned):
            return self._kept(planned, FactOutcome.SKIPPED, self._say_again(planned, known, turns))
        item = self._with_thread(planned.item, turns)
        result = decide_item(self.draft, self._correcting(planned, item), self.operation.policy)
        if result.error or result.memory is None:
            return self._refuse(planned, refusal_code(result.error))
        self.results.append(result)
        memory = self._lead_back(self.draft.memories[result.memory.key], turns)
        self._note(memory.key, planned.statement, planned.asserts)
        self._draw(planned, memory)
        self._add_parts(planned, memory, turns)
        return self._kept(planned, _OUTCOMES.get(result.outcome, FactOutcome.SKIPPED), memory)

    def _known(self, planned: PlannedFact) -> Memory | None:
        """The current memory that states the same, where facts are not to repeat."""
        if not (self.operation.config.fact_deduplication_enabled and planned.statement):
            return None
        found = map(self.draft.current, self._stating.get(planned.statement, ()))
        return next((each for each in found if each and not _is_turn(each, planned)), None)

    def _say_again(self, planned: PlannedFact, known: Memory, turns: Sequence[Turn]) -> Memory:
        """A memory that a fact repeats: a mention, a source, and the larger confidence."""
        assert planned.item is not None  # noqa: S101 - it is kept
        bare = replace(
            planned.item.request,
            entities=(),
            tags=(),
            metadata={},
            occurred_at=None,
            summary=None,
            given=frozenset({"confidence"}),
        )
        item = replace(planned.item, request=bare)
        reinforce(self.draft, item, known, self.operation.policy)
        for other in self._corrected(planned):
            if other.key != known.key:
                self.draft.supersede(self.draft.memories[known.key], other)
        memory = self.draft.memories[known.key]
        memory = add_source(self.draft, memory, source_of(self.operation.extraction.session))
        return self._lead_back(memory, turns)

    def _with_thread(self, item: Item, turns: Sequence[Turn]) -> Item:
        """An item whose native values name the thread of its newest turn."""
        thread = self.threads.of_turns.get(turns[-1].uid) if self.threads else None
        if thread is None:
            return item
        native = {**(item.request.native or {}), "thread": thread}
        return replace(item, request=replace(item.request, native=native))

    def _correcting(self, planned: PlannedFact, item: Item) -> Item:
        """An item that updates what it corrects, and what a judge found it to contradict."""
        updated = [*self._corrected(planned), *map(self.draft.current, planned.superseded)]
        uids = dict.fromkeys(each.uid for each in updated if each)
        return replace(item, request=replace(item.request, updates=tuple(uids)))

    def _corrected(self, planned: PlannedFact) -> list[Memory]:
        """The current memories that state another value of the same subject and family."""
        if planned.fact.category is not Category.CORRECTION or not planned.asserts:
            return []
        own = stated(planned.fact.content)
        found = map(self.draft.current, self._of_the_same.get(planned.asserts, ()))
        others = [(each, stated(each.content)) for each in found if each]
        return [each for each, said in others if said and own and said.value != own.value]

    def _lead_back(self, memory: Memory, turns: Sequence[Turn]) -> Memory:
        """A memory that is of the turns which a fact rests on."""
        said_by = source_of(self.operation.extraction.session).name
        for turn in turns:
            self.draft.turns.link(memory, turn, said_by)
        return memory

    def _draw(self, planned: PlannedFact, memory: Memory) -> None:
        for link in planned.links:
            other = self.draft.memories.get(link.memory)
            if other and other.key != memory.key and other.status is not Status.RETRACTED:
                self.draft.draw(
                    memory,
                    link.type,
                    other,
                    weight=link.weight,
                    reason=link.reason,
                    link_type=link.link_type,
                )

    def _add_parts(self, planned: PlannedFact, memory: Memory, turns: Sequence[Turn]) -> None:
        """The parts of a long fact, each PART_OF the whole."""
        for number, part in enumerate(planned.parts):
            native = {**(part.request.native or {}), "parent": memory.uid, "part": number}
            request = replace(part.request, native=native, part_of=(memory.uid,))
            item = self._with_thread(replace(part, request=request), turns)
            result = decide_item(self.draft, item, self.operation.policy)
            if result.memory:
                self.results.append(result)
                self._lead_back(self.draft.memories[result.memory.key], turns)

    def _refuse(self, planned: PlannedFact, reason: str) -> KeptFact:
        turn = planned.fact.turns[0] if planned.fact.turns else None
        self.refused.append(Refusal(reason=reason, turn=turn))
        return self._kept(planned, FactOutcome.REFUSED, None)

    def _kept(self, planned: PlannedFact, outcome: FactOutcome, memory: Memory | None) -> KeptFact:
        """A fact as the extraction tells of it; of one that was refused no words are kept."""
        fact = planned.fact
        content = memory.content if memory else (fact.content if fact.refusal else None)
        return KeptFact(
            uid=memory.uid if memory else None,
            outcome=outcome,
            category=fact.category,
            content=content,
            confidence=memory.confidence if memory else fact.confidence,
            importance=fact.importance.score,
            turns=tuple(uid for uid in fact.turns if uid in self.records.turns),
        )


def _is_turn(memory: Memory, planned: PlannedFact) -> bool:
    """Whether a memory is what a turn of the fact says word for word, and not another one."""
    is_extracted = memory.source.captured_by is CapturedBy.EXTRACTOR
    return not is_extracted and not set(memory.turns).isdisjoint(planned.fact.turns)


def _relationship(posted: Posted) -> dict[str, str]:
    relation = posted.relation
    return {
        "uid": relation.uid,
        "source": shown_key(relation.start.key),
        "target": shown_key(relation.end.key),
        "label": relation.label,
    }


def _event(extraction: Extraction) -> Event:
    kept = extraction.kept
    detail: dict[str, Any] = {
        "session": extraction.session,
        "because": extraction.reason,
        "engine": extraction.engine.value,
        "turns": len(extraction.turns),
        "refused": [each.reason for each in kept.refused],
        "degraded": list(kept.degraded),
    }
    return Event(
        space=extraction.space.key,
        subject=extraction.uid,
        about=Subject.EXTRACTION,
        effect=Effect.EXTRACTED,
        detail=detail,
    )


_EFFECTS = {
    FactOutcome.CREATED: Effect.CREATED,
    FactOutcome.SUPERSEDED: Effect.CREATED,
    FactOutcome.SUPERSEDED_BY_NEWER: Effect.CREATED,
    FactOutcome.SKIPPED: Effect.REINFORCED,
}


def _fact_event(extraction: Extraction, fact: KeptFact) -> Event:
    return Event(
        space=extraction.space.key,
        subject=fact.uid,
        effect=_EFFECTS[fact.outcome],
        detail={"extraction": extraction.uid, "category": fact.category.value},
    )
