"""Activity: which extractions named an entity last (003, Entity file and index)."""

from collections.abc import Sequence

from graphmem.model.extraction import Activity, Extraction
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Transaction
from graphmem.text.times import moment_of

ACTIVITY_MAX = 20  # of an entity, the newest


def note_activity(
    transaction: Transaction, extraction: Extraction, entities: Sequence[str]
) -> None:
    """Note that an extraction named entities, by key; of each only the newest stay."""
    if entities and extraction.at:
        owner = extraction.space.without_persona.key
        transaction.run(
            "activity.note",
            space_key=extraction.key,
            space_keys=[f"{owner}|{key}" for key in entities],
            at=extraction.at.isoformat(),
            most=ACTIVITY_MAX,
        )


class ActivityReader:
    """Reads what was last said of an entity."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, spaces: Sequence[Space], entities: Sequence[str]) -> list[Activity]:
        """The newest activity of an entity, by the keys that it has in owners, in some spaces."""
        rows = self._connection.fetch(
            "activity.of",
            space_keys=list(entities),
            spaces=[space.key for space in spaces],
            most=ACTIVITY_MAX,
        )
        return [
            Activity(
                at=moment_of(row["at"]),
                extraction=row["extraction"],
                session=row["session"],
                note=row["note"],
                memory=row["memory"],
            )
            for row in rows
        ]
