"""Ingest: files that are dropped for orchestrators are taken in (002)."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from graphmem.adapters.drop_folder import drop, dropped
from graphmem.adapters.workspaces import Workspace, Workspaces
from graphmem.errors import Conflict, Forbidden, IngestDisabled
from graphmem.gateway.writing import Writing
from graphmem.intake.file_checks import check_file, check_upload_name
from graphmem.intake.file_writer import FileWriter, PartSizes
from graphmem.intake.in_flight import InFlight
from graphmem.intake.ingest_pass import FileAccess, IngestPass, Scan
from graphmem.intake.manifests import Manifest, RejectedError
from graphmem.model.caller import Caller, Role
from graphmem.model.space import Space
from graphmem.ports import Events
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies

SCAN_MAX_FILES = 1_000  # in one scan
_BATCH_FILES, _BATCH_BYTES = 64, 8 * 1024 * 1024  # that are on their way together
_HTTP_LOCK_SECONDS, WORKER_LOCK_SECONDS = 2.0, 30.0
_LET_GO_SECONDS = 0.1
_FILES, _SIZES = FileAccess(), PartSizes()


class Ingest:
    """Takes in dropped files."""

    def __init__(
        self,
        writing: Writing,
        memories: Memories,
        *,
        workspaces: Workspaces,
        policies: SpacePolicies,
        events: Events,
        is_away: Callable[[], bool],
        files: FileAccess = _FILES,
        sizes: PartSizes = _SIZES,
    ) -> None:
        self._writing = writing
        self._memories = memories
        self._workspaces = workspaces
        self._policies = policies
        self._events = events
        self._is_away = is_away
        self._files = files
        self._sizes = sizes

    def upload(self, space: Space, name: str, content: str, *, caller: Caller) -> Manifest:
        """Drop a file and take it in.

        Raises:
            Forbidden: the key may not write there.
            MemoryDisabled: the memory of the orchestrator is off.
            IngestDisabled: its ingest folder is off.
            Conflict: a file of that name is being written, or the folder is busy.
            StoreUnavailable: the database does not answer; the file is taken in later.
        """
        begun = self._begin(space, caller)
        data = content.encode("utf-8", "surrogatepass")
        with self._locked(begun.workspace, seconds=_HTTP_LOCK_SECONDS):
            try:
                check_upload_name(name)
                check_file(name, len(data), begun.config)
            except RejectedError as problem:
                kept = begun.workspace.memory / f".{uuid4().hex}.part"
                kept.write_bytes(data)
                return begun.reject(kept, name, problem, name=name)[0]
            done = _dropped_and_taken(begun, name, data)
        if not done.manifests:
            message = (
                f"The file {name} was dropped, but could not be moved yet: it is taken in later."
            )
            raise Conflict(message)
        return done.manifests[-1]

    def scan(
        self,
        space: Space,
        *,
        caller: Caller,
        limit: int = SCAN_MAX_FILES,
        lock_seconds: float = _HTTP_LOCK_SECONDS,
        must_stop: Callable[[], bool] = lambda: False,
        watch: Callable[[Scan], None] = lambda _: None,
    ) -> Scan:
        """Take in what lies in the ingest folder of an orchestrator; ``watch`` is shown each batch.

        Raises:
            Forbidden: the key may not write there.
            MemoryDisabled: the memory of the orchestrator is off.
            IngestDisabled: its ingest folder is off.
            Conflict: the folder is busy.
            StoreUnavailable: the database does not answer; the next scan goes on.
        """
        begun = self._begin(space, caller, must_stop)
        found = dropped(begun.workspace.ingest)
        done: list[Scan] = []
        for batch in ([], *_batches(found[:limit])):  # the first is only to finish what was begun
            if batch and must_stop():
                break
            with self._locked(begun.workspace, seconds=lock_seconds):
                done.append(begun.take(batch))
            watch(done[-1])
            time.sleep(_LET_GO_SECONDS)  # longer than others wait before they look again
        return Scan(
            manifests=tuple(manifest for scan in done for manifest in scan.manifests),
            waiting=tuple(name for scan in done for name in scan.waiting),
            left=max(0, len(found) - limit),
        )

    def _begin(
        self, space: Space, caller: Caller, must_stop: Callable[[], bool] = lambda: False
    ) -> IngestPass:
        """A pass over the folder of an orchestrator, if it may be taken in from there."""
        if not caller.may(Role.WRITER, space):
            raise Forbidden
        self._policies.check_enabled(space)
        config = self._policies.of(space).memory
        if not config.ingest.enabled:
            raise IngestDisabled
        workspace = self._workspaces.of(space)
        workspace.create()
        return IngestPass(
            space=space,
            workspace=workspace,
            config=config,
            journal=InFlight(workspace),
            writer=FileWriter(
                self._writing, self._memories, space=space, caller=caller, sizes=self._sizes
            ),
            files=self._files,
            memories=self._memories,
            events=self._events,
            is_away=self._is_away,
            must_stop=must_stop,
        )

    @contextmanager
    def _locked(self, workspace: Workspace, *, seconds: float) -> Iterator[None]:
        """One process at a time works on a folder; others wait so long."""
        try:
            with FileLock(workspace.memory / ".ingest.lock", timeout=seconds):
                yield
        except Timeout as error:
            message = "Another process is taking in files of this orchestrator: try again later."
            raise Conflict(message) from error


def _dropped_and_taken(begun: IngestPass, name: str, data: bytes) -> Scan:
    """Drop a file and take it in, after what lies there under its name."""
    folder = begun.workspace.ingest
    target = folder / name
    if os.path.lexists(target):
        begun.take([target])
    try:
        drop(folder, name, data, parts=begun.workspace.processed)
    except FileExistsError as error:
        message = (
            f"Something of the name {name} is in the folder and cannot be taken in yet:"
            " try again later."
        )
        raise Conflict(message) from error
    return begun.take([target], is_ours=True)


def _batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Files in batches of bounded number and size."""
    batch: list[Path] = []
    size = 0
    for path in paths:
        try:
            own = path.lstat().st_size
        except OSError:
            continue  # gone meanwhile
        if batch and (len(batch) == _BATCH_FILES or size + own > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += own
    if batch:
        yield batch
