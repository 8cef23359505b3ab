"""Artefacts: words of turns that memories rest on."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.model.conversation import turn_key
from graphmem.model.memory import memory_key
from graphmem.model.notebook import Artefact, ArtefactType
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.model.tokens import epoch_ms
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page
from graphmem.text.times import moment_of

_LAST = ("9999-12-31T00:00:00+00:00", "\uffff")


def save_artefacts(
    transaction: Transaction, artefacts: Sequence[Artefact]
) -> dict[str, bool | None]:
    """Write artefacts; by key whether each is new, None where what it rests on is not here."""
    rows = [
        {
            "key": each.key,
            "properties": {
                "uid": each.uid,
                "space": each.space.key,
                "type": each.type.value,
                "text": each.text,
            },
            "noted_at": each.noted_at.isoformat(),
            "memory": memory_key(each.space, each.memory),
            "turn": turn_key(each.space, each.turn),
        }
        for each in artefacts
    ]
    found = transaction.run("artefacts.save", space_rows=rows) if rows else []
    return {row["key"]: row["is_new"] for row in found}


def forget_quotes(transaction: Transaction, turns: Sequence[str]) -> None:
    """Remove the artefacts that quote some turns, by key."""
    transaction.run("artefacts.forget_quotes", space_keys=list(turns))


class Artefacts:
    """Reads artefacts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(
        self, space: Space, after: Cursor | None = None, *, limit: int, now: datetime
    ) -> Page[Artefact]:
        """One page of the artefacts of a space whose memories are current, the newest first.

        A cursor is when an artefact was noted, in ISO form, and its key.
        """
        noted, key = after or _LAST
        return read_page(
            self._connection,
            "artefacts.list",
            "artefacts.count",
            filters={"space": space.key, "now": epoch_ms(now)},
            cursor={"cursor_time": datetime.fromisoformat(str(noted)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: artefact_from_row(row["artefact"]),
            cursor_of=lambda row: (row["artefact"]["noted_at"], row["artefact"]["key"]),
        )

    def of_space(self, space: Space) -> Iterator[Artefact]:
        """All artefacts of a space."""
        rows = every_row(self._connection, "artefacts.of_space", space=space.key)
        return (artefact_from_row(row["artefact"]) for row in rows)


def artefact_from_row(node: Row | Mapping[str, Any]) -> Artefact:
    """The artefact of a row."""
    return Artefact(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        memory=node["memory"] or "",
        turn=node["turn"] or "",
        type=ArtefactType(node["type"]),
        text=node["text"],
        noted_at=moment_of(node["noted_at"]),
    )
