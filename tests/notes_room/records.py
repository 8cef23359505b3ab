"""Notes in the store."""

from dataclasses import dataclass

from graphmem.model.page import Page


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A note of a space. ``memory`` is the key of the memory that it rests on."""

    uid: str
    text: str
    memory: str
    is_stale: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RestingNote:
    """A note as a reaction sees it."""

    key: str
    space: str
    uid: str
    memory: str
    is_stale: bool


class Notes:
    """Reads notes."""

    def __init__(self, connection):
        self._connection = connection

    def page(self, space, after=None, *, limit):
        """One page of the notes of a space."""
        (cursor,) = after or ("",)

        def work(transaction):
            rows = transaction.run(
                "notes.list", space=space.key, cursor_key=cursor, limit=limit + 1
            )
            shown = rows[:limit]
            return Page(
                items=tuple(_note(row) for row in shown),
                total=transaction.run("notes.count", space=space.key)[0]["total"],
                next=(shown[-1]["key"],) if len(rows) > limit else None,
            )

        return self._connection.read(work)

    def stale_before(self, moment):
        """The stale notes from before a time."""
        return [dict(row) for row in self._connection.fetch("notes.stale_before", before=moment)]


def lock_note(transaction, space, uid):
    """Lock a note; its text, if it is there."""
    return transaction.run("notes.lock", key=f"{space.key}|{uid}", space=space.key)[0]["text"]


def save_note(transaction, space, note, *, now):
    """Keep a note."""
    transaction.run(
        "notes.save",
        key=f"{space.key}|{note.uid}",
        space=space.key,
        uid=note.uid,
        text=note.text,
        memory=note.memory,
        created_at=now,
    )


def resting_notes(transaction, memories):
    """Lock the notes that rest on some memories."""
    rows = transaction.run("notes.resting", space_keys=list(memories))
    return [RestingNote(**dict(row)) for row in rows]


def mark_notes(transaction, notes):
    """Say of notes whether they are stale."""
    rows = [{"key": note.key, "is_stale": note.is_stale} for note in notes]
    transaction.run("notes.mark", notes=rows)


def remove_notes(transaction, keys):
    """Remove notes."""
    transaction.run("notes.remove", keys=list(keys))


def _note(row):
    return Note(
        uid=row["uid"], text=row["text"], memory=row["memory"], is_stale=bool(row["is_stale"])
    )
