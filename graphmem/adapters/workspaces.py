"""Workspaces: the folders of orchestrators, and which files a memory may cite (002)."""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, unquote

from graphmem.adapters.drop_folder import write_json
from graphmem.errors import InvalidInput
from graphmem.model.space import (
    FIRST_TENANT,
    Space,
    SpaceKind,
    configured_name,
    space_from_key,
)

log = logging.getLogger(__name__)

NO_ORCHESTRATOR = "Must be an orchestrator space, such as orchestrator:main."
_NAME_MAX_BYTES = 200  # file systems take 255
# how the name of a folder begins whose owner's name is too long; no quoted name does
_HASHED = "%sha256-"
_NAME_FILE = "name"  # in such a folder: the name


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """The private folder of one orchestrator."""

    root: Path
    names: tuple[tuple[Path, str], ...] = ()  # folders whose name is a hash, and of what

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
        for folder in (
            self.processed,
            self.rejected,
            self.bulletins,
            self.diagnostics,
            self.log.parent,
        ):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder, name in self.names:
            (folder / _NAME_FILE).write_text(name, "utf-8")


class Workspaces:
    """Finds workspaces: ``orchestrators/<id>``, of other tenants below ``tenants/<tenant>``."""

    def __init__(
        self,
        data_folder: Path,
        *,
        shared_roots: Sequence[Path] = (),
        own_roots: Mapping[str, Sequence[Path]] = MappingProxyType({}),
    ) -> None:
        """``own_roots`` are shared with single orchestrators, by name, of others tenant/name."""
        self._data_folder = data_folder.resolve()
        self._shared_roots = tuple(root.resolve() for root in shared_roots)
        self._own_roots = {
            name: tuple(root.resolve() for root in roots) for name, roots in own_roots.items()
        }

    def of(self, space: Space) -> Workspace:
        """The workspace of an orchestrator; it may not be there yet.

        Raises:
            InvalidInput: the space is no orchestrator's, or only a persona's.
        """
        if space.kind is not SpaceKind.ORCHESTRATOR or space.persona:
            raise InvalidInput({"space": [NO_ORCHESTRATOR]})
        root = self._orchestrators(space.tenant) / file_name(space.owner)
        named = ((root, space.owner), (root.parents[1], space.tenant))
        return Workspace(
            root=root, names=tuple(each for each in named if each[0].name.startswith(_HASHED))
        )

    def keep(
        self,
        space: Space,
        folder: Literal["bulletins", "diagnostics"],
        message_id: str,
        values: object,
    ) -> None:
        """Keep a JSON file about a message of an orchestrator; a failure is logged."""
        try:
            workspace = self.of(space)
            workspace.create()
            path: Path = getattr(workspace, folder)
            write_json(path / f"{file_name(message_id)}.json", values)
        except (OSError, InvalidInput) as error:
            log.warning("a file of %s could not be written: %s", folder, type(error).__name__)

    def present(self) -> Iterator[Space]:
        """The orchestrators that have an ingest folder, by tenant and name."""
        others = sorted((self._data_folder / "tenants").glob("*/orchestrators"))
        for folder in (self._orchestrators(FIRST_TENANT), *others):
            for ingest in sorted(folder.glob("*/memory/ingest")):
                try:
                    tenant = (
                        FIRST_TENANT
                        if folder.parent == self._data_folder
                        else _name_of(folder.parent)
                    )
                    name = f"{SpaceKind.ORCHESTRATOR}:{_name_of(ingest.parents[1])}"
                    yield space_from_key(f"{tenant}/{name}")
                except (ValueError, OSError):
                    continue  # a folder that somebody made by hand

    def _is_below_roots(self, space: Space, path: Path) -> bool:
        """Whether a path, as it is written, lies where a memory of a space may cite files.

        That is an orchestrator's own workspace, the shared roots and those that it shares; for
        other spaces the shared roots alone. Nothing else of the data folder is cited.
        """
        is_own = space.kind is SpaceKind.ORCHESTRATOR and path.is_relative_to(
            self.of(space.without_persona).root
        )
        if is_own or path.is_relative_to(self._data_folder):
            return is_own  # a shared root around the data folder opens nothing of it
        own = self._own_roots.get(configured_name(space), ())
        is_typed = space.kind is SpaceKind.ORCHESTRATOR
        roots = (*self._shared_roots, *(own if is_typed else ()))
        return any(path.is_relative_to(root) for root in roots)

    def may_cite(self, space: Space, path: str) -> bool:
        """Whether a memory of a space may cite a path, and the file that its links lead to."""
        given = Path(path)
        return all(self._is_below_roots(space, each) for each in (given, _resolved(given)))

    def _orchestrators(self, tenant: str) -> Path:
        below = (
            self._data_folder
            if tenant == FIRST_TENANT
            else self._data_folder / "tenants" / file_name(tenant)
        )
        return below / "orchestrators"


def file_name(name: str) -> str:
    """A file name for any name, such as an orchestrator's or a message's id.

    Different names never share one.
    """
    quoted = "".join(char if char.isalnum() else quote(char, safe="-_.~+@=,") for char in name)
    if quoted.startswith("."):
        quoted = "%2E" + quoted[1:]
    if len(quoted.encode()) <= _NAME_MAX_BYTES:
        return quoted
    return _HASHED + hashlib.sha256(name.encode()).hexdigest()


def _name_of(folder: Path) -> str:
    """The name of the orchestrator or the tenant whose folder it is."""
    if folder.name.startswith(_HASHED):
        return (folder / _NAME_FILE).read_text("utf-8")
    return unquote(folder.name)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a ring of links
        return Path("/")
