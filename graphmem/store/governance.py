"""Governance in the store: places with their counters and phases, and governed items (004)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphmem.model.governance import (
    EventType,
    FactKey,
    Item,
    ItemKind,
    ItemSource,
    LedgerEntry,
    Phase,
    Place,
    item_id,
    ledger_entry,
)
from graphmem.model.memory import Authority, Memory, Status
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, SpaceKind, space_from_key
from graphmem.model.tokens import NEVER_MS
from graphmem.model.trace import TraceRecord
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.governance_traces import packed_trace
from graphmem.store.mapping import memory_from_node
from graphmem.store.pages import read_page
from graphmem.store.writes import in_space
from graphmem.text.dedup_keys import dedup_key, fact_dedup_key, key_digest, normalised

_PLACE = ("person", "token", "dropped", "created", "top_tick", "clock")
_IMPORTANT = (4, 2)  # from which importance on a snippet is of class 0, of class 1
CLASSES = len(_IMPORTANT) + 1
_TALK_MOST = 2_000
_LAST = 2**53  # more than any number


# places


@dataclass(frozen=True, kw_only=True, slots=True)
class Locked:
    """What is under its lock: places, and which memory holds each claim; with it a contract."""

    places: Mapping[SpaceKind, Place]
    claims: Mapping[str, str] = field(default_factory=dict)
    contract: tuple[int, str] | None = None  # its version, and what it says


def lock_places(
    transaction: Transaction,
    spaces: Iterable[Space],
    *,
    makes: Iterable[Space],
    claims: Iterable[str] = (),
    profile: str = "",
) -> Locked:
    """Take the locks of claims and places, in order, and read the contract of a profile by its key.

    Places that are not there are empty, or begin with it. One that another call is about to begin
    is waited for, as its key is unique.
    """
    made = set(makes)
    wanted = sorted(spaces, key=lambda space: space.key)
    (row,) = transaction.run(
        "governance.lock",
        claims=[in_space(claim) for claim in sorted(claims)],
        space_rows=[{"key": space.key, "makes": space in made} for space in wanted],
        profile=profile,
    )
    known = {node["key"]: place_from_row(node) for node in row["places"]}
    return Locked(
        places={space.kind: known.get(space.key) or Place(space=space) for space in wanted},
        claims=dict(row["claimed"]),
        contract=None if row["version"] is None else (row["version"], row["document"]),
    )


def find_places(reader: Connection, spaces: Sequence[Space]) -> dict[str, Place]:
    """Places as they are, by the key of their space."""
    rows = reader.fetch("governance.places", spaces=[space.key for space in spaces])
    return {row["place"]["key"]: place_from_row(row["place"]) for row in rows}


def place_properties(place: Place) -> dict[str, Any]:
    """A place as its node keeps it."""
    phase = place.phase
    return {
        **{name: getattr(place, name) for name in _PLACE},
        **{kind.value: place.numbers.get(kind, 0) for kind in ItemKind},
        "phase_index": phase.index if phase else None,
        "phase_started_at": phase.started_at if phase else None,
        "phase_reason": phase.reason if phase else None,
        "phase_name": phase.name if phase else None,
    }


def place_from_row(node: Row) -> Place:
    """The place of a row."""
    index = node.get("phase_index")
    phase = None
    if index is not None:
        started_at, reason = node["phase_started_at"], node["phase_reason"]
        name = node.get("phase_name")
        phase = Phase(index=index, started_at=started_at, reason=reason, name=name)
    return Place(
        space=space_from_key(node["key"]),
        person=node.get("person"),
        token=node.get("token"),
        phase=phase,
        dropped=node.get("dropped") or 0,
        numbers={kind: node.get(kind.value) or 0 for kind in ItemKind},
        created=node.get("created") or 0,
        top_tick=node.get("top_tick") or 0,
        clock=node.get("clock") or 1,
    )


def phase_key(space: Space, index: int) -> str:
    """The key of a phase of a space."""
    return f"{space.key}|{index}"


# items as their memories keep them


def native_of(item: Item) -> dict[str, Any]:
    """The values of an item that a memory has no field for."""
    phase = item.phase
    values: dict[str, Any] = {
        "kind": item.kind.value,
        "number": item.number,
        "source": item.source.value,
        "created_at": item.created_at,
        "mark": item.mark,
        "importance": item.importance,
        "importance_reason": list(item.importance_reason),
        "event_type": item.event_type.value,
        "authority_reason": item.authority_reason,
        "phase": {
            "index": phase.index,
            "started_at": phase.started_at,
            "reason": phase.reason,
            "name": phase.name,
        },
        "key": item.key.value if item.key else None,
        "source_turn_ids": list(item.source_turn_ids),
        "promotion_target": item.promotion_target.value if item.promotion_target else None,
        "promotion_reason": item.promotion_reason,
        "promoted_from": item.promoted_from,
        "policy_tags": None if item.policy_tags is None else list(item.policy_tags),
        "expires_at": item.expires_at,
    }
    return {name: value for name, value in values.items() if value not in (None, [])}


def item_from_row(row: Row) -> Item:
    """The item of a row."""
    return item_of(
        json.loads(row["native"]),
        uid=row["uid"],
        space=space_from_key(row["space"]),
        text=row["content"],
        authority=Authority(row["authority"]),
        summed_up=row.get("governed_summary_of") or (),
    )


def item_of(
    native: Mapping[str, Any],
    *,
    uid: str,
    space: Space,
    text: str,
    authority: Authority,
    summed_up: Sequence[int] = (),
) -> Item:
    """An item of the values that its memory keeps; ``summed_up`` are numbers of messages."""
    key = FactKey(native["key"]) if native.get("key") else None
    event, phase, target = EventType(native["event_type"]), native["phase"], "promotion_target"
    return Item(
        uid=uid,
        space=space,
        kind=ItemKind(native["kind"]),
        number=native["number"],
        text=text,
        source=ItemSource(native["source"]),
        created_at=native["created_at"],
        mark=native["mark"],
        importance=native["importance"],
        importance_reason=tuple(native["importance_reason"]),
        event_type=event,
        dedup_key=fact_dedup_key(key) if key else dedup_key(event, text),
        authority=authority,
        authority_reason=native["authority_reason"],
        phase=Phase(
            index=phase["index"],
            started_at=phase["started_at"],
            reason=phase["reason"],
            name=phase.get("name"),
        ),
        key=key,
        source_turn_ids=tuple(native.get("source_turn_ids", ())),
        summary_of=tuple(item_id(space, ItemKind.SHORT_TERM, each) for each in summed_up),
        promotion_target=SpaceKind(native[target]) if native.get(target) else None,
        promotion_reason=native.get("promotion_reason"),
        promoted_from=native.get("promoted_from"),
        policy_tags=tuple(native["policy_tags"]) if native.get("policy_tags") else None,
        expires_at=native.get("expires_at"),
    )


def list_of(space: Space, kind: ItemKind) -> str:
    """The name of the list of all items of a space and kind, which is also that of its place."""
    return f"{space.key}|{kind}"


def class_of(space: Space, phase: int, rank: int) -> str:
    """What the present snippets of a space, a phase and a rank of importance are found by."""
    return f"c{key_digest(f'{space.key}|{phase}|{rank}')}"


def rank_of(importance: int) -> int:
    """The class of an importance, 0 the highest; within one all add the same to a score."""
    ranks = (rank for rank, least in enumerate(_IMPORTANT) if importance >= least)
    return next(ranks, len(_IMPORTANT))


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedItems:
    """What a call changed: places, phases that began, and items; each that left from a phase on."""

    places: Sequence[Place] = ()
    dropped: Sequence[Place] = ()  # of which the ledgers of old phases go
    phases: Sequence[tuple[Space, Phase]] = ()
    created: Iterable[Item] = ()
    changed: Iterable[Item] = ()
    left: Iterable[tuple[Item, int | None]] = ()


def save_changes(
    transaction: Transaction, changes: ChangedItems, trace: TraceRecord, *, told: Sequence[str]
) -> None:
    """Write what a call changed, with its trace; ``told`` are the keys of memories that it names.

    Its memories are written already.
    """
    came = [
        *(_came(item, item_properties(item)) for item in changes.created),
        *(_came(item, _changing(item)) for item in changes.changed),
    ]
    transaction.run(
        "governance.save",
        space_rows=[
            {"key": place.space.key, "properties": place_properties(place)}
            for place in changes.places
        ],
        phases=[phase_row(space, phase) for space, phase in changes.phases],
        came=came,
        left=[
            {"key": _key(item), "phase": phase, "phase_key": phase_key(item.space, phase or 0)}
            for item, phase in changes.left
        ],
        trace=packed_trace(trace),
        created_at=trace.created_at.isoformat(),
        forget_at=trace.forget_at.isoformat() if trace.forget_at else None,
        space_keys=list(told),
    )
    if changes.dropped:
        rows = [{"space": each.space.key, "dropped": each.dropped} for each in changes.dropped]
        transaction.run("governance.drop_ledgers", space_rows=rows)


def _came(item: Item, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key": _key(item),
        "phase": phase_key(item.space, item.phase.index),
        "properties": properties,
    }


def phase_row(space: Space, phase: Phase, *, is_dropped: bool = False) -> dict[str, Any]:
    """A phase as queries name it."""
    return {
        "key": phase_key(space, phase.index),
        "properties": {
            "space": space.key,
            "index": phase.index,
            "started_at": phase.started_at,
            "reason": phase.reason,
            "name": phase.name,
            "dropped": True if is_dropped else None,
        },
    }


def item_properties(item: Item) -> dict[str, Any]:
    """What an item is found by."""
    numbers = [int(each.rpartition(":")[2]) for each in item.summary_of]
    return {
        "governed_list": list_of(item.space, item.kind),
        "governed_place": list_of(item.space, item.kind),
        "governed_number": item.number,
        "governed_tick": item.created_at,
        "governed_mark": item.mark,
        "governed_event": item.event_type.value,
        "governed_phase": item.phase.index,
        "governed_key": key_digest(item.dedup_key),
        "governed_dedup": key_digest(item.dedup_key)
        if item.kind is not ItemKind.SHORT_TERM
        else None,
        "governed_summary_of": numbers or None,
        **_changing(item),
    }


def _changing(item: Item) -> dict[str, Any]:
    """What of it a merge or a retention pass changes."""
    if item.kind is ItemKind.SHORT_TERM:
        return {}
    due = NEVER_MS if item.expires_at is None else item.mark + item.expires_at - item.created_at
    if item.kind is ItemKind.PROFILE:
        return {"governed_due": due}
    return {
        "governed_due": due,
        "governed_class": class_of(item.space, item.phase.index, rank_of(item.importance)),
        "governed_words": normalised(item.text),
    }


def leave_now(transaction: Transaction, keys: Sequence[str]) -> None:
    """Let items that somebody took back be present no more."""
    transaction.run("governance.leave_now", space_keys=sorted(keys))


def _key(item: Item) -> str:
    return f"{item.space.key}|{item.uid}"


# what a call reads


@dataclass(frozen=True, kw_only=True, slots=True)
class Lasting:
    """Which items of a place last: by event type how they end, and the bounds of those that do.

    ``before`` are marks by event type, below which an item ends soon, and ``due`` the mark up to
    which those with a tick do.
    """

    modes: Mapping[EventType, str] = field(default_factory=dict)
    before: Mapping[EventType, int] = field(default_factory=dict)
    due: int = 0

    @property
    def row(self) -> dict[str, Any]:
        """As queries name it."""
        return {
            "modes": {event.value: mode for event, mode in self.modes.items()},
            "before": {event.value: mark for event, mark in self.before.items()},
            "due": self.due,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Snippets:
    """Snippets that are asked for: of a space, a phase and a rank of importance."""

    space: Space
    phase: int
    rank: int
    lasting: Lasting = field(default_factory=Lasting)

    @property
    def name(self) -> str:
        """What they are found by."""
        return class_of(self.space, self.phase, self.rank)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordSearch:
    """Older snippets that have words of a query, or contain it where ``contained`` is not empty.

    ``before_ticks`` are those before which each class of one space and phase is searched.
    """

    before_ticks: Mapping[str, int]
    lasting: Lasting
    searches: Sequence[str]
    contained: str = ""

    @property
    def row(self) -> dict[str, Any]:
        """As the query names it."""
        classes = " ".join(sorted(self.before_ticks))
        return {
            "before_ticks": dict(self.before_ticks),
            "searches": [f"governed_class:({classes}) AND {text}" for text in self.searches],
            "contained": self.contained,
            **self.lasting.row,
        }


@dataclass(frozen=True, kw_only=True)
class AskedItems:
    """Which present items a call asks for; each list is answered by one of its own, in order."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # by each row

    def talk(self, space: Space, first: int, last: int) -> None:
        """The messages and summaries of some phases of a session, the newest."""
        self._ask("talk", list_of(space, ItemKind.SHORT_TERM), first=first, last=last)

    def ending(self, space: Space, kind: ItemKind, lasting: Lasting) -> None:
        """Those of a place whose time passes soon, and those that are to be told a tick."""
        place = list_of(space, kind)
        for event, mode in lasting.modes.items():
            if mode == "decay":
                self._ask("aged", place, event=event.value, until=lasting.before[event])
            if mode == "ttl":
                self._ask("timed", place, event=event.value, until=lasting.due)
                self._ask("untold", place, event=event.value)

    def met(self, space: Space, kind: ItemKind, key: str) -> None:
        """The newest one of a dedup key."""
        self._ask("met", list_of(space, kind), dedup=key_digest(key))

    def facts(self, space: Space, phases: range, lasting: Lasting) -> None:
        """The oldest facts of some phases of a space that last."""
        place = list_of(space, ItemKind.PROFILE)
        self._ask("facts", place, first=min(phases), last=max(phases), **lasting.row)

    def newest(self, wanted: Snippets) -> None:
        """The newest snippets of a class."""
        self._ask("newest", wanted.name, **wanted.lasting.row)

    def _ask(self, asked: str, list_: str, **values: Any) -> None:  # noqa: ANN401
        """Ask for items of a list; a query knows by the name of the field what is asked for."""
        self.rows.append({"number": len(self.rows), asked: list_, **values})
        self.asked.append(asked)


class GovernedItems:
    """Reads items within a transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def present(
        self, asked: AskedItems, *, facts: int, newest: int, ending: int
    ) -> list[tuple[str, list[Item]]]:
        """What is asked for, row by row, each with what it asked.

        ``facts``, ``newest`` snippets of a class and ``ending`` items of a list are the most.
        """
        found: list[tuple[str, list[Item]]] = [(each, []) for each in asked.asked]
        if found:
            (row,) = self._transaction.run(
                "governance.present",
                space_rows=asked.rows,
                talk_most=_TALK_MOST,
                facts_most=facts,
                newest_most=newest,
                ending_most=ending,
            )
            for number, node in row["found"]:
                found[number][1].append(item_from_row(node))
        return found

    def lock_and_search(
        self, items: Iterable[Item], searches: Sequence[WordSearch] = (), *, limit: int = 0
    ) -> tuple[dict[str, Memory], list[Item]]:
        """Take the locks of items, in order; their memories as they then are, by key.

        With them come the newest of older snippets that words find, ``limit`` of each class.
        """
        keys = sorted({_key(item) for item in items})
        if not (keys or searches):
            return {}, []
        (row,) = self._transaction.run(
            "governance.lock_items",
            space_keys=keys,
            searches=[each.row for each in searches],
            limit=limit,
        )
        memories = [memory_from_node(node, entities) for node, entities in row["locked"]]
        found = [item_from_row(node) for node in row["found"]]
        return {memory.key: memory for memory in memories}, found

    def phases_with_snippets(self, space: Space, lasting: Lasting, *, limit: int) -> list[int]:
        """The phases that hold the newest snippets of a space which last, the newest first."""
        row = {"place": list_of(space, ItemKind.SEMANTIC), **lasting.row}
        found = self._transaction.run(
            "governance.phases_with_snippets", space_rows=[row], limit=limit
        )
        return [each["phase"] for each in found]

    def ledger(
        self, space: Space, after: int, up_to: int, *, keys: Iterable[str] = ()
    ) -> list[LedgerEntry]:
        """What came into the ledgers of a space, or left them, behind one phase up to another.

        With it comes what has a dedup key of that, or of some others.
        """
        rows = self._transaction.run(
            "governance.ledger",
            space=space.key,
            after=after,
            up_to=up_to,
            keys=[key_digest(key) for key in keys],
        )
        return [ledger_entry(item_from_row(row["item"]), deleted=row["until"]) for row in rows]


def _items(rows: Iterable[Row]) -> list[Item]:
    return [item_from_row(row["item"]) for row in rows]


# lists


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedItem:
    """An item, and what became of it; ``reason`` says why it is no longer present."""

    item: Item
    status: Status
    reason: str | None = None
    is_present: bool = True


class Governance:
    """Reads what is governed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def items(
        self, space: Space, kind: ItemKind, status: str, after: Cursor | None, *, limit: int
    ) -> Page[ListedItem]:
        """One page of the items of a space and kind, the newest first; a cursor is a number."""
        (number,) = after or (_LAST,)
        return read_page(
            self._connection,
            "governance.list_items",
            "governance.count_items",
            filters={"list": list_of(space, kind), "status": status},
            cursor={"cursor_number": number},
            limit=limit,
            item_of=_listed,
            cursor_of=lambda row: (item_from_row(row["item"]).number,),
        )

    def item(self, space: Space, kind: ItemKind, number: int) -> ListedItem | None:
        """The item of a number, present or not."""
        rows = self._connection.fetch("governance.item", list=list_of(space, kind), number=number)
        return _listed(rows[0]) if rows else None

    def told(self, trace: TraceRecord) -> list[Item]:
        """The items that a trace tells of."""
        rows = self._connection.fetch("governance.told", uid=trace.uid, space=f"{trace.tenant}/")
        return _items(rows)

    def place(self, space: Space) -> Place:
        """What lasts of a space; empty where nothing was ever governed."""
        return find_places(self._connection, [space]).get(space.key) or Place(space=space)

    def ledger(self, space: Space, after: int, up_to: int) -> list[LedgerEntry]:
        """What came into the ledgers of a space, or left them, as GovernedItems reads it."""
        return self._connection.read(
            lambda transaction: GovernedItems(transaction).ledger(space, after, up_to)
        )

    def phases(self, space: Space, after: Cursor | None, *, limit: int) -> Page[tuple[Phase, bool]]:
        """One page of phases, the newest first, each with whether its ledger is no more."""
        (index,) = after or (_LAST,)
        return read_page(
            self._connection,
            "governance.list_phases",
            "governance.count_phases",
            filters={"space": space.key},
            cursor={"cursor_index": index},
            limit=limit,
            item_of=lambda row: (_phase(row["phase"]), bool(row["phase"].get("dropped"))),
            cursor_of=lambda row: (row["phase"]["index"],),
        )


def _phase(node: Row) -> Phase:
    return Phase(
        index=node["index"],
        started_at=node["started_at"],
        reason=node["reason"],
        name=node.get("name"),
    )


def _listed(row: Row) -> ListedItem:
    return ListedItem(
        item=item_from_row(row["item"]),
        status=Status(row["status"]),
        reason=row["reason"],
        is_present=row["is_present"],
    )
