"""Sources: the first one lies flat on its memory, each further one is a node."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from graphmem.model.edge import LineageType, edge_uid
from graphmem.model.memory import Memory
from graphmem.model.page import Cursor, Page
from graphmem.model.source import Source
from graphmem.model.state import Decision, SourcePlace
from graphmem.model.tokens import memory_tokens
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.mapping import source_from_row, source_properties
from graphmem.store.pages import read_page

_FIRST = datetime(1, 1, 2, tzinfo=UTC)


class Sources:
    """Reads the sources of memories."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, memory: Memory, after: Cursor | None = None, *, limit: int) -> Page[Source]:
        """One page of the sources of a memory, first to last.

        A cursor is when a source first said it, in ISO form, and the key of its node.
        """
        start = (_FIRST.isoformat(), "")
        first = () if after else memory.sources[:1]
        if limit == len(first):
            has_more = memory.sources_total > 1
            return Page(items=first, total=memory.sources_total, next=start if has_more else None)
        at, key = after or start
        found: Page[Source] = read_page(
            self._connection,
            "sources.page",
            "sources.count",
            filters={"space_key": memory.key},
            cursor={"cursor_time": datetime.fromisoformat(str(at)), "cursor_key": key},
            limit=limit - len(first),
            item_of=lambda row: source_from_row(row["source"]),
            cursor_of=_cursor,
        )
        return Page(items=(*first, *found.items), total=found.total, next=found.next)

    def claimed(self, memories: Iterable[Memory]) -> dict[tuple[str, str], str | None]:
        """The claims of the sources that memories hold, each with the digest of what it said.

        By the key of the memory and the claim; None where nobody knows what it said.
        """
        keys = sorted(memory.key for memory in memories)
        rows = self._connection.fetch("sources.claimed", space_keys=keys) if keys else ()
        return {(row["key"], row["claim"]): row["digest"] for row in rows}


def change_sources(transaction: Transaction, decision: Decision) -> None:
    """Write the further sources of a decision, and which memories were taken back."""
    saved = [_row(place, source) for place, source in decision.sources.items() if source]
    gone = [_key(place) for place, source in decision.sources.items() if source is None]
    steps: dict[str, tuple[str, list[Any]]] = {
        "sources.remove": ("space_keys", sorted(gone)),
        "sources.save": ("space_rows", sorted(saved, key=lambda row: str(row["key"]))),
        "sources.absorb": (
            "space_rows",
            [{"from_key": start, "into_key": end} for start, end in decision.absorbed],
        ),
        "turns.note": (
            "space_keys",
            sorted({key for pair in decision.absorbed for key in pair}),
        ),
        "sources.index": (
            "space_rows",
            [{"key": each.key, "tokens": memory_tokens(each)} for each in decision.sourced],
        ),
        "sources.forget_retracted": ("space_keys", sorted(decision.unretracted)),
        "sources.note_retracted": (
            "claims",
            [
                {"key": claim, "space": claim.partition("|")[0], "memory": key}
                for claim, key in sorted(decision.retracted)
            ],
        ),
    }
    for query, (parameter, rows) in steps.items():
        if rows:
            transaction.run(query, **{parameter: rows})
    if decision.absorbed:
        _pass_on_promotions(transaction, decision.absorbed)


def _pass_on_promotions(transaction: Transaction, absorbed: Sequence[tuple[str, str]]) -> None:
    """Let memories that stand for others be copies of what these were copied from, too.

    Else what was shared would stay when all that it says was taken back.
    """
    pairs = [{"from_key": start, "into_key": end} for start, end in absorbed]
    drawn = [
        {
            "uid": edge_uid(row["made"], LineageType.PROMOTED_FROM, row["origin"]),
            "from_key": row["made"],
            "type": LineageType.PROMOTED_FROM.value,
            "to_key": row["origin"],
            "created_at": row["created_at"],
        }
        for row in transaction.run("lineage.promoted", space_rows=pairs)
    ]
    if drawn:
        transaction.run("lineage.draw", space_rows=drawn)


def _row(place: SourcePlace, source: Source) -> dict[str, Any]:
    return {
        "memory": place[0],
        "key": _key(place),
        "at": source.at.isoformat() if source.at else None,
        "properties": source_properties(source),
    }


def _key(place: SourcePlace) -> str:
    memory, name = place
    return f"{memory}|from|{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _cursor(row: Row) -> Cursor:
    return (row["at"], row["key"])
