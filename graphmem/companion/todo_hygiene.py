"""Todo hygiene: which todos a message ends, and which habit one becomes (001, Curator)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphmem.adapters.asking import Ask
from graphmem.companion import summary_model
from graphmem.companion.todo_keeper import TodoKeeper
from graphmem.companion.todo_rules import completed, idle_threads, promotion
from graphmem.errors import ModelUnavailable
from graphmem.model.companion import NewTodo, Todo, TodoKind, TodoStatus
from graphmem.model.conversation import Turn
from graphmem.model.memory import memory_key
from graphmem.model.policy.companion import TodoPolicy
from graphmem.model.space import Space
from graphmem.ports import Clock, LanguageModel

_MODEL_AWAY = "model_unavailable"
_TODOS_READ = 200  # of the newest open ones, that a message may end


@dataclass(frozen=True, kw_only=True, slots=True)
class TodoPlan:
    """How todos end, by key, and the habit that one of them becomes."""

    ends: Mapping[str, TodoStatus] = field(default_factory=dict)
    habit: NewTodo | None = None
    promoted: str = ""  # the key of what becomes that habit
    degraded: tuple[str, ...] = ()

    def without_habit(self) -> "TodoPlan":
        """The plan where the habit may not be stored: what it comes from stays as it is."""
        ends = {key: status for key, status in self.ends.items() if key != self.promoted}
        return replace(self, ends=ends, habit=None, promoted="")


@dataclass(frozen=True, kw_only=True)
class TodoHygiene:
    """Plans what a message means for the todos that are pending."""

    todos: TodoKeeper
    model: LanguageModel | None
    clock: Clock

    def plan(self, turn: Turn, begun: Sequence[NewTodo], policy: TodoPolicy) -> TodoPlan:
        """What the message completes, promotes and skips; ``begun`` are the todos that it states.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        space, said = turn.space, turn.content
        waiting = self.todos.newest(space, limit=_TODOS_READ)
        done, degraded = self._completed(said, waiting, policy)
        begun_habits = [todo for todo in begun if todo.kind is TodoKind.HABIT]
        known_habits = [todo for todo in waiting if todo.kind is TodoKind.HABIT]
        found = promotion(
            said,
            waiting,
            (*known_habits, *begun_habits),
            self.clock.now(),
            policy,
            is_of_another=bool(begun_habits),
        )
        kept = [todo for todo in (done, found.completes if found else None) if todo]
        return TodoPlan(
            ends={
                **_ends(space, idle_threads(waiting, policy), TodoStatus.SKIPPED),
                **_ends(space, [todo.uid for todo in kept], TodoStatus.COMPLETED),
            },
            habit=found.habit if found else None,
            promoted=memory_key(space, found.completes.uid) if found and found.habit else "",
            degraded=degraded,
        )

    def _completed(
        self, said: str, waiting: Sequence[Todo], policy: TodoPolicy
    ) -> tuple[Todo | None, tuple[str, ...]]:
        """The commitment that a message completes, and what did not work."""
        found = completed(said, waiting, policy)
        if not found.needs_model or self.model is None:
            return found.todo, ()
        ask = Ask(model=self.model, seconds=policy.match_timeout_seconds)
        try:
            todo = summary_model.kept_commitment(ask, said, found.needs_model, policy=policy)
        except ModelUnavailable:
            return None, (_MODEL_AWAY,)
        return todo, ()


def _ends(space: Space, uids: Sequence[str], status: TodoStatus) -> dict[str, TodoStatus]:
    return {memory_key(space, uid): status for uid in uids}
