"""Relations: reading and writing how entities stand to each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.entity import EntityRef
from graphmem.model.entity_change import EntityChange
from graphmem.model.page import Cursor, Page
from graphmem.model.relation import Direction, Relation
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page

AROUND_MAX = 1_000  # relations that a step from entities leads over


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """Which relations are seen: in which spaces, when they hold, and by what of their memories."""

    spaces: Sequence[str]
    statuses: Sequence[str]
    at: datetime
    now_ms: int
    label: str = ""

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
        }


class Relations:
    """Reads relations."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(
        self, owners: Sequence[str], holding: Holding, after: Cursor | None = None, *, limit: int
    ) -> Page[Relation]:
        """One page of the relations of some owners; a cursor is a uid and an owner."""
        uid, space = after or ("", "")
        return read_page(
            self._connection,
            "relations.list",
            "relations.count",
            filters=holding.parameters | {"owners": list(owners)},
            cursor={"cursor_uid": uid, "cursor_space": space},
            limit=limit,
            item_of=lambda row: relation_from_node(row["relation"]),
            cursor_of=lambda row: (row["relation"]["uid"], row["relation"]["space"]),
        )

    def around(
        self, entities: Sequence[str], holding: Holding, direction: Direction
    ) -> list[Relation]:
        """The relations of some entities, by their keys: at most a thousand, oldest first."""
        rows = self._connection.fetch(
            "relations.around",
            space_keys=list(entities),
            direction=direction.value,
            limit=AROUND_MAX,
            **holding.parameters,
        )
        return [relation_from_node(row["relation"]) for row in rows]

    def of_space(self, space: Space) -> Iterator[Relation]:
        """All relations that rest on a space, whether they hold or not."""
        owner = space.without_persona.key
        rows = every_row(self._connection, "relations.of_space", owner=owner, space=space.key)
        return (relation_from_node(row["relation"]) for row in rows)


def relations_between(
    transaction: Transaction, owner: str, start: str, end: str, *, label: str
) -> list[Relation]:
    """The relations of a label from one entity of an owner to another, oldest first."""
    rows = transaction.run(
        "relations.between", from_key=f"{owner}|{start}", to_key=f"{owner}|{end}", label=label
    )
    return [relation_from_node(row["relation"]) for row in rows]


def lock_relation(transaction: Transaction, owner: str, uid: str) -> Relation | None:
    """A relation of an owner, with the locks of its ends."""
    rows = transaction.run("relations.lock", space=owner, uid=uid)
    return relation_from_node(rows[0]["relation"]) if rows else None


def save_relation(transaction: Transaction, relation: Relation) -> None:
    """Write a relation, whether it is there or not."""
    times = {
        name: moment.isoformat() if moment else None
        for name in ("since", "until")
        for moment in [getattr(relation, name)]
    }
    properties = {
        "uid": relation.uid,
        "space": relation.space,
        "label": relation.label,
        "weight": relation.weight,
        "memories": list(relation.memories),
        "by_hand": list(relation.by_hand),
    }
    found = transaction.run(
        "relations.change",
        space=relation.space,
        uid=relation.uid,
        properties=properties,
        **times,
    )
    if not found[0]["changed"]:
        transaction.run(
            "relations.create",
            from_key=f"{relation.space}|{relation.start.key}",
            to_key=f"{relation.space}|{relation.end.key}",
            properties=properties,
            created_at=relation.created_at.isoformat(),
            **times,
        )


def delete_relation(transaction: Transaction, relation: Relation) -> None:
    """Remove a relation."""
    transaction.run("relations.delete", space=relation.space, uid=relation.uid)


def move_relations(
    transaction: Transaction,
    change: EntityChange,
    memory_keys: Sequence[str] | None,
    uids: Sequence[str] = (),
) -> None:
    """Move relations as a change says: all, or those of some uids and of some memories alone."""
    transaction.run(
        "relations.move",
        **_ends(change),
        every=memory_keys is None,
        memories=list(memory_keys or ()),
        uids=list(uids),
    )


def move_relations_back(transaction: Transaction, change: EntityChange) -> None:
    """Let the relations that a change moved stand where they did."""
    transaction.run("relations.move_back", **_ends(change))


def unknown_relations(
    transaction: Transaction, owner: str, key: str, uids: Sequence[str]
) -> list[str]:
    """Those of some uids that no relation of an entity has."""
    rows = transaction.run("relations.unknown", from_key=f"{owner}|{key}", uids=list(uids))
    return [row["uid"] for row in rows]


def _ends(change: EntityChange) -> dict[str, str]:
    return {
        "change": change.uid,
        "from_key": f"{change.space}|{change.from_key}",
        "into_key": f"{change.space}|{change.into_key}",
    }


def relation_from_node(node: Row | Mapping[str, Any]) -> Relation:
    """The relation of a row."""
    (start, start_label), (end, end_label) = node["start"], node["end"]
    return Relation(
        uid=node["uid"],
        space=node["space"],
        start=EntityRef(key=start, label=start_label),
        end=EntityRef(key=end, label=end_label),
        label=node["label"],
        created_at=_moment(node["created_at"]) or datetime.now(UTC),
        weight=node["weight"],
        since=_moment(node["since"]),
        until=_moment(node["until"]),
        memories=tuple(node["memories"] or ()),
        by_hand=tuple(node["by_hand"] or ()),
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None
