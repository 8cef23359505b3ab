"""Extractions: which turns were read together, and what was kept of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from graphmem.model.conversation import Turn, conversation_key, turn_key
from graphmem.model.extraction import (
    Category,
    EngineName,
    Extraction,
    FactOutcome,
    Kept,
    KeptEntity,
    KeptFact,
    Question,
    Refusal,
    extraction_key,
)
from graphmem.model.memory import memory_key
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Row, Transaction, rows_of
from graphmem.store.pages import every_row, read_page, rows_by_time
from graphmem.store.turns import turn_from_row
from graphmem.text.times import moment_of

_LAST_KEY = "\uffff"
_LAST_TIME = datetime(9999, 12, 31, tzinfo=UTC)


def lock_extraction(transaction: Transaction, key: str) -> Extraction | None:
    """Take the lock of an extraction, if it is there."""
    rows = transaction.run("extractions.lock", space_key=key)
    return extraction_from_row(rows[0]["extraction"]) if rows else None


def claim_extraction(transaction: Transaction, extraction: Extraction) -> None:
    """Note who reads the turns of an extraction, and until when."""
    assert extraction.claimed_until is not None  # noqa: S101 - a claim has an end
    transaction.run(
        "extractions.claim",
        space_key=extraction.key,
        claim=extraction.claim,
        claimed_until=extraction.claimed_until.isoformat(),
    )


def turns_of(
    reader: Transaction | Connection, extraction: Extraction, *, chars: int
) -> tuple[Turn, ...]:
    """The turns of an extraction that were not taken back, each with its first characters."""
    rows = rows_of(reader, "extractions.turns", space_key=extraction.key, chars=chars)
    return tuple(turn_from_row(row["turn"]) for row in rows)


def finish_extraction(transaction: Transaction, extraction: Extraction) -> None:
    """Write what an extraction kept; its facts are edges of their memories."""
    assert extraction.at is not None  # noqa: S101 - it is done
    transaction.run(
        "extractions.finish",
        space_key=extraction.key,
        at=extraction.at.isoformat(),
        properties=_kept_properties(extraction),
        space_rows=_fact_rows(extraction),
    )


def _fact_rows(extraction: Extraction) -> list[dict[str, Any]]:
    return [
        {"memory": memory_key(extraction.space, fact.uid), "properties": _fact_row(number, fact)}
        for number, fact in enumerate(extraction.kept.facts)
        if fact.uid
    ]


def _fact_row(number: int, fact: KeptFact) -> dict[str, Any]:
    return {
        "number": number,
        "outcome": fact.outcome.value,
        "category": fact.category.value,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "turns": list(fact.turns),
    }


def _kept_properties(extraction: Extraction) -> dict[str, Any]:
    kept = extraction.kept
    texts = (kept.profile_updates, kept.questions, kept.reflection)
    return {
        "engine": extraction.engine.value,
        "is_empty": kept.is_empty,
        "refused_facts": _json(
            [
                _fact_row(number, fact) | {"content": fact.content}
                for number, fact in enumerate(kept.facts)
                if not fact.uid
            ]
        ),
        "entities": _json([asdict(each) for each in kept.entities]),
        "relationships": _json([dict(each) for each in kept.relationships]),
        "profile_updates": _json(kept.profile_updates),
        "questions": _json([asdict(each) for each in kept.questions]),
        "reflection": kept.reflection,
        "has_texts": any((*texts, kept.entities, kept.relationships)) or None,
        "refused": _json([asdict(each) for each in kept.refused]),
        "degraded": list(kept.degraded),
        "has_words": True,
    }


def _json(values: Sequence[Any]) -> str | None:
    return json.dumps(values, ensure_ascii=False) if values else None


def extractions_resting_on(transaction: Transaction, turns: Sequence[str]) -> list[str]:
    """The keys of extractions, locked, that read some turns and keep words of their own."""
    rows = transaction.run("extractions.resting_on", space_keys=list(turns))
    return [row["key"] for row in rows]


def forget_texts(transaction: Transaction, extractions: Sequence[str]) -> None:
    """Take away the words that extractions keep themselves."""
    if extractions:
        transaction.run("extractions.forget_texts", space_keys=list(extractions))


def take_in_extractions(
    transaction: Transaction, extractions: Sequence[Extraction]
) -> dict[str, bool]:
    """Write extractions that another store kept; by key whether each is new here."""
    rows = [
        {
            "key": each.key,
            "buffer": conversation_key(each.space, each.session),
            "decided_at": each.decided_at.isoformat(),
            "at": each.at.isoformat() if each.at else None,
            "turns": [turn_key(each.space, uid) for uid in each.turns],
            "facts": _fact_rows(each),
            "properties": {
                "uid": each.uid,
                "space": each.space.key,
                "session": each.session,
                "reason": each.reason,
                "is_guarded": each.is_guarded,
                "turn_count": len(each.turns),
                **(_kept_properties(each) if each.is_done else {}),
            },
        }
        for each in extractions
    ]
    found = transaction.run("extractions.take_in", space_rows=rows)
    return {row["key"]: row["is_new"] for row in found}


class Extractions:
    """Reads extractions."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def waiting(self, now: datetime, *, space: str = "", session: str = "") -> Iterator[Extraction]:
        """Extractions that nobody reads now, the oldest first."""
        rows = rows_by_time(
            self.connection,
            "extractions.waiting",
            place_of=lambda row: (row["extraction"]["decided_at"], row["extraction"]["key"]),
            now=now,
            space=space,
            session=session,
        )
        return (extraction_from_row(row["extraction"]) for row in rows)

    def of_turn(self, space: Space, uid: str) -> Extraction | None:
        """The extraction that a turn ended in, if it did."""
        rows = self.connection.fetch("extractions.of_turn", space_key=turn_key(space, uid))
        return extraction_from_row(rows[0]["extraction"]) if rows else None

    def find(self, space: Space, uid: str) -> Extraction | None:
        """The extraction of a uid."""
        rows = self.connection.fetch("extractions.find", space_key=extraction_key(space, uid))
        return extraction_from_row(rows[0]["extraction"]) if rows else None

    def page(
        self, space: Space, session: str | None, after: Cursor | None = None, *, limit: int
    ) -> Page[Extraction]:
        """One page of the extractions of a space that were done, the newest first.

        A cursor is when an extraction was decided, in ISO form, and its key.
        """
        decided, key = after or (_LAST_TIME.isoformat(), _LAST_KEY)
        return read_page(
            self.connection,
            "extractions.list",
            "extractions.count",
            filters={"space": space.key, "session": session or ""},
            cursor={"cursor_time": datetime.fromisoformat(str(decided)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: extraction_from_row(row["extraction"]),
            cursor_of=lambda row: (row["extraction"]["decided_at"], row["extraction"]["key"]),
        )

    def of_space(self, space: Space) -> Iterator[Extraction]:
        """All extractions of a space."""
        rows = every_row(self.connection, "extractions.of_space", space=space.key)
        return (extraction_from_row(row["extraction"]) for row in rows)


def extraction_from_row(node: Row | Mapping[str, Any]) -> Extraction:
    """The extraction of a row."""
    return Extraction(
        uid=node["uid"],
        space=space_from_key(node["space"]),
        session=node["session"],
        reason=node["reason"],
        is_guarded=bool(node.get("is_guarded")),
        decided_at=moment_of(node["decided_at"]),
        turns=tuple(node["turns"]),
        engine=EngineName(node.get("engine") or EngineName.RULES),
        at=moment_of(node["at"]),
        claim=node.get("claim") or "",
        claimed_until=moment_of(node["claimed_until"]),
        tries=node.get("tries") or 0,
        kept=_kept(node),
    )


def _kept(node: Row | Mapping[str, Any]) -> Kept:
    facts = [*node["facts"], *_values(node, "refused_facts")]
    return Kept(
        facts=tuple(map(_fact, sorted(facts, key=lambda fact: fact["number"]))),
        entities=tuple(KeptEntity(**each) for each in _values(node, "entities")),
        relationships=tuple(_values(node, "relationships")),
        profile_updates=tuple(_values(node, "profile_updates")),
        questions=tuple(Question(**each) for each in _values(node, "questions")),
        reflection=node.get("reflection"),
        refused=tuple(Refusal(**each) for each in _values(node, "refused")),
        degraded=tuple(node.get("degraded") or ()),
    )


def _values(node: Row | Mapping[str, Any], name: str) -> list[Any]:
    found: list[Any] = json.loads(node.get(name) or "[]")
    return found


def _fact(row: Mapping[str, Any]) -> KeptFact:
    return KeptFact(
        uid=row.get("uid"),
        outcome=FactOutcome(row["outcome"]),
        category=Category(row["category"]),
        content=row["content"],
        confidence=row["confidence"],
        importance=row["importance"],
        turns=tuple(row["turns"]),
    )
