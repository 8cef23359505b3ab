"""Todo rules (001, Curator): what becomes of todos by what a user says. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.companion.selection import normalized
from graphmem.model.companion import NewTodo, Todo, TodoKind, TodoStatus
from graphmem.model.names import slug
from graphmem.model.policy.companion import TodoPolicy
from graphmem.text.analysis import STOP_WORDS, stem, words
from graphmem.text.phrases import says, spoken

# as words are spoken: "i've done" is "i ve done"
_COMPLETION = (
    "i did",
    "i ve done",
    "i have done",
    "i finished",
    "i completed",
    "done with",
    "finished with",
    "went for",
    "took",
    "had my",
    "did my",
    "went out",
    "went to",
    "already",
    "just finished",
    "just did",
    "just completed",
)
_RECURRENCE = (
    "every day",
    "everyday",
    "daily",
    "each day",
    "every morning",
    "every evening",
    "every night",
    "routine",
    "regularly",
    "habitually",
    "weekly",
    "monthly",
    "each week",
    "each month",
)
_WISHES = (" i want to ", " i need to ")  # with "every" anywhere behind
_IDLE = (
    "weather",
    "nice day",
    "just thinking",
    "wondering",
    "curious about",
    "random thought",
    "by the way",
)
_TIMES = "now today tonight tomorrow yesterday afternoon weekend hour minute time finally really"
_NO_KEYWORDS = STOP_WORDS | {
    word for phrase in (*_COMPLETION, *_RECURRENCE, _TIMES) for word in phrase.split()
}
_KEYWORD_LETTERS = 3  # a shorter word tells nothing (001)
_CLAUSE_ENDS = re.compile(
    r"(?<=\?)|[.!;,:\n]+|\b(?:and|but|so|because|although|though)\b", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not|never|cannot)\b|n['\u2019]t\b|\?", re.IGNORECASE)
_TO_COME = re.compile(
    r"\b(?:will|should|must|gonna|tomorrow|(?:need|have|has|going) to)\b|['\u2019]ll\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """The commitment that a user has kept, or those of which a model may say which one it is.

    Neither: he says nothing of the kind.
    """

    todo: Todo | None = None
    needs_model: tuple[Todo, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Promotion:
    """A commitment that becomes a habit; ``habit`` is None where that is there already."""

    completes: Todo
    habit: NewTodo | None = None


def completed(message: str, pending: Iterable[Todo], policy: TodoPolicy) -> Completion:
    """Which commitment a message says to be kept: the only one, or the newest that shares a word.

    Words of the clause that says so count before those of others; what is denied, asked or still to
    come never does.
    """
    done = [clause for clause in _affirmed(message) if not _TO_COME.search(clause)]
    telling = [clause for clause in done if says(spoken(clause), _COMPLETION)]
    commitments = _commitments(pending)
    if not telling:
        return Completion()
    todo = _match(telling, commitments) or _match(done, commitments)
    asked = () if todo else commitments[: policy.match_commitments]
    return Completion(todo=todo, needs_model=tuple(asked))


def promotion(
    message: str,
    candidates: Iterable[Todo],
    habits: Iterable[Todo | NewTodo],
    now: datetime,
    policy: TodoPolicy,
    *,
    is_of_another: bool = False,
) -> Promotion | None:
    """Which commitment of the last day a message makes a habit of, by saying how often.

    What states a habit of its own is of another: it is no word on a commitment, not even the only
    one, that it shares no word with.
    """
    clauses = _affirmed(message)
    if not any(map(_recurs, clauses)):
        return None
    age = timedelta(hours=policy.promote_hours)
    recent = [todo for todo in _commitments(candidates) if now - todo.created_at <= age]
    todo = _sharing(clauses, recent) if is_of_another else _match(clauses, recent)
    if todo is None:
        return None
    habit = _habit(todo)
    is_there = any(_is_same(each, todo, habit, policy) for each in habits)
    return Promotion(completes=todo, habit=None if is_there else habit)


def idle_threads(threads: Sequence[Todo], policy: TodoPolicy) -> tuple[str, ...]:
    """Which of the newest open threads are small talk, by uid; ``threads`` come newest first."""
    waiting = [todo for todo in threads if _is_pending(todo, TodoKind.THREAD)]
    newest = waiting[: policy.threads_cleaned]
    return tuple(todo.uid for todo in newest if says(spoken(todo.content), _IDLE))


def keywords(text: str) -> frozenset[str]:
    """The stems of the words by which a message and a todo are known to be about the same."""
    return frozenset(
        stem(word)
        for word in words(text)
        if len(word) >= _KEYWORD_LETTERS and word not in _NO_KEYWORDS
    )


def _affirmed(message: str) -> list[str]:
    """The clauses of a message that neither deny nor ask."""
    return [clause for clause in _CLAUSE_ENDS.split(message) if not _DENIED.search(clause)]


def _is_pending(todo: Todo, kind: TodoKind) -> bool:
    return todo.kind is kind and todo.status is TodoStatus.PENDING


def _commitments(todos: Iterable[Todo]) -> list[Todo]:
    """Those commitments that are still open, newest first."""
    found = [todo for todo in todos if _is_pending(todo, TodoKind.COMMITMENT)]
    return sorted(found, key=lambda todo: (todo.created_at, todo.uid), reverse=True)


def _match(clauses: Iterable[str], commitments: Sequence[Todo]) -> Todo | None:
    """The only commitment, else the first that has a keyword of what is said."""
    return commitments[0] if len(commitments) == 1 else _sharing(clauses, commitments)


def _sharing(clauses: Iterable[str], commitments: Sequence[Todo]) -> Todo | None:
    """The first commitment that has a keyword of what is said."""
    said = keywords("\n".join(clauses))
    return next((todo for todo in commitments if said & keywords(todo.content)), None)


def _recurs(clause: str) -> bool:
    """Whether a clause says that something is to be done again and again."""
    said = spoken(clause)
    is_wished = any(" every " in f" {said.partition(wish)[2]}" for wish in _WISHES)
    return is_wished or says(said, _RECURRENCE)


def _habit(commitment: Todo) -> NewTodo:
    """The habit that a commitment becomes."""
    name = slug(commitment.dedupe_key or commitment.content) or normalized(commitment.content)
    key = f"habit:{name}"
    return NewTodo(
        kind=TodoKind.HABIT, content=commitment.content, dedupe_key=key, signature=slug(key)
    )


def _is_same(known: Todo | NewTodo, commitment: Todo, habit: NewTodo, policy: TodoPolicy) -> bool:
    """Whether a habit that is there is what a commitment would become."""
    begin = normalized(commitment.content)[: policy.prefix_chars]
    return (
        known.dedupe_key == habit.dedupe_key
        or bool(begin and begin in normalized(known.content))
        or bool(keywords(known.content) & keywords(commitment.content))
    )
