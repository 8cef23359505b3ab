"""Entities: reading them, and moving mentions from one to another and back."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.model.entity import Entity, EntityRef, label_from_key
from graphmem.model.entity_change import EntityChange, EntityState
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.model.tokens import ends_after_ms, epoch_ms, facet_token
from graphmem.store.candidates import CardFact
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.entity_names import (
    alias_token,
    label_token,
    name_fields,
    name_query,
    named_query,
)
from graphmem.store.mapping import entity_change_from_node, entity_from_node, entity_properties
from graphmem.store.pages import every_row, read_page

_LAST = datetime(9999, 12, 30, tzinfo=UTC)
FOUND_MAX = 1_000  # entities that a search ranks
NAMES_MAX = 500  # that are looked for at once
_TYPES_MAX = 64  # beyond, a list without types goes through all entities of its owners
_BEHIND_ALL = 3  # above every rank of a search
_LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownOf:
    """What is known of an entity: its first facts, and how many memories mention it."""

    entity: Entity
    facts: tuple[CardFact, ...]
    mentions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CardQuestion:
    """What a card shows: at most ``limit`` facts of an importance, as of and known at."""

    limit: int
    importance: int
    now_ms: int
    begins_by: datetime
    ends_after: datetime
    statuses: Sequence[str]
    known_at: datetime | None = None


class Entities:
    """Reads entities."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(
        self,
        spaces: Sequence[Space],
        *,
        types: Sequence[str],
        prefix: str,
        limit: int,
        after: Cursor | None,
    ) -> Page[Entity]:
        """One page of the entities that memories of some spaces mention or that are declared there.

        Those named exactly so come first.

        ``prefix`` is a normalised beginning of a name.
        """
        keys = [space.key for space in spaces]
        if prefix and not types:
            types = self._types(_owners(spaces))
        starts = [f"{kind}:{prefix}" for kind in dict.fromkeys(types)] or [""]
        filters: dict[str, Any] = {
            "spaces": keys,
            "prefix": prefix,
            "ranges": [
                {"space": owner, "first": start, "last": start + _LAST_CHARACTER}
                for owner in _owners(spaces)
                for start in starts
            ],
        }
        is_exact, key = after or (True, "")
        return read_page(
            self._connection,
            "entities.list",
            "entities.count",
            filters=filters,
            cursor={"cursor_exact": is_exact, "cursor_key": key},
            limit=limit,
            item_of=lambda row: entity_from_node(row["e"]).seen_from(keys),
            cursor_of=lambda row: (row["is_exact"], row["key"]),
        )

    def _types(self, owners: Sequence[str]) -> list[str]:
        """The types of the entities of some owners; none where these are very many."""
        found: list[str] = []
        for owner in owners:
            after = ""
            while rows := self._connection.fetch("entities.next_type", space=owner, after=after):
                found.append(rows[0]["type"])
                after = f"{found[-1]}:{_LAST_CHARACTER}"
                if len(found) > _TYPES_MAX:
                    return []
        return found

    def search(
        self,
        spaces: Sequence[Space],
        query: str,
        *,
        types: Sequence[str],
        limit: int,
        after: Cursor | None,
    ) -> Page[Entity]:
        """One page of the entities that words find among their names, best first.

        Those that are called exactly so come first, then those of which it is another name.
        """
        keys, owners = [space.key for space in spaces], _owners(spaces)
        rank, score, key = after or (_BEHIND_ALL, 0, "")
        return read_page(
            self._connection,
            "entities.search",
            "entities.count_found",
            filters={
                "text": name_query(query, owners=owners, types=types),
                "spaces": keys,
                "owners": owners,
                "most": FOUND_MAX,
            },
            cursor={
                "labels": [label_token(owner, query) for owner in owners],
                "aliases": [alias_token(owner, query) for owner in owners],
                "cursor_rank": rank,
                "cursor_score": score,
                "cursor_key": key,
            },
            limit=limit,
            item_of=lambda row: entity_from_node(row["e"]).seen_from(keys),
            cursor_of=lambda row: (row["rank"], row["score"], row["key"]),
        )

    def named(self, space: Space, names: Sequence[str]) -> list[Entity]:
        """The entities of a space's owner that have one of some names, blanks and hyphens aside.

        Who reads the space sees them.
        """
        if not names:
            return []
        owner = space.without_persona.key
        rows = self._connection.fetch(
            "entities.named",
            owner=owner,
            spaces=[each.key for each in space.readable_with_it()],
            text=named_query(owner, names[:NAMES_MAX]),
            most=FOUND_MAX,
        )
        return [entity_from_node(row["e"]) for row in rows]

    def known_of(
        self, spaces: Sequence[Space], ref: EntityRef, question: CardQuestion
    ) -> KnownOf | None:
        """What is known of an entity in some spaces.

        One that was merged leads to what it became.
        """
        keys = [space.key for space in spaces]
        parameters: dict[str, Any] = {
            "keys": list(self.meant(spaces, [ref])[0]),
            "spaces": keys,
            "statuses": list(question.statuses),
            "now": question.now_ms,
            "importance": question.importance,
            "limit": question.limit,
        }
        begins, ends = question.begins_by, question.ends_after
        if question.known_at:
            times = {"begins_by": begins, "ends_after": ends, "known_at": question.known_at}
            rows = self._connection.fetch("entities.card_known_at", **parameters, **times)
        else:
            times_ms = {"begins_by": epoch_ms(begins), "ends_after": ends_after_ms(ends)}
            rows = self._connection.fetch("entities.card", **parameters, **times_ms)
        return _known_of(rows, keys, question.limit)

    def meant(self, spaces: Sequence[Space], refs: Sequence[EntityRef]) -> list[tuple[str, ...]]:
        """The entities that each reference means, one by owner; a merged one is what it became."""
        if not refs:
            return []
        owners = _owners(spaces)
        space_keys = {f"{owner}|{key}" for owner in owners for ref in refs for key in ref.keys}
        rows = self._connection.fetch("entities.resolve", space_keys=sorted(space_keys))
        found = {row["key"]: row for row in rows}
        return [tuple(_meant(ref, owner, found) for owner in owners) for ref in refs]

    def declared(self, space: Space) -> Iterator[Entity]:
        """The entities that are declared in an owner's space, by key."""
        rows = every_row(self._connection, "entities.declared", space=space.key)
        return (entity_from_node(row["e"]) for row in rows)

    def declared_there(self, keys: Sequence[str]) -> frozenset[str]:
        """Which of some entities, by space and key, are declared."""
        rows = self._connection.fetch("entities.declared_there", space_keys=list(keys))
        return frozenset(row["key"] for row in rows)

    def changes(
        self, space: Space, *, limit: int, after: Cursor | None = None
    ) -> Page[EntityChange]:
        """One page of the merges and splits of a space, newest first.

        A cursor is the time of a change, in ISO form, and its uid.
        """
        created_at, uid = after or (_LAST.isoformat(), "")
        return read_page(
            self._connection,
            "entities.changes",
            "entities.count_changes",
            filters={"space": space.key},
            cursor={
                "cursor_time": datetime.fromisoformat(str(created_at)),
                "cursor_uid": uid,
            },
            limit=limit,
            item_of=lambda row: entity_change_from_node(row["c"]),
            cursor_of=_change_cursor,
        )


def _known_of(rows: Sequence[Row], spaces: Sequence[str], limit: int) -> KnownOf | None:
    """What the rows of an entity tell, one by owner, of those that readers of some spaces see."""
    each = [(entity_from_node(row["e"]).seen_from(spaces), row) for row in rows]
    seen = [(entity, row) for entity, row in each if entity.is_declared or row["mentions"]]
    if not seen:
        return None
    first, _ = seen[0]
    facts = [
        CardFact(key=fact, uid=uid, content=content, entities=(first.key,))
        for _, row in seen
        for fact, uid, content in row["facts"]
    ]
    return KnownOf(
        entity=first,
        facts=tuple(facts[:limit]),
        mentions=sum(row["mentions"] for _, row in seen),
    )


def _change_cursor(row: Row) -> Cursor:
    change = entity_change_from_node(row["c"])
    return (change.created_at.isoformat(), change.uid)


def _owners(spaces: Iterable[Space]) -> list[str]:
    return sorted({space.without_persona.key for space in spaces})


def _meant(ref: EntityRef, owner: str, found: Mapping[str, Row]) -> str:
    """The key, within its space, of the entity of an owner that a reference means."""
    rows = {key: found.get(f"{owner}|{key}") for key in ref.keys}
    key = ref.meant({key: row["label"] for key, row in rows.items() if row})
    row = rows[key]
    return f"{owner}|{row['became'] if row and row['became'] else key}"


def lock_standing(
    transaction: Transaction, keys: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Take the locks of entities and of what merged ones became.

    Gives the labels of those that are there, and the keys of what merged ones became.
    """
    if not keys:
        return {}, {}
    rows = transaction.run("entities.lock_standing", space_keys=sorted(keys))
    labels = {row["key"]: row["label"] for row in rows}
    return labels, {row["key"]: row["became"] for row in rows if row["became"]}


def lock_entities(
    transaction: Transaction, space: Space, keys: Sequence[str]
) -> Mapping[str, EntityState]:
    """Take the locks of entities of a space; those that are not there are left out."""
    rows = transaction.run(
        "entities.lock", space_keys=sorted({f"{space.key}|{key}" for key in keys})
    )
    return {
        row["entity_key"]: EntityState(
            key=row["entity_key"],
            label=row["label"],
            aliases=tuple(row["aliases"] or ()),
            mentions=row["mentions"],
            is_merged=row["is_merged"],
            is_declared=bool(row["declared"]),
        )
        for row in rows
    }


def shared_mentions(transaction: Transaction, space: Space, from_key: str, into_key: str) -> int:
    """How many memories mention both entities."""
    ends = {"from_key": f"{space.key}|{from_key}", "into_key": f"{space.key}|{into_key}"}
    rows = transaction.run("entities.shared", **ends, space_prefix=space.key)
    return int(rows[0]["shared"])


def create_entity(transaction: Transaction, space: Space, ref: EntityRef, *, now: datetime) -> None:
    """Create an entity that is not there."""
    label = ref.label or label_from_key(ref.key)
    entity = Entity(key=ref.key, space=space.key, label=label, created_at=now)
    properties = entity_properties(entity) | {"key": f"{space.key}|{ref.key}"}
    transaction.run("entities.create", properties=properties)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mentioning:
    """How many memories mention an entity, and the uids of the first."""

    count: int = 0
    sample: tuple[str, ...] = ()


def lock_mentioning(
    transaction: Transaction, space: Space, key: str, memory_keys: Sequence[str] | None
) -> Mentioning:
    """Lock the memories that mention an entity: all of them, or those of some keys that do."""
    row = transaction.run(
        "entities.lock_mentioning",
        key=f"{space.key}|{key}",
        every=memory_keys is None,
        space_prefix=space.key,
        space_keys=list(memory_keys or ()),
    )[0]
    return Mentioning(count=row["memories"], sample=tuple(row["sample"]))


def move_mentions(
    transaction: Transaction, change: EntityChange, memory_keys: Sequence[str] | None
) -> None:
    """Move mentions as a change says, of all memories or of some."""
    transaction.run(
        "entities.move_mentions",
        **_ends(change),
        change=change.uid,
        every=memory_keys is None,
        space_prefix=change.space,
        space_keys=list(memory_keys or ()),
    )


def save_change(transaction: Transaction, change: EntityChange) -> None:
    """Keep a change; a merge also lets the one entity stand for the other, with its new aliases."""
    if change.aliases is not None:
        ends = {name: value for name, value in _ends(change).items() if name.endswith("_key")}
        aliases = list(change.aliases)
        transaction.run("entities.merge_into", **ends, change=change.uid, aliases=aliases)
        _index_names(transaction, ends.values())
    transaction.run(
        "entities.save_change",
        uid=change.uid,
        kind=change.kind.value,
        space=change.space,
        from_key=f"{change.space}|{change.from_key}",
        into_key=f"{change.space}|{change.into_key}",
        into_is_new=change.into_is_new,
        aliases_before=list(change.aliases_before),
        evidence=json.dumps(change.evidence, ensure_ascii=False, sort_keys=True),
        moved=change.moved,
        key_id=change.key_id,
        created_at=change.created_at,
    )


def lock_change(transaction: Transaction, tenant: str, uid: str) -> EntityChange | None:
    """One merge or split of a tenant, locked."""
    rows = transaction.run("entities.change", space_prefix=f"{tenant}/", uid=uid)
    return entity_change_from_node(rows[0]["c"]) if rows else None


def later_changes(transaction: Transaction, change: EntityChange) -> list[str]:
    """The merges and splits that build on a change and are not undone."""
    rows = transaction.run(
        "entities.later_changes",
        uid=change.uid,
        space=change.space,
        created_at=change.created_at,
        keys=[f"{change.space}|{key}" for key in (change.from_key, change.into_key)],
    )
    return [row["uid"] for row in rows]


def move_back(transaction: Transaction, change: EntityChange) -> None:
    """Undo a change, as of its ``undone_at``."""
    ends = _ends(change)
    transaction.run("entities.move_back", **ends, change=change.uid, space_prefix=change.space)
    transaction.run("entities.finish_undo", uid=change.uid, now=change.undone_at)
    _index_names(transaction, (ends["from_key"], ends["into_key"]))


def _index_names(transaction: Transaction, space_keys: Iterable[str]) -> None:
    """Index entities under the names that they have now; merged ones are in no index."""
    rows = transaction.run("entities.lock", space_keys=sorted(space_keys))
    transaction.run("entities.save", space_rows=[index_row(row) for row in rows])


def index_row(row: Row) -> dict[str, Any]:
    """The row that indexes an entity under its names."""
    space, _, key = row["key"].partition("|")
    fields: dict[str, Any] = {"search_names": None, "space_token": None}
    if not row["is_merged"]:
        aliases = row["aliases"] or ()
        fields = name_fields(space, key.partition(":")[0], row["label"], aliases)
    return {"key": row["key"], "fields": fields}


def _ends(change: EntityChange) -> dict[str, str]:
    return {
        "from_key": f"{change.space}|{change.from_key}",
        "into_key": f"{change.space}|{change.into_key}",
        "from_token": facet_token("entity", change.from_key),
        "into_token": facet_token("entity", change.into_key),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Ties:
    """What keeps an entity from being deleted."""

    mentions: int
    relations: int
    merges: int  # into it, or of it into another one
    changes: int  # merges and splits of it that can still be undone


def take_entities(transaction: Transaction, owner: Space, keys: Iterable[str]) -> dict[str, Entity]:
    """Take the locks of entities that may not be there yet; gives those that are, by key."""
    space_keys = [f"{owner.key}|{key}" for key in sorted(set(keys))]
    rows = transaction.run("entities.take", space_keys=space_keys)
    there = [entity_from_node(row["e"]) for row in rows if row["is_there"]]
    return {entity.key: entity for entity in there}


def entity_ties(transaction: Transaction, owner: Space, key: str) -> Ties:
    """What an entity is tied to."""
    row = transaction.run("entities.ties", key=f"{owner.key}|{key}", space=owner.key)[0]
    return Ties(**row)


def save_entities(transaction: Transaction, entities: Iterable[Entity]) -> None:
    """Write entities that are declared."""
    rows = [
        {"key": f"{entity.space}|{entity.key}", "fields": entity_properties(entity)}
        for entity in entities
    ]
    if rows:
        transaction.run("entities.save", space_rows=rows)


def delete_entity(transaction: Transaction, entity: Entity) -> None:
    """Remove an entity that nothing is tied to, with its summaries."""
    transaction.run("entities.delete", key=f"{entity.space}|{entity.key}")
