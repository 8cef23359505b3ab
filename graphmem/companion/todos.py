"""Todos: what a user is about to do, kept up and ticked off by callers and by rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.companion.loop_keys import key_of, signature_by_content
from graphmem.companion.planning import todo_key
from graphmem.companion.projection import todo_of, todo_status
from graphmem.errors import Conflict, NotFound
from graphmem.gateway.claims import claims_of, logical_claim
from graphmem.gateway.decide import decide_item
from graphmem.gateway.draft import Draft
from graphmem.gateway.item import Item
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.tracing import effect
from graphmem.model.companion import ROOM, NewTodo, Todo, TodoKind, TodoStatus
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import WriteRequest

_REASONS: Mapping[TodoStatus, Reason] = {
    TodoStatus.COMPLETED: Reason.COMPLETED,
    TodoStatus.SKIPPED: Reason.SKIPPED,
}


def signature_of(content: str, dedupe_key: str | None) -> str:
    """What a todo is known by among those of its kind."""
    return key_of(dedupe_key or "") or signature_by_content(content)


def new_todo(kind: TodoKind, content: str, dedupe_key: str | None) -> NewTodo:
    """A todo that somebody states himself."""
    return NewTodo(
        kind=kind,
        content=content,
        dedupe_key=dedupe_key,
        signature=signature_of(content, dedupe_key),
    )


def is_todo(memory: Memory | None) -> bool:
    """Whether a memory is a todo of the room."""
    return memory is not None and memory.kept_by == ROOM and memory.type is MemoryType.TODO


def end_todos(draft: Draft, ends: Mapping[str, TodoStatus]) -> dict[str, Event]:
    """Let todos, by key, be completed or skipped, as far as they are pending; what happened."""
    known = ((draft.memories.get(key), status) for key, status in sorted(ends.items()))
    return {
        memory.key: ended(draft, memory, status)
        for memory, status in known
        if memory and is_todo(memory) and memory.status is Status.ACTIVE
    }


def ended(draft: Draft, memory: Memory, status: TodoStatus) -> Event:
    """Let a pending todo be completed or skipped."""
    reason = _REASONS[status]
    draft.set_status(memory, Status.ARCHIVED, reason)
    return effect(memory, Effect.ARCHIVED, reason)


@dataclass(frozen=True, kw_only=True)
class ChangeTodo(MemoryOperation[Todo]):
    """Give a todo another status or other words; ``item`` writes these, and its key."""

    kind = TraceKind.COMPANION

    memory: Memory
    policy: Policy
    status: TodoStatus | None = None
    item: Item | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the todo."""
        return (self.memory.space,)

    def selection(self) -> Selection:
        """The todo, and the keys that it has and would have."""
        claims = set(claims_of([self.memory]))
        if self.item and self.item.request.logical_key:
            claims.add(logical_claim(self.memory.space, self.item.request.logical_key, ROOM))
        return Selection(memories=frozenset({self.memory.key}), claims=frozenset(claims))

    def decide(self, state: GraphState, now: datetime) -> Decided[Todo]:
        """Change it.

        Raises:
            NotFound: there is no such todo.
            Conflict: it was retracted; it has ended otherwise; another pending one has its key.
        """
        memory = state.memories.get(self.memory.key)
        if memory is None or not is_todo(memory):
            raise NotFound
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        events: list[Event] = []
        if self.status:
            events += self._with_status(draft, memory, self.status)
        if self.item:
            self._reworded(draft, self.item)
        changed = draft.memories[memory.key]
        decision = draft.decision()
        if self.item and changed is not memory:
            events.append(Event(space=memory.space.key, subject=memory.uid, effect=Effect.REVISED))
        return Decided(answer=todo_of(changed), events=tuple(events), memories=decision)

    def _with_status(self, draft: Draft, memory: Memory, wanted: TodoStatus) -> list[Event]:
        present = todo_status(memory)
        if memory.status is Status.RETRACTED:
            message = f"The todo {memory.uid} was retracted: restore it first."
            raise Conflict(message)
        if wanted is present:
            return []
        if wanted is TodoStatus.PENDING:
            self._check_free(draft, memory, memory.logical_key or "")
            draft.set_status(memory, Status.ACTIVE, None)
            return [Event(space=memory.space.key, subject=memory.uid, effect=Effect.ACTIVE)]
        if present is not TodoStatus.PENDING:
            message = f"The todo {memory.uid} is {present}: let it be PENDING first."
            raise Conflict(message)
        return [ended(draft, memory, wanted)]

    def _reworded(self, draft: Draft, item: Item) -> None:
        if draft.memories[self.memory.key].status is Status.ACTIVE:
            self._check_free(draft, self.memory, item.request.logical_key or "")
        result = decide_item(draft, item, self.policy)
        if result.error:
            raise result.error

    def _check_free(self, draft: Draft, memory: Memory, key: str) -> None:
        """Refuse what would make two pending todos of one key."""
        holder = draft.claimed(logical_claim(memory.space, key, ROOM))
        if holder and holder.key != memory.key:
            message = f"The todo {holder.uid} is pending under the same key."
            raise Conflict(message)


def reworded_request(memory: Memory, content: str) -> WriteRequest:
    """The request that gives a todo other words, and the key that follows from them."""
    todo = todo_of(memory)
    changed = new_todo(todo.kind, content, todo.dedupe_key)
    return WriteRequest(
        space=memory.space.name,
        content=content,
        uid=memory.uid,
        type=memory.type,
        logical_key=todo_key(changed),
        source=memory.source,
        kept_by=ROOM,
        native=memory.native,
        given=frozenset({"content", "logical_key"}),
    )


@dataclass(frozen=True, kw_only=True)
class StateTodo(MemoryOperation[Todo]):
    """Keep a todo that somebody states; one that is pending under its key stays as it is."""

    kind = TraceKind.COMPANION

    policy: Policy
    item: Item

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the todo."""
        return (self.item.space,)

    def selection(self) -> Selection:
        """What is pending under its key."""
        key = logical_claim(self.item.space, self.item.request.logical_key or "", ROOM)
        return Selection(claims=frozenset({key}))

    def decide(self, state: GraphState, now: datetime) -> Decided[Todo]:
        """Keep it.

        Raises:
            GraphmemError: it may not be stored.
        """
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        result = decide_item(draft, self.item, self.policy)
        if result.memory is None:
            raise result.error or NotFound
        decision = draft.decision([result])
        return Decided(answer=todo_of(draft.memories[result.memory.key]), memories=decision)
