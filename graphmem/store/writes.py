"""Writes: lock and read what a decision needs, then apply it, inside one transaction."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from graphmem.model.edge import Edge
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.event import Reason
from graphmem.model.memory import Memory, Revision, memory_key
from graphmem.model.space import space_from_key
from graphmem.model.state import (
    AT,
    Copied,
    Decision,
    EdgeEnds,
    GraphState,
    Selection,
    ValueAt,
    edge_claim,
)
from graphmem.ports import Vector
from graphmem.store.connection import Row as ReadRow
from graphmem.store.connection import Transaction
from graphmem.store.entities import lock_standing
from graphmem.store.entity_names import name_fields, name_words, said_tokens
from graphmem.store.mapping import (
    chunk_copies,
    edge_from_row,
    memory_from_node,
    memory_labels,
    memory_properties,
)
from graphmem.store.sources import change_sources
from graphmem.store.turns import change_turns, lock_conversations, read_turns

Row = dict[str, Any]

_CREATED = frozenset({"created_at", "updated_at"})
_SENT_APART = _CREATED | {"status_at"}  # created_at never changes
_NOT_OF_A_VERSION = {"more_sources", "sources_total", "turns"}
_FIELDS = tuple(each.name for each in fields(Memory) if each.name not in _NOT_OF_A_VERSION)


@dataclass(frozen=True, kw_only=True, slots=True)
class Enrichment:
    """What a decision does not decide: how its memories are indexed and the vectors they get."""

    index_fields: Callable[[Memory], Mapping[str, str | None]]
    vectors: Mapping[int, Sequence[Vector]]  # by the index of the item
    embedder: str
    slot: str = ""  # of its vectors


ReadRecords = Callable[[Sequence[str]], tuple[Any, tuple[tuple[Any, Any], ...]]]


def _no_records(_: Sequence[str]) -> tuple[None, tuple[()]]:
    return None, ()


def read_state(
    transaction: Transaction,
    selection: Selection,
    *,
    now: datetime,
    read_records: ReadRecords = _no_records,
) -> GraphState:
    """Lock and read a selection: claims, conversations, records of rooms, entities, memories.

    All writers take their locks in this order, so they wait for each other instead of in a ring.
    ``read_records`` takes the keys of the selected memories, and gives the records of the room and
    what rests on the memories.
    """
    locked = lock_claims(transaction, selection.claims | selection.edge_uids)
    claims = {claim: row["memory"] for claim, row in locked.items() if row["memory"]}
    conversations, last_turns = lock_conversations(transaction, selection.conversations)
    updaters = _updaters(transaction, selection.updated)
    updates = _updated(transaction, selection.updated)
    values = _values(transaction, selection.values, now)
    said = _said(transaction, selection.said)
    ends = last_turns.values() if selection.with_turns else ()
    keys = {*selection.memories, *claims.values(), *ends, *values}
    keys.update(key for found in said.values() for key in found)
    named = _named(selection, claims, values, updates)
    resting_on = named if selection.with_turns else set()
    copies = _copies(transaction, resting_on)
    keys |= _of_copies(copies)
    rollups = _rollups(transaction, resting_on | copies.keys())
    keys.update(key for found in (*updaters.values(), *updates.values()) for key in found)
    keys.update(key for made, members in rollups.items() for key in (made, *members))
    records, resting = read_records(sorted(keys))
    labels, became = lock_standing(transaction, selection.entities)
    previous = _turns_around(transaction, selection, keys - selection.memories)
    memories = lock_memories(transaction, keys | previous.keys())
    if late := _made_meanwhile(transaction, memories, named, rollups):
        rollups |= late
        more = {key for made, members in late.items() for key in (made, *members)}
        memories |= lock_memories(transaction, more - memories.keys())
    copies = _copies(transaction, resting_on)  # under their locks nobody shares them any more
    memories |= lock_memories(transaction, _of_copies(copies) - memories.keys())
    messages, said_turns = read_turns(transaction, selection, claims)
    return GraphState(
        memories=memories,
        claims=claims,
        digests={claim: row["digest"] for claim, row in locked.items() if row["digest"]},
        retracted={claim: row["retracted"] for claim, row in locked.items() if row["retracted"]},
        said=said,
        previous_turns={turn: before for turn, before in previous.items() if before},
        last_turns=last_turns,
        conversations=conversations,
        messages=messages,
        said_turns=said_turns,
        updaters=updaters,
        updates=updates,
        rollups=rollups,
        copies=copies,
        corrections=_corrections(transaction, selection.corrections),
        edges=_edges(transaction, selection.edges),
        edge_uids=_edge_uids(transaction, selection.edge_uids),
        labels=labels,
        became=became,
        records=records,
        resting=resting,
    )


def _named(
    selection: Selection,
    claims: Mapping[str, str],
    values: Iterable[str],
    updates: Mapping[str, Iterable[str]],
) -> set[str]:
    """The memories that may leave or be reworded: of these it is read what was made of them."""
    by_source = {key for claim, key in claims.items() if "|source|" in claim}
    updated = {key for each in updates.values() for key in each}
    return {*selection.memories, *values, *updated, *by_source}


def _turns_around(
    transaction: Transaction, selection: Selection, found: Collection[str]
) -> dict[str, str | None]:
    """The turns around those that are selected, each with the one before it."""
    anchors = sorted({*selection.anchors, *selection.memories, *found})
    if not (selection.with_turns and anchors):
        return {}
    rows = transaction.run("writes.turns_around", space_keys=anchors)
    return {row["key"]: row["previous"] for row in rows}


def apply_decision(
    transaction: Transaction, decision: Decision, enrichment: Enrichment, locked: Iterable[str]
) -> None:
    """Carry a decision out; ``locked`` are the claim keys that were locked for it."""
    _save_memories(transaction, decision, enrichment)
    _run(transaction, "writes.take_claims", "claims", _claims_of_others(decision, set(locked)))
    change_sources(transaction, decision)
    change_turns(transaction, decision.turns)
    _change_conversations(transaction, decision)
    empty = sorted(set(locked) - set(decision.claims))
    _run(transaction, "writes.drop_empty_claims", "claims", empty)
    forgotten = [{"key": claim, "memory": key} for claim, key in sorted(decision.forgotten_claims)]
    _run(transaction, "writes.forget_claims", "claims", forgotten)
    _set_mentions(transaction, decision)


def _save_memories(transaction: Transaction, decision: Decision, enrichment: Enrichment) -> None:
    """Write memories with what is theirs, and their edges, in one query; then what few need."""
    changed = [m for m in decision.changed if m.key not in decision.counted]
    rows: Mapping[str, Sequence[Any]] = {
        "released": sorted(decision.released),
        "spaces": sorted({memory.space.key for memory in decision.created}),
        "created": _created_rows(decision, enrichment),
        "revisions": [_revision_row(each) for each in decision.revisions],
        "changed": [_changed_row(memory, enrichment) for memory in changed],
        "removed": [_edge_ends(ends) | {"uid": uid} for ends, uid in decision.removed_edges],
        "drawn": [
            _edge_row(ends, edge) | {"oldest": (ends, uid) in decision.unnamed_edges}
            for (ends, uid), edge in decision.edges.items()
        ],
    }
    if any(rows.values()):
        transaction.run("writes.save_memories", **rows)
    counted = [_counted_row(m) for m in decision.changed if m.key in decision.counted]
    _run(transaction, "writes.count_memories", "space_rows", counted)
    chunks = _replaced_chunks(decision, enrichment)
    _run(transaction, "writes.replace_chunks", "space_rows", chunks)


def _change_conversations(transaction: Transaction, decision: Decision) -> None:
    _run(transaction, "writes.unlink_turns", "space_rows", _pairs(decision.unlinked))
    left = [{"left": key, "previous": turn} for key, turn in sorted(decision.left_turns.items())]
    _run(transaction, "writes.leave_conversations", "space_rows", left)
    links, last = _pairs(decision.links), sorted(decision.last_turns.items())
    if links or last:
        ends = [{"conversation": key, "last": turn} for key, turn in last]
        transaction.run("writes.chain_turns", space_rows=links, ends=ends)


def _run(transaction: Transaction, query: str, parameter: str, rows: Sequence[Any]) -> None:
    """Run a query over rows, if there are any."""
    if rows:
        transaction.run(query, **{parameter: rows})


def _pairs(links: Iterable[tuple[str, str]]) -> list[Row]:
    return [{"earlier": earlier, "later": later} for earlier, later in links]


def _fetch(
    transaction: Transaction, query: str, parameter: str, rows: Sequence[Any]
) -> Sequence[ReadRow]:
    """What a query gives for some rows, if there are any."""
    return transaction.run(query, **{parameter: rows}) if rows else ()


def lock_claims(transaction: Transaction, claims: Iterable[str]) -> dict[str, ReadRow]:
    """Take the locks of claims, in order, and give what each of them stands for."""
    wanted = [in_space(claim) for claim in sorted(claims)]
    rows = _fetch(transaction, "writes.lock_claims", "claims", wanted)
    return {row["claim"]: row for row in rows}


def lock_memories(transaction: Transaction, keys: Iterable[str]) -> dict[str, Memory]:
    """Take the locks of memories, in order, and give them as they then are, by key."""
    rows = _fetch(transaction, "writes.lock_memories", "space_keys", sorted(keys))
    return {row["m"]["key"]: memory_from_node(row["m"], row["entities"]) for row in rows}


def _updaters(transaction: Transaction, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
    rows = _fetch(transaction, "writes.updaters", "space_keys", sorted(keys))
    return {row["key"]: tuple(row["updaters"]) for row in rows}


def _rollups(transaction: Transaction, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What was made of some memories, each with all its members."""
    rows = _fetch(transaction, "writes.rollups_of", "space_keys", sorted(keys))
    return {row["made"]: tuple(row["members"]) for row in rows}


def _copies(transaction: Transaction, keys: Iterable[str]) -> dict[str, Copied]:
    """The copies of some memories in the shared space, each with all that it was made of."""
    rows = _fetch(transaction, "writes.copies_of", "space_keys", sorted(keys))
    return {
        row["copy"]: Copied(origins=tuple(row["origins"]), is_replaced=row["is_replaced"])
        for row in rows
    }


def _of_copies(copies: Mapping[str, Copied]) -> set[str]:
    """The keys of copies and of what they were made of."""
    return {key for copy, copied in copies.items() for key in (copy, *copied.origins)}


def _made_meanwhile(
    transaction: Transaction,
    memories: Mapping[str, Memory],
    named: Iterable[str],
    known: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str, ...]]:
    """What was made of some memories before their locks were ours, and after it was read."""
    members = {key for found in known.values() for key in found}
    late = [key for key in named if key not in members and _is_put_away(memories.get(key))]
    return _rollups(transaction, late)


def _is_put_away(memory: Memory | None) -> bool:
    return memory is not None and memory.status_reason in {Reason.FOLD, Reason.SUMMARISED}


def _updated(transaction: Transaction, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
    rows = _fetch(transaction, "writes.updated", "space_keys", sorted(keys))
    return {row["key"]: tuple(row["updated"]) for row in rows}


def _said(transaction: Transaction, claims: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The memories that say something at some time, by the content claim without a time."""
    wanted = [{"key": claim, "with_time": f"{claim}{AT}|"} for claim in sorted(claims)]
    rows = _fetch(transaction, "writes.said_at_any_time", "claims", wanted)
    return {row["claim"]: tuple(row["memories"]) for row in rows}


def _values(transaction: Transaction, wanted: Iterable[ValueAt], now: datetime) -> list[str]:
    """The keys of the values of logical keys around some times, and around now."""
    rows = [
        {
            "space": each.space,
            "logical_key": each.logical_key,
            "kept_by": each.kept_by or "",
            "at": at,
            "other_than": each.other_than,
        }
        for each in wanted
        for at in dict.fromkeys((each.at or now, now))
    ]
    found = _fetch(transaction, "writes.values_around", "space_rows", rows)
    return [row["key"] for row in found]


def _corrections(transaction: Transaction, keys: Iterable[str]) -> frozenset[str]:
    rows = _fetch(transaction, "writes.corrections", "space_keys", sorted(keys))
    return frozenset(row["key"] for row in rows)


def _edges(
    transaction: Transaction, wanted: Collection[EdgeEnds]
) -> dict[EdgeEnds, tuple[Edge, ...]]:
    """The edges between some memories, oldest first."""
    ends = sorted(wanted)
    found: dict[EdgeEnds, tuple[Edge, ...]] = {}
    rows = [_edge_ends(each) for each in ends]
    for row in _fetch(transaction, "writes.edges_at", "space_rows", rows):
        at = ends[row["number"]]
        found[at] = (*found.get(at, ()), edge_from_row(row["edge"]))
    return found


def _edge_uids(transaction: Transaction, claims: Iterable[str]) -> dict[str, EdgeEnds]:
    """Where the edges of some uids stand, by their claims."""
    wanted = [claim.split("|edge|", 1) for claim in sorted(claims)]
    if not wanted:
        return {}
    uids = sorted({uid for _, uid in wanted})
    spaces = sorted({space for space, _ in wanted})
    rows = transaction.run("writes.edges_by_uid", spaces=spaces, uids=uids)
    found: dict[str, EdgeEnds] = {}
    for row in rows:
        edge = edge_from_row(row["edge"])
        space = space_from_key(row["space"])
        start, end = (memory_key(space, uid) for uid in (edge.from_uid, edge.to_uid))
        found[edge_claim(space, edge.uid)] = (start, edge.type, end)
    return found


def _edge_ends(ends: EdgeEnds) -> Row:
    from_key, edge_type, to_key = ends
    return {"from_key": from_key, "type": edge_type.value, "to_key": to_key}


def in_space(key: str) -> Row:
    """A claim as queries name it, with the space that it begins with."""
    return {"key": key, "space": key.partition("|")[0]}


def _created_rows(decision: Decision, enrichment: Enrichment) -> list[Row]:
    """New memories with their chunks and the claims that they take."""
    claims: dict[str, list[Row]] = defaultdict(list)
    for claim, key in sorted(decision.claims.items()):
        if claim not in decision.moved:
            claims[key].append({"key": claim, "digest": decision.digests.get(claim)})
    return [
        {
            "labels": memory_labels(memory),
            "created_at": memory.created_at.isoformat(),
            "updated_at": memory.updated_at.isoformat(),
            "properties": _timeless(memory) | dict(enrichment.index_fields(memory)),
            "chunks": _chunk_rows(memory, decision, enrichment),
            "claims": claims[memory.key],
        }
        for memory in decision.created
    ]


def _timeless(memory: Memory) -> Row:
    """The properties without the times that all have, which go as text for speed."""
    return {
        name: value for name, value in memory_properties(memory).items() if name not in _CREATED
    }


def _changed_row(memory: Memory, enrichment: Enrichment) -> Row:
    properties = memory_properties(memory) | dict(enrichment.index_fields(memory))
    return {
        "key": memory.key,
        "labels": memory_labels(memory),
        "properties": {
            name: value for name, value in properties.items() if name not in _SENT_APART
        },
        "updated_at": memory.updated_at.isoformat(),
        "status_at": memory.status_at.isoformat() if memory.status_at else None,
        "chunk_properties": chunk_copies(memory),
    }


def _counted_row(memory: Memory) -> Row:
    return {
        "key": memory.key,
        "mention_count": memory.mention_count,
        "version": memory.version,
        "updated_at": memory.updated_at.isoformat(),
    }


def _replaced_chunks(decision: Decision, enrichment: Enrichment) -> list[Row]:
    """New vectors for memories.

    The former ones go to the first revision of this decision, which they were made for.
    """
    revisions = {
        each.memory.key: _revision_key(each.memory) for each in reversed(decision.revisions)
    }
    return [
        {
            "key": memory.key,
            "chunks": _chunk_rows(memory, decision, enrichment),
            "revision": revisions.get(memory.key, ""),
        }
        for memory in decision.changed
        if memory.key in decision.vectors_of
    ]


def _chunk_rows(memory: Memory, decision: Decision, enrichment: Enrichment) -> list[Row]:
    copies = chunk_copies(memory) | {"embedder": enrichment.embedder}
    vectors = enrichment.vectors.get(decision.vectors_of[memory.key], ())
    return [
        copies
        | {
            "key": f"{memory.key}|{memory.version}|{number}",
            f"embedding{enrichment.slot}": list(vector),
        }
        for number, vector in enumerate(vectors)
    ]


def _claims_of_others(decision: Decision, locked: Collection[str]) -> list[Row]:
    """The claims that go to memories that were there before, or leave one."""
    created = {memory.key for memory in decision.created}
    return [
        in_space(claim)
        | {
            "memory": key,
            "digest": decision.digests.get(claim),
            "if_free": claim not in locked,
        }
        for claim, key in sorted(decision.claims.items())
        if key not in created or claim in decision.moved
    ]


def _edge_row(ends: EdgeEnds, edge: Edge) -> Row:
    return _edge_ends(ends) | {
        "uid": edge.uid,
        "weight": edge.weight,
        "reason": edge.reason,
        "link_type": edge.link_type,
        "created_at": edge.created_at,
    }


def _revision_key(memory: Memory) -> str:
    return f"{memory.key}|{memory.version}"


def _revision_row(revision: Revision) -> Row:
    memory = revision.memory
    whole = {name: getattr(memory, name) for name in _FIELDS} | {
        "space": memory.space.key,
        "entities": [{"key": ref.key, "label": ref.label} for ref in memory.entities],
        "source": {
            name: value
            for name, value in asdict(memory.source).items()
            if name not in {"at", "digest"}
        },
    }
    return {
        "memory_key": memory.key,
        "properties": {
            "key": _revision_key(memory),
            "space": memory.space.key,
            "version": memory.version,
            "content": memory.content,
            "status": memory.status.value,
            "valid_from": memory.valid_from,
            "valid_until": memory.valid_until,
            "memory": json.dumps(whole, default=_plain, ensure_ascii=False, sort_keys=True),
        },
        # as text: the driver takes longer to encode a time than the server to read one
        "created_at": memory.updated_at.isoformat(),
        "replaced_at": revision.replaced_at.isoformat(),
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - what JSON does not know
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _set_mentions(transaction: Transaction, decision: Decision) -> None:
    mentioning = [m for m in (*decision.created, *decision.changed) if m.key in decision.mentioning]
    if not mentioning:
        return
    rows = [_mention_row(memory, ref) for memory in mentioning for ref in memory.entities]
    wanted = [_mentioned(m) for m in decision.changed if m.key in decision.mentioning]
    transaction.run(
        "writes.set_mentions",
        wanted=wanted,
        space_rows=sorted(rows, key=lambda row: (row["key"], row["memory"])),
    )


def _mentioned(memory: Memory) -> Row:
    space = memory.space.without_persona.key
    return {"key": memory.key, "entities": [f"{space}|{ref.key}" for ref in memory.entities]}


def _mention_row(memory: Memory, ref: EntityRef) -> Row:
    space, label = memory.space.without_persona.key, ref.label or label_from_key(ref.key)
    type_ = ref.key.partition(":")[0]
    is_said = label != label_from_key(ref.key)
    return {
        "memory": memory.key,
        "key": f"{space}|{ref.key}",
        "said": label if is_said else None,
        "said_words": name_words(space, label) if is_said else "",
        "said_token": said_tokens(space, label) if is_said else "",
        "properties": {
            "entity_key": ref.key,
            "space": space,
            "type": type_,
            "label": label,
            "created_at": memory.updated_at,
            **name_fields(space, type_, label, ()),
        },
    }
