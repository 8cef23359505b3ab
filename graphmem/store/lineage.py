"""Lineage in the store: what memories were made from, as exports carry it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.model.edge import LineageType, edge_uid
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Transaction
from graphmem.store.pages import every_row
from graphmem.store.writes import lock_memories
from graphmem.text.times import moment_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Descent:
    """That a memory was made from another one, both by their keys."""

    made: str
    type: LineageType
    origin: str
    created_at: datetime | None = None  # of one that somebody drew by hand

    @property
    def uid(self) -> str:
        """The uid of its edge."""
        return edge_uid(self.made, self.type, self.origin)


def descents_of(connection: Connection, space: Space) -> Iterator[Descent]:
    """What the memories of a space were made from, and what was made of them."""
    rows = every_row(connection, "lineage.of_space", after=f"{space.key}|", space=space.key)
    for row in rows:
        for made, type_, origin, created_at in row["lineage"]:
            yield Descent(
                made=made, type=LineageType(type_), origin=origin, created_at=moment_of(created_at)
            )


def take_in_descents(
    transaction: Transaction, descents: Sequence[Descent], now: datetime
) -> Mapping[str, bool | None]:
    """Draw what is not here between memories that are.

    The answer says by uid whether each is new; None where a memory is not here.
    """
    lock_memories(transaction, {key for each in descents for key in (each.made, each.origin)})
    rows = {
        each.uid: {
            "uid": each.uid,
            "from_key": each.made,
            "type": each.type.value,
            "to_key": each.origin,
            "created_at": (each.created_at or now).isoformat(),
        }
        for each in descents
    }
    drawn = transaction.run("lineage.draw", space_rows=list(rows.values())) if rows else ()
    found = dict.fromkeys(each.uid for each in descents)
    return found | {row["uid"]: row["is_new"] for row in drawn}
