"""Entity index: what a space knows of its entities, and whether that still holds."""

from collections.abc import Mapping
from datetime import UTC, datetime

from graphmem.model.notebook import KnownEntity
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.store.connection import Connection

_ENTITIES_MAX = 2_000  # the most mentioned ones, which are scored


class EntityIndexReader:
    """Reads what an index of entities is made from."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def known(self, space: Space, now: datetime) -> list[KnownEntity]:
        """The entities that current memories of a space mention."""
        rows = self._connection.fetch(
            "entity_index.known",
            space=space.key,
            owner=space.without_persona.key,
            now=epoch_ms(now),
            limit=_ENTITIES_MAX,
        )
        return [
            KnownEntity(
                key=row["key"],
                label=row["label"],
                facts=row["facts"],
                activities=row["activities"],
                relations=row["relations"],
                last_at=datetime.fromtimestamp(row["last_ms"] / 1_000, UTC),
                memory=row["memory"],
                content=row["content"],
                version=row["version"],
            )
            for row in rows
        ]

    def still(self, versions: Mapping[str, int], now: datetime) -> bool:
        """Whether some memories, by key, are all current in the versions that they had."""
        rows = [{"key": key, "version": version} for key, version in versions.items()]
        found = self._connection.fetch("entity_index.still", space_rows=rows, now=epoch_ms(now))
        return len(found) == len(rows)
