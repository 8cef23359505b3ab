"""Feedback: what was said of memories that recalls gave, and the counts on these memories."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphmem.model.feedback import NOTES_MAX, Feedback, FeedbackCounts
from graphmem.model.memory import Memory
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.mapping import memory_from_node
from graphmem.store.pages import every_row
from graphmem.text.times import moment_of

_PLAIN = ("recall", "memory", "useful", "note", "is_vote", "is_example")


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedMemory:
    """A memory with the counts of its feedback."""

    memory: Memory
    counts: FeedbackCounts


def lock_counted(transaction: Transaction, keys: Iterable[str]) -> dict[str, CountedMemory]:
    """The memories of some keys, locked, with their counts; what is gone is left out."""
    rows = transaction.run("feedback.lock", space_keys=sorted(set(keys)))
    found = [
        CountedMemory(
            memory=memory_from_node(row["memory"]),
            counts=FeedbackCounts(**row["counts"]),
        )
        for row in rows
    ]
    return {each.memory.key: each for each in found}


def feedback_of(transaction: Transaction, keys: Iterable[str]) -> dict[str, Feedback]:
    """What was said before under some keys."""
    rows = transaction.run("feedback.by_key", space_keys=sorted(set(keys)))
    found = [_feedback_from_row(row["feedback"]) for row in rows]
    return {each.key: each for each in found}


def save_feedback(
    transaction: Transaction, given: Sequence[Feedback], counts: Mapping[str, FeedbackCounts]
) -> None:
    """Write what was said of memories, which are locked, and their counts, by key.

    Of each memory the newest notes stay.
    """
    transaction.run(
        "feedback.save",
        space_rows=[_row_of(each) for each in given],
        counts=[{"key": key, "counts": asdict(counts[key])} for key in sorted(counts)],
    )
    if noted := sorted({each.memory_key for each in given if each.note is not None}):
        transaction.run("feedback.drop_notes", space_keys=noted, notes_max=NOTES_MAX)


def take_in_feedback(transaction: Transaction, given: Sequence[Feedback]) -> dict[str, bool | None]:
    """Write what another store kept; by key whether it is new.

    None where its memory is not here, or a room keeps it.
    """
    counted = lock_counted(transaction, [each.memory_key for each in given])
    free = {key: each.counts for key, each in counted.items() if each.memory.kept_by is None}
    known = feedback_of(transaction, [each.key for each in given])
    outcomes: dict[str, bool | None] = {each.key: None for each in given}
    new: dict[str, Feedback] = {}
    for each in given:
        if each.memory_key in free:
            outcomes[each.key] = each.key not in known
        if outcomes[each.key] and each.key not in new:
            new[each.key] = each
            free[each.memory_key] += each.counts
    if new:
        save_feedback(transaction, list(new.values()), free)
    return outcomes


def _row_of(feedback: Feedback) -> dict[str, Any]:
    own = {"key": feedback.key, "space": feedback.space.key}
    return {
        "memory_key": feedback.memory_key,
        "properties": own | {name: getattr(feedback, name) for name in _PLAIN},
        "at": feedback.at.isoformat(),
    }


def _feedback_from_row(node: Row | Mapping[str, Any]) -> Feedback:
    values: dict[str, Any] = {name: node.get(name) for name in _PLAIN}
    return Feedback(space=space_from_key(node["space"]), at=moment_of(node["at"]), **values)


class FeedbackReader:
    """Reads feedback."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_space(self, space: Space) -> Iterator[Feedback]:
        """All that was said of the memories of a space."""
        rows = every_row(self._connection, "feedback.of_space", space=space.key)
        return (_feedback_from_row(row["feedback"]) for row in rows)
