"""Upkeep: what the jobs read of many spaces, in pages, and what they note about each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.model.entity import EntityRef
from graphmem.model.entity_change import EntityState
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.model.upkeep_rows import (
    DedupeCandidate,
    EntityNames,
    EntityStatement,
    EntitySummary,
    Foldable,
    SimilarPair,
    SpaceState,
    Summarisable,
    Topic,
    TopicRow,
)
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.pages import every_row, read_page
from graphmem.store.vectors import VectorSlot
from graphmem.text.times import moment_of

_ROWS_AT_ONCE = 5_000
_SPACES_AT_ONCE = 200
_MARKED_AT_ONCE = 1_000
_ENTITIES_MAX = 20_000
_BEHIND_SPACE = "}"  # the character behind |, which divides a space from a uid

Versioned = tuple[str, int]  # the key of a memory, and the version in which it was read


class Upkeep:
    """Reads for the jobs, in pages."""

    def __init__(self, connection: Connection, slot: VectorSlot) -> None:
        self._connection = connection
        self._slot = slot

    def spaces(self, only: str) -> Iterator[list[SpaceState]]:
        """The spaces with active memories, in pages by key; or the one that is named."""
        after = ""
        while rows := self._connection.fetch(
            "upkeep.spaces", space=only, after=after, limit=_SPACES_AT_ONCE
        ):
            yield [_space_state(row) for row in rows if row["memories"]]
            after = rows[-1]["space"]
            if only or len(rows) < _SPACES_AT_ONCE:
                return

    def personas(self, spaces: Sequence[str]) -> list[str]:
        """The keys of the personas of some owners' spaces."""
        prefixes = [f"{space}/" for space in spaces]
        rows = self._connection.fetch("upkeep.personas", space_prefixes=prefixes)
        return [row["space"] for row in rows]

    def mark_curated(self, spaces: Sequence[str], *, now: datetime) -> None:
        """Note that repeats were put away in some spaces; they are due for folding now."""
        self._mark(spaces, curated_at=now, fold_due=True)

    def mark_folded(self, spaces: Sequence[str]) -> None:
        """Note that facts were folded in some spaces."""
        self._mark(spaces, fold_due=False)

    def dedupe_candidates(self, spaces: Sequence[str]) -> Iterator[DedupeCandidate]:
        """What the active memories of some spaces say that may be repeated, by space."""
        if not (wanted := sorted(spaces)):
            return
        # a longer name may stand before a shorter one: / and letters come before |
        after, until = (
            min(f"{space}|" for space in wanted),
            max(f"{space}{_BEHIND_SPACE}" for space in wanted),
        )
        rows = every_row(
            self._connection, "upkeep.dedupe_candidates", spaces=wanted, after=after, until=until
        )
        yield from (DedupeCandidate(**row) for row in rows)

    def foldable(
        self, space: str, *, members: int, people: Collection[str], projects: Collection[str]
    ) -> list[tuple[EntityRef, list[Foldable]]]:
        """The entities of a space with enough facts to fold, most facts first.

        Facts about entities of the types ``projects`` count only where an extractor put them into
        words.
        """
        rows = self._connection.fetch(
            "upkeep.foldable",
            space=space,
            members=members,
            people=sorted(people),
            projects=sorted(projects),
        )
        return [
            (
                EntityRef(key=row["entity_key"], label=row["label"]),
                [
                    Foldable(key=key, version=version, content=content)
                    for key, version, content in row["facts"]
                ],
            )
            for row in rows
        ]

    def mark_consolidated(self, space: str, *, now: datetime) -> None:
        """Note that a space was consolidated."""
        self._mark([space], consolidated_at=now)

    def mark_checked(self, space: str, *, now: datetime) -> None:
        """Note that contradictions were looked for in a space."""
        self._mark([space], check_due=False, checked_at=now)

    def _mark(self, spaces: Sequence[str], **marks: datetime | bool) -> None:
        self._connection.run("upkeep.mark_spaces", spaces=list(spaces), marks=marks)

    def near(self, space: str, *, newest: int, neighbours: int, now: datetime) -> list[SimilarPair]:
        """The newest memories of a space, each with its nearest by vector."""
        rows = self._connection.fetch(
            f"upkeep.near{self._slot.suffix}",
            space=space,
            newest=newest,
            neighbours=neighbours + 1,
            now=epoch_ms(now),
        )
        return [
            SimilarPair(
                key=row["key"],
                other=row["other"],
                similarity=2 * row["score"] - 1 if row["score"] else 0.0,
            )
            for row in rows
        ]

    def conflicting(self, space: str, *, newest: int, others: int) -> list[str]:
        """The keys of notes of which several state a value of the same things, the newest."""
        rows = self._connection.fetch(
            "upkeep.conflicting", space=space, newest=newest, others=others
        )
        return [row["key"] for row in rows]

    def newest_texts(self, space: str, *, limit: int) -> list[tuple[str, str]]:
        """The keys and contents of the newest active memories of a space."""
        rows = self._connection.fetch("upkeep.newest_texts", space=space, limit=limit)
        return [(row["key"], row["content"]) for row in rows]

    def statements(self, space: str) -> Iterator[EntityStatement]:
        """The active memories of a space that mention entities."""
        yield from map(_statement, every_row(self._connection, "upkeep.statements", space=space))

    def unchecked(self, space: str) -> list[Versioned]:
        """The memories of a space in which contradictions are still to be looked for."""
        rows = every_row(self._connection, "upkeep.unchecked", space=space)
        return [(row["key"], row["version"]) for row in rows]

    def statements_beside(
        self, space: Space, memories: Sequence[str], *, since: datetime, most: int
    ) -> list[EntityStatement]:
        """Some memories of a space, and the newest others of the same entities.

        Also those of entities that were merged or split since a time.
        """
        rows = self._connection.fetch(
            "upkeep.statements_beside",
            space=space.key,
            owner=space.without_persona.key,
            space_keys=list(memories),
            since=since.isoformat(),
            limit=len(memories) + most,
        )
        return [_statement(row) for row in rows]

    def mark_memories_checked(
        self, memories: Sequence[Versioned], others: Mapping[str, Sequence[Versioned]]
    ) -> None:
        """Note that contradictions were looked for in memories, in these versions.

        One whose ``others``, with which it disagrees, changed meanwhile is to be looked at again.
        """
        rows = [
            {"key": key, "version": version, "others": [list(each) for each in others.get(key, ())]}
            for key, version in memories
        ]
        for start in range(0, len(rows), _MARKED_AT_ONCE):
            part = rows[start : start + _MARKED_AT_ONCE]
            self._connection.run("upkeep.mark_memories", space_rows=part)

    def entities(self, space: str) -> list[EntityState]:
        """The entities of an owner's space that stand for themselves."""
        return [
            EntityState(
                key=row["entity_key"],
                label=row["label"],
                aliases=tuple(row["aliases"] or ()),
                mentions=row["mentions"],
                is_declared=bool(row["declared"]),
            )
            for row in self._connection.fetch("upkeep.entities", space=space, limit=_ENTITIES_MAX)
        ]

    def summarisable(self, space: str, *, more_than: int, now: datetime) -> list[Summarisable]:
        """The entities of a space of which more than so many facts are known, most first."""
        rows = self._connection.fetch(
            "upkeep.summarisable", space=space, more_than=more_than, now=epoch_ms(now)
        )
        return [
            Summarisable(
                key=row["entity_key"],
                label=row["label"],
                facts=row["facts"],
                contents=tuple(content for _, content in row["contents"]),
                sources=tuple(key for key, _ in row["contents"]),
                summarised=row["summarised"],
            )
            for row in rows
        ]

    def summaries(
        self, spaces: Sequence[Space], key: str, *, now: datetime
    ) -> dict[str, EntitySummary]:
        """What is kept of an entity in some spaces and still holds, by the key of the space."""
        rows = self._connection.fetch(
            "upkeep.summaries",
            keys=[f"{space.key}|{key}" for space in spaces],
            spaces=[space.key for space in spaces],
            now=epoch_ms(now),
        )
        return {
            row["space"]: EntitySummary(
                text=row["text"],
                facts=row["facts"],
                by=row["by"],
                made_at=row["made_at"].to_native(),
            )
            for row in rows
        }

    def small_memories(
        self, space: str, *, keep_newest: int, importance: int, protected: Collection[str]
    ) -> list[tuple[Foldable, datetime]]:
        """The memories that may be summarised, oldest first: unimportant, of no entity."""
        rows = self._connection.fetch(
            "upkeep.small_memories",
            space=space,
            keep_newest=keep_newest,
            importance=importance,
            protected=sorted(protected),
            limit=_ROWS_AT_ONCE,
        )
        return [
            (
                Foldable(key=row["key"], version=row["version"], content=row["content"]),
                datetime.fromisoformat(row["created_at"]),
            )
            for row in rows
        ]

    def topics(self, space: str, *, limit: int, after: Cursor | None = None) -> Page[TopicRow]:
        """One page of the topics of a space, best first."""
        rank, key = after or (0, "")
        return read_page(
            self._connection,
            "upkeep.topics",
            "upkeep.count_topics",
            filters={"space": space},
            cursor={"cursor_rank": rank, "cursor_key": key},
            limit=limit,
            item_of=_topic,
            cursor_of=lambda row: (row["rank"], row["key"]),
        )


def _space_state(row: Row) -> SpaceState:
    return SpaceState(
        space=row["space"],
        curated_at=_moment(row["curated_at"]),
        new_memories=row["new_memories"],
        fold_due=row["fold_due"],
        consolidated_at=_moment(row["consolidated_at"]),
        writes=row["writes"],
        memories=row["memories"],
        check_due=row["check_due"],
        checked_at=_moment(row["checked_at"]),
        unchecked=row["unchecked"],
    )


def _statement(row: Row) -> EntityStatement:
    return EntityStatement(
        key=row["key"],
        version=row["version"],
        content=row["content"],
        created_ms=row["created"],
        valid_from=moment_of(row["valid_from"]),
        valid_until=moment_of(row["valid_until"]),
        entities=tuple(
            EntityNames(key=key, names=_names(key, label, aliases))
            for key, label, aliases in row["entities"]
        ),
    )


def _topic(row: Mapping[str, Any]) -> TopicRow:
    return TopicRow(
        topic=row["topic"], score=row["score"], memories=row["memories"], uids=tuple(row["uids"])
    )


def save_summary(
    transaction: Transaction,
    space: Space,
    entity: Summarisable,
    text: str,
    *,
    by: str,
    now: datetime,
) -> None:
    """Keep what is known of an entity within a space, instead of what was kept before."""
    transaction.run(
        "upkeep.save_summary",
        key=f"{space.key}|{entity.key}",
        space=space.key,
        entity_key=entity.key,
        entity=f"{space.without_persona.key}|{entity.key}",
        text=text,
        facts=entity.facts,
        by=by,
        sources=list(entity.sources),
        now=now,
    )


def save_topics(
    transaction: Transaction, space: str, topics: Sequence[Topic], *, now: datetime
) -> None:
    """Keep the topics of a space instead of those that were kept before."""
    rows = [
        {
            "key": f"{space}|{topic.term}",
            "topic": topic.label,
            "score": topic.score,
            "memories": topic.memories,
            "rank": rank,
            "examples": list(topic.examples),
        }
        for rank, topic in enumerate(topics, 1)
    ]
    transaction.run("upkeep.save_topics", space=space, topics=rows, now=now)


def _moment(value: Any) -> datetime | None:  # noqa: ANN401 - a time of the driver
    return value.to_native() if value else None


def _names(key: str, label: str, aliases: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((label, key.partition(":")[2].replace("_", " "), *(aliases or ()))))
