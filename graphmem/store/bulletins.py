"""Bulletins: the snapshots that are kept of them, one a message."""

import json
from collections.abc import Mapping
from typing import Any

from graphmem.model.bulletin import Bulletin, Line, Snapshot
from graphmem.model.space import Space
from graphmem.store.connection import Connection


class Bulletins:
    """Keeps and reads snapshots."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def keep(self, space: Space, snapshot: Snapshot) -> None:
        """Keep the bulletin of a message instead of the one before."""
        sections = [
            [name, [[line.text, line.uid] for line in lines]]
            for name, lines in snapshot.bulletin.sections
        ]
        self._connection.run(
            "bulletins.keep",
            key=f"{space.key}|{snapshot.message_id}",
            space=space.key,
            message_id=snapshot.message_id,
            rendered=snapshot.bulletin.rendered,
            sections=json.dumps(sections, ensure_ascii=False),
            citations=list(snapshot.bulletin.citations),
            mode=snapshot.mode,
            fallback=snapshot.fallback,
            generated_at=snapshot.generated_at,
        )

    def of_message(self, space: Space, message_id: str) -> Snapshot | None:
        """The bulletin that was kept for a message."""
        rows = self._connection.fetch("bulletins.of_message", key=f"{space.key}|{message_id}")
        return _snapshot(rows[0]) if rows else None

    def newest(self, space: Space) -> Snapshot | None:
        """The newest bulletin of a space that was made of a recall."""
        rows = self._connection.fetch("bulletins.newest", space=space.key)
        return _snapshot(rows[0]) if rows else None


def _snapshot(row: Mapping[str, Any]) -> Snapshot:
    sections = tuple(
        (name, tuple(Line(text=text, uid=uid) for text, uid in lines))
        for name, lines in json.loads(row["sections"])
    )
    return Snapshot(
        message_id=row["message_id"],
        bulletin=Bulletin(sections=sections),
        mode=row["mode"],
        fallback=row["fallback"],
        generated_at=row["generated_at"].to_native(),
    )
