"""Identity: reflections on one's own part in a space."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.model.notebook import Reflection
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction, rows_of
from graphmem.store.pages import every_row
from graphmem.text.times import moment_of

_REFLECTIONS_READ = 2_000  # of a space, the newest; one an hour, and short after each pass


@dataclass(frozen=True, kw_only=True, slots=True)
class IdentityState:
    """When the last reflection was noted, and how many characters are shown."""

    last_at: datetime | None = None
    characters: int = 0


def identity_state(transaction: Transaction, space: Space) -> IdentityState:
    """What a space, whose notebook is locked, has of an identity."""
    (row,) = transaction.run("identity.state", space=space.key)
    return IdentityState(last_at=moment_of(row["last_at"]), characters=row["characters"])


def reflections_of(reader: Transaction | Connection, space: Space) -> tuple[Reflection, ...]:
    """The reflections of a space that are shown, oldest first."""
    rows = rows_of(reader, "identity.reflections", space=space.key, limit=_REFLECTIONS_READ)
    return tuple(reflection_from_row(row["reflection"]) for row in rows)


def save_reflections(
    transaction: Transaction, reflections: Sequence[Reflection]
) -> dict[str, bool]:
    """Write reflections as they now are; by key whether each is new."""
    rows = _rows(reflections)
    found = transaction.run("identity.save", space_rows=rows) if rows else []
    return {row["key"]: row["is_new"] for row in found}


def change_reflections(transaction: Transaction, reflections: Sequence[Reflection]) -> None:
    """Write reflections as they now are, but for those that were taken back meanwhile."""
    transaction.run("identity.change", space_rows=_rows(reflections))


def _rows(reflections: Sequence[Reflection]) -> list[dict[str, Any]]:
    return [
        {
            "key": each.key,
            "properties": {
                "uid": each.uid,
                "space": each.space.key,
                "text": each.text,
                "extraction": each.extraction,
            },
            "noted_at": each.noted_at.isoformat(),
            "dropped_at": each.dropped_at.isoformat() if each.dropped_at else None,
        }
        for each in reflections
    ]


def take_in_reflections(
    transaction: Transaction, reflections: Sequence[Reflection]
) -> dict[str, bool]:
    """Write reflections that another store kept; by key whether each is new here."""
    keys = [each.key for each in reflections]
    here = {row["key"] for row in transaction.run("identity.there", space_keys=keys)}
    new = save_reflections(transaction, [each for each in reflections if each.key not in here])
    return dict.fromkeys(here, False) | new


def forget_worded_reflections(
    transaction: Transaction, space: Space, extractions: Sequence[str]
) -> None:
    """Remove the reflections that a model gave in some extractions, by uid."""
    transaction.run("identity.forget_words", space=space.key, extractions=list(extractions))


def reflections_of_space(connection: Connection, space: Space) -> Iterator[Reflection]:
    """All reflections of a space, also those that are not shown."""
    rows = every_row(connection, "identity.of_space", space=space.key)
    return (reflection_from_row(row["reflection"]) for row in rows)


def reflection_from_row(node: Row | Mapping[str, Any]) -> Reflection:
    """The reflection of a row."""
    return Reflection(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        text=node["text"],
        noted_at=moment_of(node["noted_at"]),
        extraction=node["extraction"],
        dropped_at=moment_of(node["dropped_at"]),
    )
