"""Relations: reading and writing how entities stand to each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.entity import EntityRef
from graphmem.model.entity_change import EntityChange
from graphmem.model.page import Cursor, Page
from graphmem.model.relation import Direction, Relation, relation_key
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page
from graphmem.text.times import moment_of

_LAST = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """Which relations are seen: of which spaces, that hold when, by what of their memories.

    ``every`` shows those that do not hold too.
    """

    spaces: Sequence[str]
    statuses: Sequence[str]
    at: datetime
    now_ms: int
    label: str = ""
    recorded_by: datetime | None = None
    every: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """What queries are given."""
        return {
            "spaces": list(self.spaces),
            "statuses": list(self.statuses),
            "begins_by": self.at,
            "ends_after": self.at,
            "now": self.now_ms,
            "label": self.label,
            "recorded_by": self.recorded_by or _LAST,
            "every": self.every,
        }


class Relations:
    """Reads relations."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, holding: Holding, after: Cursor | None = None, *, limit: int) -> Page[Relation]:
        """One page of the relations of some spaces; a cursor is the key of one."""
        return self._page("list", "count", holding.parameters, after, limit)

    def page_around(
        self,
        entities: Sequence[str],
        holding: Holding,
        direction: Direction,
        after: Cursor | None = None,
        *,
        limit: int,
    ) -> Page[Relation]:
        """One page of the relations of some entities, by their keys; a cursor is the key of one."""
        more = {"space_keys": list(entities), "direction": direction.value}
        return self._page("around", "count_around", holding.parameters | more, after, limit)

    def _page(
        self,
        query: str,
        count: str,
        filters: Mapping[str, Any],
        after: Cursor | None,
        limit: int,
    ) -> Page[Relation]:
        (key,) = after or ("",)
        return read_page(
            self._connection,
            f"relations.{query}",
            f"relations.{count}",
            filters=filters,
            cursor={"cursor_key": key},
            limit=limit,
            item_of=lambda row: relation_from_node(row["relation"]),
            cursor_of=lambda row: (row["key"],),
        )

    def around(
        self, entities: Sequence[str], holding: Holding, direction: Direction, *, limit: int
    ) -> list[Relation]:
        """The first relations of some entities, by their keys."""
        rows = self._connection.fetch(
            "relations.around",
            space_keys=list(entities),
            direction=direction.value,
            cursor_key="",
            limit=limit,
            **holding.parameters,
        )
        return [relation_from_node(row["relation"]) for row in rows]

    def there(self, keys: Sequence[str]) -> frozenset[str]:
        """Which of some relations, by key, are here."""
        rows = self._connection.fetch("relations.there", space_keys=list(keys))
        return frozenset(row["key"] for row in rows)

    def of_space(self, space: Space) -> Iterator[Relation]:
        """All relations of a space, whether they hold or not."""
        rows = every_row(self._connection, "relations.of_space", space=space.key)
        return (relation_from_node(row["relation"]) for row in rows)


def relations_between(
    transaction: Transaction, space: Space, start: str, end: str, *, label: str
) -> list[Relation]:
    """The relations of a space and a label from one entity to another, oldest first."""
    owner = space.without_persona.key
    rows = transaction.run(
        "relations.between",
        space=space.key,
        from_key=f"{owner}|{start}",
        to_key=f"{owner}|{end}",
        label=label,
    )
    return [relation_from_node(row["relation"]) for row in rows]


def lock_relation(transaction: Transaction, space: Space, uid: str) -> Relation | None:
    """A relation of a space, with the locks of its ends."""
    rows = transaction.run("relations.lock", space_key=relation_key(space, uid))
    return relation_from_node(rows[0]["relation"]) if rows else None


def create_relation(transaction: Transaction, relation: Relation) -> None:
    """Write a relation that is not there; its ends are."""
    owner = relation.space.without_persona.key
    transaction.run(
        "relations.create",
        from_key=f"{owner}|{relation.start.key}",
        to_key=f"{owner}|{relation.end.key}",
        created_at=relation.created_at.isoformat(),
        **_values(relation),
    )


def change_relation(transaction: Transaction, relation: Relation) -> None:
    """Write a relation that is there."""
    transaction.run("relations.change", space_key=relation.key, **_values(relation))


def delete_relation(transaction: Transaction, relation: Relation) -> None:
    """Remove a relation."""
    transaction.run("relations.delete", space_key=relation.key)


def _values(relation: Relation) -> dict[str, Any]:
    """When it holds, as text, and its other properties."""
    return {
        "since": _text(relation.since),
        "until": _text(relation.until),
        "properties": {
            "key": relation.key,
            "uid": relation.uid,
            "space": relation.space.key,
            "label": relation.label,
            "weight": relation.weight,
            "memories": list(relation.memories),
            "by_hand": relation.by_hand,
        },
    }


def move_relations(
    transaction: Transaction,
    change: EntityChange,
    memory_keys: Sequence[str] | None,
    relations: Sequence[str] = (),
) -> None:
    """Move relations as a change says: all, or those of some keys and of some memories alone."""
    transaction.run(
        "relations.move",
        **_ends(change),
        change=change.uid,
        every=memory_keys is None,
        memories=list(memory_keys or ()),
        relations=list(relations),
    )


def move_relations_back(transaction: Transaction, change: EntityChange) -> None:
    """Let the relations that a change moved stand where they did."""
    transaction.run("relations.move_back", **_ends(change), change=change.uid)


def movable_relations(
    transaction: Transaction, owner: Space, start: str, into: str, relations: Sequence[str]
) -> set[str]:
    """Those of some relations, by key, that can go from one entity to another."""
    if not relations:
        return set()
    rows = transaction.run(
        "relations.movable",
        from_key=f"{owner.key}|{start}",
        into_key=f"{owner.key}|{into}",
        relations=list(relations),
    )
    return {row["key"] for row in rows}


def _ends(change: EntityChange) -> dict[str, str]:
    return {
        "from_key": f"{change.space}|{change.from_key}",
        "into_key": f"{change.space}|{change.into_key}",
    }


def relation_from_node(node: Row | Mapping[str, Any]) -> Relation:
    """The relation of a row."""
    (start, start_label), (end, end_label) = node["start"], node["end"]
    return Relation(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        start=EntityRef(key=start, label=start_label),
        end=EntityRef(key=end, label=end_label),
        label=node["label"],
        created_at=moment_of(node["created_at"]),
        weight=node["weight"],
        since=moment_of(node["since"]),
        until=moment_of(node["until"]),
        memories=tuple(node["memories"]),
        by_hand=node["by_hand"],
    )


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
