"""The keeper of todos: listed, stated, changed and ticked off, for callers."""

from dataclasses import dataclass

from graphmem.companion.planning import request_of_todo
from graphmem.companion.projection import todo_of
from graphmem.companion.todos import ChangeTodo, StateTodo, is_todo, new_todo, reworded_request
from graphmem.errors import NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Executed
from graphmem.gateway.preparation import Preparation
from graphmem.model.caller import Caller
from graphmem.model.companion import ROOM, Todo, TodoKind, TodoStatus
from graphmem.model.memory import MemoryType, Status, memory_key
from graphmem.model.page import Cursor, Page
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.store.kept import KeptFilter, KeptMemories
from graphmem.store.memories import Memories

_AWAY = (Status.ARCHIVED, Status.SUPERSEDED, Status.RETRACTED)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedTodo:
    """A todo that somebody stated, and whether it is new."""

    todo: Todo
    is_new: bool
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class TodoKeeper:
    """Keeps todos for callers."""

    gateway: Gateway
    preparation: Preparation
    policy: Policy
    kept: KeptMemories
    memories: Memories

    def page(
        self,
        space: Space,
        *,
        kind: TodoKind | None,
        status: TodoStatus | None,
        after: Cursor | None,
        limit: int,
    ) -> Page[Todo]:
        """One page of the todos of a user with a persona, the newest first."""
        page = self.kept.page(todo_filter(space, kind, status), after, limit=limit)
        return Page(items=tuple(map(todo_of, page.items)), total=page.total, next=page.next)

    def newest(self, space: Space, *, limit: int) -> list[Todo]:
        """The newest pending todos of a user with a persona."""
        wanted = todo_filter(space, None, TodoStatus.PENDING)
        return [todo_of(each) for each in self.kept.newest(wanted, limit=limit)]

    def state(
        self, space: Space, kind: TodoKind, content: str, dedupe_key: str | None, *, caller: Caller
    ) -> StatedTodo:
        """Keep a todo; one that is pending under its key stays as it is.

        Raises:
            GraphmemError: it may not be stored.
        """
        todo = new_todo(kind, content, dedupe_key)
        request = request_of_todo(todo, space=space, at=None)
        ready = self.preparation.ready([request], caller)
        (item,) = ready.items
        operation = StateTodo(policy=self.policy, item=item, vectors=ready.vectors)
        done = self.gateway.execute(operation, caller)
        is_new = done.answer.uid == item.new_uid
        return StatedTodo(todo=done.answer, is_new=is_new, trace_id=done.trace_id)

    def change(
        self,
        space: Space,
        uid: str,
        *,
        content: str | None,
        status: TodoStatus | None,
        caller: Caller,
    ) -> Executed[Todo]:
        """Give a todo another status or other words.

        Raises:
            NotFound, Conflict: see ChangeTodo.
            GraphmemError: its words may not be stored.
        """
        key = memory_key(space, uid)
        memory = self.memories.by_key([key]).get(key)
        if memory is None or not is_todo(memory):
            raise NotFound
        requests = [reworded_request(memory, content)] if content else []
        ready = self.preparation.ready(requests, caller, are_corrections=True)
        operation = ChangeTodo(
            memory=memory,
            policy=self.policy,
            status=status,
            item=next(iter(ready.items), None),
            vectors=ready.vectors,
        )
        return self.gateway.execute(operation, caller)


def todo_filter(space: Space, kind: TodoKind | None, status: TodoStatus | None) -> KeptFilter:
    """Which todos of a space are asked for; None: of any kind, in any status."""
    is_pending = status is TodoStatus.PENDING
    statuses = (Status.ACTIVE,) if is_pending else _AWAY if status else tuple(Status)
    return KeptFilter(
        kept_by=ROOM,
        spaces=[space],
        types=[MemoryType.TODO],
        statuses=statuses,
        prefix=f"todo|{kind.lower()}|" if kind else "todo|",
        completed=None if is_pending or status is None else status is TodoStatus.COMPLETED,
    )
