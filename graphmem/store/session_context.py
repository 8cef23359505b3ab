"""Session context: what stands beside recalled memories, and the newest ones where none are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.model.memory import Memory
from graphmem.model.notebook import ProfileLine
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.store.connection import Connection
from graphmem.store.mapping import memory_from_node
from graphmem.store.profile import LINES_READ, line_from_row
from graphmem.text.times import moment_of

_ARTEFACTS_READ, _BOXES_READ, _BOXES_SHOWN = 500, 50, 5


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownBox:
    """A box as far as its memories are current: their keys, and the topics that they brought."""

    last_at: datetime
    topics: tuple[str, ...]
    memories: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """The lines of a profile, the words behind memories by key, and the newest boxes."""

    profile: tuple[ProfileLine, ...] = ()
    artefacts: tuple[tuple[str, str], ...] = ()
    boxes: tuple[ShownBox, ...] = ()


class SessionContextReader:
    """Reads what a context shows beside a recall."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def beside(
        self, space: Space, memories: Sequence[str], *, since: datetime | None, now: datetime
    ) -> Beside:
        """The profile of a space, the artefacts of some memories, and the newest boxes.

        ``since`` is when these were told at the earliest; None is for no boxes.
        """
        (row,) = self._connection.fetch(
            "session_context.beside",
            space=space.key,
            space_keys=list(memories),
            since=(since or now).isoformat(),
            now=epoch_ms(now),
            artefacts=_ARTEFACTS_READ,
            boxes=_BOXES_READ if since else 0,
            lines=LINES_READ,
        )
        return Beside(
            profile=tuple(line_from_row(each) for each in row["profile"]),
            artefacts=tuple((key, text) for key, text in row["artefacts"]),
            boxes=tuple(_box(*each) for each in row["boxes"] if each[2])[:_BOXES_SHOWN],
        )

    def newest(self, spaces: Sequence[Space], *, limit: int, now: datetime) -> list[Memory]:
        """The newest current plain memories of some spaces."""
        rows = self._connection.fetch(
            "session_context.newest",
            spaces=[space.key for space in spaces],
            limit=limit,
            now=epoch_ms(now),
        )
        return [memory_from_node(row["m"], row["entities"]) for row in rows]


def _box(
    last_at: str, topics: Sequence[str], members: Sequence[tuple[str, Sequence[str]]]
) -> ShownBox:
    brought = {topic for _, own in members for topic in own}
    return ShownBox(
        last_at=moment_of(last_at),
        topics=tuple(topic for topic in topics if topic in brought),
        memories=tuple(key for key, _ in members),
    )
