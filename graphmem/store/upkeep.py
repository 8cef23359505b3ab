"""Upkeep: what the jobs read of many spaces, in pages, and what they note about each."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from graphmem.model.entity import EntityRef
from graphmem.model.tending import Foldable, Saying, TendedSpace
from graphmem.store.connection import Connection

_ROWS_AT_ONCE = 5_000
_BEHIND_SPACE = "}"  # the character behind |, which divides a space from a uid


class Upkeep:
    """Reads for the jobs, in pages."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def spaces(self, only: str, *, limit: int) -> Iterator[list[TendedSpace]]:
        """The spaces with active memories, in pages by key; or the one that is named."""
        after = ""
        while rows := self._connection.fetch("upkeep.spaces", space=only, after=after, limit=limit):
            yield [
                TendedSpace(
                    space=row["space"],
                    curated_at=row["curated_at"].to_native() if row["curated_at"] else None,
                    new_memories=row["new_memories"],
                    fold_due=row["fold_due"],
                )
                for row in rows
            ]
            after = rows[-1]["space"]
            if only or len(rows) < limit:
                return

    def mark_curated(self, spaces: Sequence[str], *, now: datetime) -> None:
        """Note that repeats were put away in some spaces; they are due for folding now."""
        self._connection.run("upkeep.mark_curated", spaces=list(spaces), now=now)

    def mark_folded(self, spaces: Sequence[str]) -> None:
        """Note that facts were folded in some spaces."""
        self._connection.run("upkeep.mark_folded", spaces=list(spaces))

    def sayings(self, spaces: Sequence[str]) -> Iterator[Saying]:
        """What the active memories of some spaces say that may repeat each other, one space after the other."""
        if not (wanted := sorted(spaces)):
            return
        after, until = f"{wanted[0]}|", f"{wanted[-1]}{_BEHIND_SPACE}"
        while rows := self._connection.fetch(
            "upkeep.sayings", spaces=wanted, after=after, until=until, limit=_ROWS_AT_ONCE
        ):
            for row in rows:
                yield Saying(
                    key=row["key"], space=row["space"], type=row["type"], actor=row["actor"], content=row["content"]
                )
            after = rows[-1]["key"]

    def foldable(
        self, space: str, *, members: int, people: Collection[str], projects: Collection[str]
    ) -> list[tuple[EntityRef, list[Foldable]]]:
        """The entities of a space with at least so many facts that may be folded, most facts first, oldest facts first.

        Facts about entities of the types ``projects`` count only where an extractor put them into words.
        """
        rows = self._connection.fetch(
            "upkeep.foldable", space=space, members=members, people=sorted(people), projects=sorted(projects)
        )
        return [
            (
                EntityRef(key=row["entity_key"], label=row["label"]),
                [Foldable(key=key, version=version, content=content) for key, version, content in row["facts"]],
            )
            for row in rows
        ]
