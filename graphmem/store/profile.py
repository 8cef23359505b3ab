"""Profile: lines about how somebody works and wants to be treated, and what they rest on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.model.memory import memory_key
from graphmem.model.notebook import ProfileLine
from graphmem.model.space import Space, space_from_key
from graphmem.model.tokens import epoch_ms
from graphmem.store.connection import Connection, Row, Transaction, rows_of
from graphmem.store.pages import every_row
from graphmem.text.times import moment_of

_FACTS_LOOKED_AT = 50  # the newest, for those without a line
LINES_READ = 2_000  # of a space; a pass of consolidation leaves less than 300


def profile_of(
    reader: Transaction | Connection, space: Space, now: datetime
) -> tuple[ProfileLine, ...]:
    """The lines of the profile of a space whose memories are all current, oldest first."""
    rows = rows_of(reader, "profile.lines", space=space.key, now=epoch_ms(now), limit=LINES_READ)
    return tuple(line_from_row(row["line"]) for row in rows)


def lines_that_lack(
    transaction: Transaction, space: Space, categories: Iterable[str], now: datetime
) -> tuple[ProfileLine, ...]:
    """The lines that the newest facts of some categories could have, and do not, newest first."""
    rows = transaction.run(
        "profile.without_line",
        space=space.key,
        categories=sorted(categories),
        newest=_FACTS_LOOKED_AT,
    )
    return tuple(
        ProfileLine(
            uid=row["uid"],
            space=space,
            text=row["content"],
            memories=(row["uid"],),
            importance=row["importance"],
            noted_at=now,
        )
        for row in rows
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenLine:
    """A line as it is written; without words of its own it says what its memory says."""

    line: ProfileLine
    has_words: bool


def save_lines(transaction: Transaction, lines: Sequence[WrittenLine]) -> dict[str, bool | None]:
    """Write lines; by key whether each is new, None where none of its memories is here."""
    rows = [_row(each.line, has_words=each.has_words) for each in lines]
    found = transaction.run("profile.save", space_rows=rows) if rows else []
    return {row["key"]: row["is_new"] for row in found}


def _row(line: ProfileLine, *, has_words: bool) -> dict[str, Any]:
    return {
        "key": line.key,
        "properties": {
            "uid": line.uid,
            "space": line.space.key,
            "text": line.text if has_words else None,
            "importance": line.importance,
            "extraction": line.extraction,
        },
        "noted_at": line.noted_at.isoformat(),
        "dropped_at": line.dropped_at.isoformat() if line.dropped_at else None,
        "memories": [memory_key(line.space, uid) for uid in line.memories],
    }


def drop_lines(transaction: Transaction, lines: Sequence[ProfileLine], now: datetime) -> None:
    """Let lines be shown no more."""
    keys = [line.key for line in lines]
    transaction.run("profile.drop", space_keys=keys, dropped_at=now.isoformat())


def resting_lines(transaction: Transaction, memories: Sequence[str]) -> frozenset[str]:
    """Those of some memories, by key, that lines rest on."""
    rows = transaction.run("profile.rests_on", space_keys=list(memories)) if memories else []
    return frozenset(row["key"] for row in rows)


def forget_worded_lines(transaction: Transaction, space: Space, extractions: Sequence[str]) -> None:
    """Remove the lines that a model worded in some extractions, by uid."""
    transaction.run("profile.forget_words", space=space.key, extractions=list(extractions))


def lines_of_space(connection: Connection, space: Space) -> Iterator[WrittenLine]:
    """All lines of a space, also those that are not shown."""
    rows = every_row(connection, "profile.of_space", space=space.key)
    return (
        WrittenLine(line=line_from_row(row["line"]), has_words=row["line"]["has_words"])
        for row in rows
    )


def line_from_row(node: Row | Mapping[str, Any]) -> ProfileLine:
    """The line of a row."""
    return ProfileLine(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        text=node["text"] or "",
        memories=tuple(node["memories"]),
        importance=node["importance"],
        noted_at=moment_of(node["noted_at"]),
        extraction=node["extraction"],
        dropped_at=moment_of(node["dropped_at"]),
    )
