"""Questions: what is worth asking about memories, until it is resolved."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.model.memory import memory_key
from graphmem.model.notebook import NotedQuestion, notebook_key
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.model.tokens import epoch_ms
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page
from graphmem.text.times import moment_of

_FIRST = (2.0, "")  # above every priority


def save_questions(
    transaction: Transaction, questions: Sequence[NotedQuestion]
) -> dict[str, bool | None]:
    """Write questions; by key whether each is new, None where none of its memories is here."""
    rows = [_row(each) for each in questions]
    found = transaction.run("questions.save", space_rows=rows) if rows else []
    return {row["key"]: row["is_new"] for row in found}


def _row(question: NotedQuestion) -> dict[str, Any]:
    return {
        "key": question.key,
        "properties": {
            "uid": question.uid,
            "space": question.space.key,
            "text": question.question,
            "context": question.context,
            "priority": question.priority,
            "extraction": question.extraction,
            "resolved_by": question.resolved_by,
            "answer": question.answer,
        },
        "noted_at": question.noted_at.isoformat(),
        "resolved_at": question.resolved_at.isoformat() if question.resolved_at else None,
        "memories": [memory_key(question.space, uid) for uid in question.memories],
    }


def resolve_questions(transaction: Transaction, questions: Sequence[NotedQuestion]) -> None:
    """Write how questions were resolved."""
    rows = [
        {
            "key": each.key,
            "resolved_at": each.resolved_at.isoformat() if each.resolved_at else None,
            "resolved_by": each.resolved_by,
            "answer": each.answer,
        }
        for each in questions
    ]
    transaction.run("questions.resolve", space_rows=rows)


def lock_question(transaction: Transaction, space: Space, uid: str) -> NotedQuestion | None:
    """Take the lock of a question, unless what it is about was taken back."""
    rows = transaction.run("questions.lock", space_key=notebook_key(space, uid))
    return question_from_row(rows[0]["question"]) if rows else None


def open_questions_about(
    transaction: Transaction, memories: Sequence[str]
) -> tuple[NotedQuestion, ...]:
    """The open questions about some memories, by key."""
    rows = transaction.run("questions.open_about", space_keys=list(memories)) if memories else []
    return tuple(question_from_row(row["question"]) for row in rows)


def forget_worded_questions(
    transaction: Transaction, space: Space, extractions: Sequence[str]
) -> None:
    """Remove the questions that a model asked in some extractions, by uid."""
    transaction.run("questions.forget_words", space=space.key, extractions=list(extractions))


class Questions:
    """Reads questions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(
        self,
        space: Space,
        after: Cursor | None = None,
        *,
        limit: int,
        now: datetime,
        is_open: bool | None = None,
    ) -> Page[NotedQuestion]:
        """One page of the questions of a space, those that matter most first.

        A cursor is the priority of a question and its key.
        """
        priority, key = after or _FIRST
        return read_page(
            self._connection,
            "questions.list",
            "questions.count",
            filters={"space": space.key, "open": is_open, "now": epoch_ms(now)},
            cursor={"cursor_priority": float(priority), "cursor_key": key},
            limit=limit,
            item_of=lambda row: question_from_row(row["question"]),
            cursor_of=lambda row: (row["question"]["priority"], row["question"]["key"]),
        )

    def of_space(self, space: Space) -> Iterator[NotedQuestion]:
        """All questions of a space."""
        rows = every_row(self._connection, "questions.of_space", space=space.key)
        return (question_from_row(row["question"]) for row in rows)


def question_from_row(node: Row | Mapping[str, Any]) -> NotedQuestion:
    """The question of a row."""
    return NotedQuestion(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        question=node["question"],
        context=node["context"] or "",
        priority=node["priority"],
        memories=tuple(node["memories"]),
        noted_at=moment_of(node["noted_at"]),
        extraction=node["extraction"],
        resolved_at=moment_of(node["resolved_at"]),
        resolved_by=node["resolved_by"],
        answer=node["answer"],
    )
