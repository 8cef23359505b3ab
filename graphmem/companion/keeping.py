"""Keeping: memories and todos of a user are written by the rules of 001, in one operation.

Memories of one key are united; a todo that is pending already stays as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graphmem.companion.entity_refs import memory_key, united_refs
from graphmem.companion.planning import PlannedFact, PlannedTodo, distinct_key
from graphmem.companion.projection import core_importance, core_type, own_importance, todo_of
from graphmem.companion.todos import end_todos
from graphmem.errors import GraphmemError
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.decide import decide_item
from graphmem.gateway.draft import Draft
from graphmem.gateway.item import Item, selection_for
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.uniting import was_said_before
from graphmem.gateway.workbench import Workbench
from graphmem.model.companion import CONVERSATION, ROOM, Todo, TodoStatus
from graphmem.model.conversation import Turn, conversation_key
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.memory import Memory
from graphmem.model.policy import Policy
from graphmem.model.policy.companion import CompanionPolicy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import Outcome, WriteResult
from graphmem.store.messages import lock_unjudged, note_judged
from graphmem.text.normalise import comparable, normalise

GONE = "turn_taken_back"  # of what was judged of a message that was deleted meanwhile
_SIGNIFICANT, _CRITICAL = 2, 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What became of a memory or todo; one that was refused has an error instead."""

    outcome: Outcome
    memory: Memory | None = None
    error: GraphmemError | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What was kept of a message; None for one that another worker judged."""

    facts: tuple[Kept, ...] = ()
    todos: tuple[Kept, ...] = ()
    habits: tuple[Kept, ...] = ()  # that commitments became
    ended: tuple[Todo, ...] = ()  # todos that the message ended
    is_gone: bool = False  # the message was deleted meanwhile


@dataclass(frozen=True, kw_only=True)
class KeepJudged(MemoryOperation[Judgement | None]):
    """Write what was judged of a message, or what somebody stated without one.

    The message, which ``claim`` judged, is judged then. What it means for pending todos is done
    with it: ``ends``, by key, as far as they still are, and ``habits`` that they become.
    """

    kind = TraceKind.COMPANION

    space: Space  # of the user
    policy: Policy
    config: CompanionPolicy
    facts: Sequence[PlannedFact] = ()
    todos: Sequence[PlannedTodo] = ()
    habits: Sequence[PlannedTodo] = ()
    ends: Mapping[str, TodoStatus] = field(default_factory=dict)
    turn: Turn | None = None
    claim: str = ""
    names: Mapping[str, str] = field(default_factory=dict)  # of entities: what each is now

    @property
    def _items(self) -> list[Item]:
        return [
            *(each.item for each in self.facts),
            *(each.item for each in (*self.todos, *self.habits)),
        ]

    @property
    def spaces(self) -> Sequence[Space]:
        """The spaces of what is written, and that of the message."""
        own = [self.turn.space] if self.turn else []
        return list(dict.fromkeys((self.space, *own, *(item.space for item in self._items))))

    def selection(self) -> Selection:
        """What the memories and todos need, and the conversation of the message."""
        selected = selection_for(self._items)
        spoken = {conversation_key(self.turn.space, CONVERSATION)} if self.turn else set()
        keys = {
            logical_claim(each.item.space, key, ROOM)
            for each in self.facts
            for key in self._keys(each)
        }
        return replace(
            selected,
            memories=selected.memories | frozenset(self.ends),
            conversations=frozenset(spoken),
            claims=selected.claims | frozenset(keys),
        )

    def _keys(self, planned: PlannedFact) -> list[str]:
        """The keys that a memory may be known by: that of the entity as it is now first."""
        fact = planned.fact
        first, *others = fact.entity_refs or ("",)
        now = self.names.get(first, first)
        called = [now, *(name for name, stands in self.names.items() if stands == now)]
        facts = [replace(fact, entity_refs=(name, *others)) for name in called] if first else [fact]
        distinct = [distinct_key(facts[0])] if self.config.distinct_facts else []
        return list(dict.fromkeys(map(normalise, [*map(memory_key, facts), *distinct])))

    def read_records(self, transaction: Workbench) -> Turn | None:
        """The message, locked, if it still waits for this judge."""
        if self.turn is None:
            return None
        return lock_unjudged(transaction, self.turn.key, self.claim)

    def decide(self, state: GraphState, now: datetime) -> Decided[Judgement | None]:
        """Keep each memory and todo in order; one that is refused takes no other with it."""
        turn: Turn | None = state.records
        if self.turn and turn is None:
            return Decided(answer=None)
        if turn and turn.is_retracted:
            return Decided(answer=Judgement(is_gone=True), records=turn)
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        results: list[WriteResult] = []
        facts = [self._fact(draft, each, results) for each in self.facts]
        todos = [self._keep(draft, each.item, results) for each in self.todos]
        ended = end_todos(draft, self.ends)
        habits = [self._keep(draft, each.item, results) for each in self.habits]
        for result in results if turn else ():
            self._lead_back(draft, result, turn)
        decision = draft.decision(results)
        final = {result.index: result.memory for result in decision.results}
        answer = Judgement(
            facts=_final(facts, [each.item for each in self.facts], final),
            todos=_final(todos, [each.item for each in self.todos], final),
            habits=_final(habits, [each.item for each in self.habits], final),
            ended=tuple(todo_of(draft.memories[key]) for key in ended),
        )
        return Decided(
            answer=answer,
            events=(*self._events(answer, turn), *ended.values()),
            memories=decision,
            records=turn,
        )

    def _fact(self, draft: Draft, planned: PlannedFact, results: list[WriteResult]) -> Kept:
        """What becomes of a memory: a new one, or one that is united with that of its key."""
        keys = self._keys(planned)
        items = [_keyed(planned.item, key) for key in keys]
        known = [(item, found) for item in items if (found := draft.claimed(_claim(item)))]
        if self.config.distinct_facts and known and _says_else(known[0][1], planned.item):
            known = [each for each in known if not _says_else(each[1], planned.item)]
            items = items[-1:]
        if not known:
            return self._keep(draft, items[0], results)
        item, existing = known[0]
        return self._keep(draft, self._united(item, existing, planned), results)

    def _united(self, item: Item, existing: Memory, planned: PlannedFact) -> Item:
        """An item whose native values are united with those of the memory of its key."""
        request = item.request
        before: Mapping[str, Any] = existing.native or {}
        own: Mapping[str, Any] = request.native or {}
        mentions = existing.mention_count + 1
        importance = max(planned.fact.importance, own_importance(existing.importance))
        importance = self._reinforced(importance, mentions)
        native = {
            **(before if was_said_before(request, existing) else {**before, **own}),
            "memory_key": request.logical_key,
            "entity_refs": self._refs(before.get("entity_refs", ()), own["entity_refs"]),
            "importance": importance,
        }
        changed = replace(
            request,
            native=native,
            importance=core_importance(importance),
            type=core_type(replace(planned.fact, importance=importance)),
        )
        return replace(item, request=changed)

    def _refs(self, known: Sequence[str], new: Sequence[str]) -> list[str]:
        """The refs of a memory with new ones, none that only is another name of what is there."""
        there = {self.names.get(ref, ref) for ref in known}
        more = [ref for ref in new if self.names.get(ref, ref) not in there]
        return list(united_refs(known, more))

    def _reinforced(self, importance: int, mentions: int) -> int:
        """An importance that mentions lift, where the policy says so; never down."""
        config = self.config
        if not config.reinforce:
            return importance
        if mentions >= config.reinforce_to_3:
            return max(importance, _CRITICAL)
        is_often = mentions >= config.reinforce_to_2
        return max(importance, _SIGNIFICANT) if is_often and importance else importance

    def _keep(self, draft: Draft, item: Item, results: list[WriteResult]) -> Kept:
        result = decide_item(draft, item, self.policy)
        if result.error or result.memory is None:
            return Kept(outcome=Outcome.REFUSED, error=result.error)
        results.append(result)
        return Kept(outcome=result.outcome, memory=result.memory)

    def _lead_back(self, draft: Draft, result: WriteResult, turn: Turn | None) -> None:
        """Let a memory be of the message that said it."""
        if result.memory and turn:
            memory = draft.memories[result.memory.key]
            draft.turns.link(memory, turn, memory.source.name)

    def _events(self, answer: Judgement, turn: Turn | None) -> Sequence[Event]:
        kept = [*answer.facts, *answer.todos, *answer.habits]
        events = [
            Event(
                space=each.memory.space.key,
                subject=each.memory.uid,
                effect=_EFFECTS[each.outcome],
                detail={"memory_key": each.memory.logical_key},
            )
            for each in kept
            if each.memory
        ]
        if turn is None:
            return events
        judged = Event(
            space=turn.space.key,
            subject=turn.uid,
            about=Subject.TURN,
            effect=Effect.JUDGED,
            detail={
                "memories": len(answer.facts),
                "todos": len(answer.todos),
                "refused": [each.error.code for each in kept if each.error],
            },
        )
        return [judged, *events]

    def apply_records(self, transaction: Workbench, decided: Decided[Judgement | None]) -> None:
        """The message is judged."""
        if decided.records:
            note_judged(transaction, decided.records.key)


_EFFECTS = {
    Outcome.CREATED: Effect.CREATED,
    Outcome.REINFORCED: Effect.REINFORCED,
    Outcome.REVISED: Effect.REVISED,
    Outcome.UNCHANGED: Effect.UNCHANGED,
    Outcome.SUPERSEDED: Effect.CREATED,
    Outcome.SUPERSEDED_BY_NEWER: Effect.CREATED,
}


def _final(
    kept: Sequence[Kept], items: Sequence[Item], memories: Mapping[int, Memory | None]
) -> tuple[Kept, ...]:
    """What was kept, as it is at the end of the decision."""
    return tuple(
        replace(each, memory=memories.get(item.index)) if each.memory else each
        for each, item in zip(kept, items, strict=True)
    )


def _claim(item: Item) -> str:
    return logical_claim(item.space, item.request.logical_key or "", ROOM)


def _says_else(memory: Memory, item: Item) -> bool:
    return comparable(memory.content) != comparable(item.request.content)


def _keyed(item: Item, key: str) -> Item:
    """An item under another key."""
    native = {**(item.request.native or {}), "memory_key": key}
    return replace(item, request=replace(item.request, logical_key=key, native=native))
