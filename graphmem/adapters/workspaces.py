"""Workspaces: the folders of orchestrators below the data folder, and which files a memory may cite (002)."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from graphmem.errors import InvalidInput
from graphmem.model.space import FIRST_TENANT, Space, SpaceKind, parse_space

_NAME_MAX_CHARS = 200  # file systems take 255 bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """The private folder of one orchestrator."""

    root: Path

    @property
    def memory(self) -> Path:
        """All that belongs to its memory."""
        return self.root / "memory"

    @property
    def ingest(self) -> Path:
        """The drop zone for files."""
        return self.memory / "ingest"

    @property
    def processed(self) -> Path:
        """Files that were taken in, and their manifests."""
        return self.ingest / "processed"

    @property
    def rejected(self) -> Path:
        """Files that were refused, and why."""
        return self.ingest / "rejected"

    @property
    def bulletins(self) -> Path:
        """Bulletins as files, one a message."""
        return self.memory / "bulletins"

    @property
    def diagnostics(self) -> Path:
        """What investigations were given, one file a message."""
        return self.memory / "diagnostics"

    @property
    def log(self) -> Path:
        """The events of this memory, as JSON lines."""
        return self.memory / "logs" / "memory.log"

    def create(self) -> None:
        """Make the folders; those that are there stay as they are."""
        for folder in (self.processed, self.rejected, self.bulletins, self.diagnostics, self.log.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)


class Workspaces:
    """All workspaces: ``orchestrators/<id>`` of the first tenant, ``tenants/<tenant>/orchestrators/<id>`` of others."""

    def __init__(self, data_folder: Path, *, shared_roots: Sequence[Path] = ()) -> None:
        self._data_folder = data_folder.resolve()
        self._shared_roots = tuple(root.resolve() for root in shared_roots)

    def of(self, space: Space) -> Workspace:
        """The workspace of an orchestrator; it may not be there yet.

        Raises:
            InvalidInput: the name is too long for a folder.
        """
        return Workspace(root=self._orchestrators(space.tenant) / _folder_name(space.owner))

    def present(self) -> Iterator[Space]:
        """The orchestrators that have an ingest folder, by tenant and name."""
        others = sorted((self._data_folder / "tenants").glob("*/orchestrators"))
        for folder in (self._orchestrators(FIRST_TENANT), *others):
            tenant = FIRST_TENANT if folder.parent == self._data_folder else unquote(folder.parent.name)
            for ingest in sorted(folder.glob("*/memory/ingest")):
                owner = unquote(ingest.parents[1].name)
                try:
                    yield parse_space(f"{SpaceKind.ORCHESTRATOR}:{owner}", tenant=tenant)
                except ValueError:
                    continue  # a folder that somebody made by hand

    def roots(self, space: Space) -> tuple[Path, ...]:
        """Where a file must lie that a memory of a space cites: its own workspace, or a shared root.

        Spaces that are no orchestrators have the data folder for their own.
        """
        own = self.of(space).root if space.kind is SpaceKind.ORCHESTRATOR else self._data_folder
        return (own, *self._shared_roots)

    def may_cite(self, space: Space, path: str) -> bool:
        """Whether a memory of a space may cite a file: it lies below its roots, also where links lead."""
        roots, given = self.roots(space), Path(path)
        return all(any(each.is_relative_to(root) for root in roots) for each in (given, _resolved(given)))

    def _orchestrators(self, tenant: str) -> Path:
        below = self._data_folder if tenant == FIRST_TENANT else self._data_folder / "tenants" / _folder_name(tenant)
        return below / "orchestrators"


def file_name(name: str) -> str:
    """A file name for any name, such as the id of a message; different names never share one."""
    quoted = _quoted(name)
    if len(quoted.encode()) <= _NAME_MAX_CHARS:
        return quoted
    return f"%{hashlib.sha256(name.encode()).hexdigest()}"  # no quoted name begins like that


def _quoted(name: str) -> str:
    quoted = "".join(char if char.isalnum() else quote(char, safe="-_.~+@=,") for char in name)
    if quoted.startswith("."):
        quoted = "%2E" + quoted[1:]
    return quoted


def _folder_name(name: str) -> str:
    quoted = _quoted(name)
    if len(quoted.encode()) > _NAME_MAX_CHARS:
        message = "The name is too long for a folder of its own."
        raise InvalidInput({"space": [message]})
    return quoted


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a ring of links
        return Path("/")
