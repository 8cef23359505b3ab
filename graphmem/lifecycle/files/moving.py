"""Moving: a space into a folder, and a folder into a space (003, Files)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from graphmem.errors import InvalidInput
from graphmem.intake.export_import import Imported, import_records
from graphmem.lifecycle.files.folder import FolderReader, FolderWriter
from graphmem.lifecycle.files.folder_export import FolderExport, Report
from graphmem.lifecycle.files.folder_import import FolderImport
from graphmem.lifecycle.files.only_new import only_new
from graphmem.lifecycle.files.scratch import Scratch
from graphmem.lifecycle.keeper import NO_FACTS
from graphmem.model.caller import Caller
from graphmem.model.space import WITHOUT_FACTS, Space
from graphmem.rooms import Core, Transfer
from graphmem.store.profile import profile_of


def export_folder(
    core: Core, transfers: Sequence[Transfer], space: Space, root: Path, *, report: Report
) -> Mapping[str, int]:
    """Write all that no room keeps of a space into a folder; how many records of each kind.

    ``report`` is told that number now and then.

    Raises:
        InvalidInput: the space holds no facts, or the folder what no export wrote, or a link.
    """
    _check_space(space)
    with (
        closing(Scratch()) as scratch,
        closing(FolderWriter(root=root, scratch=scratch, space=space.key)) as writer,
    ):
        export = FolderExport(
            transfers=transfers,
            profile=profile_of(core.connection, space, core.clock.now()),
            space=space,
            writer=writer,
            scratch=scratch,
            report=report,
        )
        return export.run()


def import_folder(
    core: Core, transfers: Sequence[Transfer], space: Space, root: Path, *, caller: Caller
) -> Iterator[Imported]:
    """Take in what a folder holds and the space does not, and say what became of all so far.

    Raises:
        InvalidInput: the space holds no facts, or the folder no whole export.
        Forbidden, StoreUnavailable: see import_lines.
    """
    _check_space(space)
    reader = FolderReader(root=root)
    reader.check()
    with closing(Scratch()) as scratch:
        found = FolderImport(reader=reader, scratch=scratch).records()
        yield from import_records(only_new(core, transfers), found, space, caller=caller)


def _check_space(space: Space) -> None:
    if space.kind in WITHOUT_FACTS:
        raise InvalidInput({"space": [NO_FACTS]})
