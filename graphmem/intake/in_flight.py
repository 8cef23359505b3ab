"""In flight: the files on their way from the drop zone into the store, in a journal on the disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphmem.adapters.drop_folder import Signature, read_json, write_json
from graphmem.adapters.workspaces import Workspace
from graphmem.intake.file_parsers import Extracted, SourceFile
from graphmem.intake.manifests import RejectedError


@dataclass(kw_only=True, eq=False)
class TakenFile:
    """A file on its way: as it was dropped, where it lies now, and what became of it so far."""

    file: SourceFile
    path: Path
    signature: Signature | None = None  # when it was read
    is_known: bool = False  # it was taken in before
    tries: int = 0  # that were begun and neither ended nor met a store that is away
    extracted: Extracted | None = None
    problem: RejectedError | None = None
    memories: int = 0  # written
    edges: int = 0  # written


class InFlight:
    """The journal of the files on their way in a workspace; it survives the process."""

    def __init__(self, workspace: Workspace) -> None:
        self._path = workspace.memory / ".taking.json"
        self._processed = workspace.processed

    def write(self, taken: Sequence[TakenFile]) -> None:
        """Note these files and no others, so that the disk has it before any of them moves."""
        if not taken:
            self._path.unlink(missing_ok=True)
            return
        noted = [
            {
                "dropped_at": each.file.dropped_at,
                "name": each.path.name,
                "is_known": each.is_known,
                "tries": each.tries,
            }
            for each in taken
        ]
        write_json(self._path, noted, durable=True)

    def read(self) -> list[TakenFile]:
        """The files that were on their way, without what they hold."""
        noted = read_json(self._path)
        found = []
        for entry in noted if isinstance(noted, list) else []:
            path = self._processed / Path(entry["name"]).name
            file = SourceFile(dropped_at=entry["dropped_at"], path=str(path), content=b"")
            found.append(
                TakenFile(file=file, path=path, is_known=entry["is_known"], tries=entry["tries"])
            )
        return found
