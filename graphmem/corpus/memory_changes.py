"""Memory changes: what a revision of a corpus does to the memories that are there. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from graphmem.corpus.documents import digest
from graphmem.model.corpus import PresentMemory
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType
from graphmem.text.times import iso


@dataclass(frozen=True, kw_only=True)
class CorpusMemory:
    """A memory that a corpus should have.

    ``path`` and ``field`` say where it stands, and are the key of its source. ``part_of`` is the
    key of the memory of its item.
    """

    path: str
    field: str
    type: MemoryType
    content: str
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    entities: tuple[EntityRef, ...] = ()
    part_of: str | None = None

    @property
    def key(self) -> str:
        """What it is known by within its space."""
        return f"{self.path}#{self.field}"

    @property
    def native(self) -> Mapping[str, object]:
        """What the room stores in it beside the words."""
        return {"path": self.path, "field": self.field, "digest": self.digest}

    @cached_property
    def digest(self) -> str:
        """What it says, as a hash: another one means that it is revised."""
        said = (
            *(self.type, self.content, iso(self.valid_from), iso(self.valid_until)),
            *([(each.key, each.label) for each in self.entities], self.part_of),
        )
        return digest(said)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryChanges:
    """What a revision does to memories: by keys of the wanted, and uids of those that leave."""

    new: tuple[CorpusMemory, ...] = ()
    changed: tuple[tuple[str, CorpusMemory], ...] = ()  # with the uid of what is revised
    removed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be written."""
        return not (self.new or self.changed or self.removed)


def memory_changes(
    wanted: Iterable[CorpusMemory], present: Iterable[PresentMemory]
) -> MemoryChanges:
    """What is to be written so that the wanted memories are there, and no others.

    What somebody retracted stays away until it says something else.
    """
    known = {each.key: each for each in present}
    by_key = {each.key: each for each in wanted}
    both = [(known[key], each) for key, each in by_key.items() if key in known]
    return MemoryChanges(
        new=tuple(each for key, each in by_key.items() if key not in known),
        changed=tuple((old.uid, new) for old, new in both if old.digest != new.digest),
        removed=tuple(
            each.uid for key, each in known.items() if key not in by_key and not each.is_retracted
        ),
        same=tuple(old.uid for old, new in both if old.digest == new.digest),
    )
