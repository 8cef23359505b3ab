"""Messages: turns of the companion's conversation, and who judges them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from graphmem.model.conversation import Turn
from graphmem.store.connection import Connection, Transaction
from graphmem.store.pages import rows_by_time
from graphmem.store.turns import turn_from_row


def lock_unjudged(transaction: Transaction, key: str, claim: str) -> Turn | None:
    """A message, locked and without its words, if it still waits for the judge of that claim."""
    rows = transaction.run("messages.lock_unjudged", space_key=key)
    is_ours = bool(rows) and (rows[0]["claim"] or "") == claim
    return turn_from_row(rows[0]["turn"]) if is_ours else None


def note_judged(transaction: Transaction, key: str) -> None:
    """A message is judged."""
    transaction.run("messages.note_judged", space_key=key)


def claim_message(
    transaction: Transaction, key: str, *, claim: str, now: datetime, until: datetime
) -> Turn | None:
    """Let one judge have a message that waits; None where another has it, or it is judged."""
    rows = transaction.run("messages.claim", space_key=key, claim=claim, now=now, until=until)
    return turn_from_row(rows[0]["turn"]) if rows else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A message that waits for its judge: its key, and that of its space."""

    key: str
    space: str


def waiting_messages(connection: Connection, now: datetime) -> Iterator[Waiting]:
    """The messages that wait for a judge and that nobody has now, as they arrived."""
    rows = rows_by_time(
        connection,
        "messages.waiting",
        place_of=lambda row: (row["recorded_at"], row["key"]),
        now=now,
    )
    return (Waiting(key=row["key"], space=row["space"]) for row in rows)


def said_before(
    connection: Connection, conversation: str, *, after: datetime, before: datetime, limit: int
) -> tuple[Turn, ...]:
    """What users said in a conversation between two times, both included; the latest first."""
    rows = connection.fetch(
        "messages.before", space_key=conversation, after=after, before=before, limit=limit
    )
    return tuple(turn_from_row(row["turn"]) for row in rows)
