"""Scratch: what an export or import must remember of all records, on disk and not in memory."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_TABLES = """
CREATE TABLE seen (kind TEXT, name TEXT, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE link (kind TEXT, name TEXT, other TEXT, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE note (kind TEXT, name TEXT, at TEXT, text TEXT);
CREATE INDEX note_name ON note (kind, name, at);
"""


class Scratch:
    """Names by kind, each once; names that lead to another; and notes about names, by time.

    It is a temporary database that is gone as soon as it is closed.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(f"PRAGMA journal_mode = OFF; {_TABLES}")

    def close(self) -> None:
        """Forget all."""
        self._database.close()

    def add(self, kind: str, name: str) -> bool:
        """Note a name; whether it is new."""
        done = self._database.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (kind, name))
        return done.rowcount == 1

    def has(self, kind: str, name: str) -> bool:
        """Whether a name was noted."""
        return bool(self._rows("SELECT 1 FROM seen WHERE kind = ? AND name = ?", (kind, name)))

    def names(self, kind: str) -> Iterator[str]:
        """All names of a kind, in order."""
        found = self._database.execute("SELECT name FROM seen WHERE kind = ? ORDER BY 1", (kind,))
        return (name for (name,) in found)

    def lead(self, kind: str, name: str, other: str) -> None:
        """Let a name lead to another; the first that was said holds."""
        self._database.execute("INSERT OR IGNORE INTO link VALUES (?, ?, ?)", (kind, name, other))

    def led(self, kind: str, name: str) -> str | None:
        """What a name leads to."""
        found = self._rows("SELECT other FROM link WHERE kind = ? AND name = ?", (kind, name))
        return found[0][0] if found else None

    def links(self, kind: str) -> Iterator[tuple[str, str]]:
        """All names of a kind with what they lead to, in order."""
        yield from self._database.execute(
            "SELECT name, other FROM link WHERE kind = ? ORDER BY 1", (kind,)
        )

    def note(self, kind: str, name: str, at: str, text: str) -> None:
        """Note something about a name."""
        self._database.execute("INSERT INTO note VALUES (?, ?, ?, ?)", (kind, name, at, text))

    def notes(self, kind: str, name: str, *, limit: int) -> list[str]:
        """The newest notes about a name."""
        found = self._rows(
            "SELECT text FROM note WHERE kind = ? AND name = ? ORDER BY at DESC, text LIMIT ?",
            (kind, name, limit),
        )
        return [text for (text,) in found]

    def _rows(self, query: str, values: Iterable[Any]) -> Sequence[tuple[Any, ...]]:
        return self._database.execute(query, tuple(values)).fetchall()
