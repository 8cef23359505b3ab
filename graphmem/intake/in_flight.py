"""Taking: the files that are on their way from the drop zone into the store, noted before the first one moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphmem.adapters.drop_folder import read_json, write_json
from graphmem.intake.file_parsers import Extracted, SourceFile
from graphmem.intake.manifests import RejectedError


@dataclass(kw_only=True)
class TakenFile:
    """A file on its way: as it was dropped, where it lies now, and what became of it so far."""

    file: SourceFile
    place: Path
    is_known: bool = False  # it was taken in before
    tries: int = 0  # that were begun and neither ended nor met a store that is away
    extracted: Extracted | None = None
    problem: RejectedError | None = None
    memories: int = 0  # written
    edges: int = 0  # written


class TakingNote:
    """The note of what is on its way; it survives the process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, taken: Sequence[TakenFile]) -> None:
        """Note these files and no others, so that the disk has it before any of them moves."""
        if not taken:
            self._path.unlink(missing_ok=True)
            return
        noted = [
            {
                "dropped_at": each.file.dropped_at,
                "name": each.place.name,
                "is_known": each.is_known,
                "tries": each.tries,
            }
            for each in taken
        ]
        write_json(self._path, noted, durable=True)

    def read(self, folder: Path) -> list[TakenFile]:
        """The files that were on their way, which lie in a folder now; without what they hold."""
        noted = read_json(self._path)
        found = []
        for entry in noted if isinstance(noted, list) else []:
            place = folder / Path(entry["name"]).name
            file = SourceFile(dropped_at=entry["dropped_at"], path=str(place), content=b"")
            found.append(
                TakenFile(file=file, place=place, is_known=entry["is_known"], tries=entry["tries"])
            )
        return found
