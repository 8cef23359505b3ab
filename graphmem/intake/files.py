"""The ingest folder: files that are dropped become memories, once each, and every one leaves a manifest (002).

A file is looked at, moved to ``processed``, and written; what cannot be written goes on to
``rejected``. Which files are on their way is noted before the first one moves, so that a restart in
the middle finishes them.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from graphmem.adapters.drop_folder import (
    NotPlainError,
    drop,
    dropped,
    free_place,
    is_being_written,
    move,
    plain_size,
    read_json,
    read_plain,
    signature,
    write_json,
)
from graphmem.adapters.workspaces import Workspace, Workspaces
from graphmem.errors import (
    Conflict,
    Forbidden,
    IngestDisabled,
    StoreUnavailable,
)
from graphmem.gateway.claims import source_claim
from graphmem.intake.file_checks import check_file, check_upload_name, rejected_name
from graphmem.intake.file_forms import SourceFile
from graphmem.intake.file_writing import FileWriter
from graphmem.intake.manifests import (
    PROCESSED_ENDING,
    REJECTION_ENDING,
    Manifest,
    RejectedError,
    RejectionCode,
    accepted,
    rejected,
)
from graphmem.intake.taking import TakenFile, TakingNote
from graphmem.model.caller import Caller, Role
from graphmem.model.policy import MemoryConfig
from graphmem.model.space import Space
from graphmem.ports import Events
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies

log = logging.getLogger(__name__)

Signature = tuple[int, int, int]

SCAN_MAX_FILES = 1_000  # in one scan
_BATCH_FILES, _BATCH_BYTES = 64, 8 * 1024 * 1024  # that are on their way together
_TRIES_MAX = 3
_HTTP_LOCK_SECONDS, WORKER_LOCK_SECONDS = 2.0, 30.0
_LET_GO_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What became of the files of a scan.

    ``waiting`` are still being written, ``left`` were not looked at yet.
    """

    manifests: tuple[Manifest, ...] = ()
    waiting: tuple[str, ...] = ()
    left: int = 0

    def count(self, status: str) -> int:
        """How many files have a status."""
        return sum(manifest.status == status for manifest in self.manifests)


class Ingest:
    """Takes in dropped files."""

    def __init__(
        self,
        writer: FileWriter,
        memories: Memories,
        *,
        workspaces: Workspaces,
        policies: SpacePolicies,
        events: Events,
        is_away: Callable[[], bool],
        is_open: Callable[[Path], bool] = is_being_written,
        read: Callable[[Path], bytes] = read_plain,
        move_file: Callable[[Path, Path], None] = move,
    ) -> None:
        self._writer = writer
        self._memories = memories
        self._workspaces = workspaces
        self._policies = policies
        self._events = events
        self._is_away = is_away  # whether the store does not answer at all
        self._is_open = is_open
        self._read = read
        self._move_file = move_file

    def upload(self, space: Space, name: str, content: str, *, caller: Caller) -> Manifest:
        """Drop a file and take it in.

        Raises:
            Forbidden: the key may not write there; MemoryDisabled, IngestDisabled.
            Conflict: a file of that name is being written, or the folder is busy.
            StoreUnavailable: the database does not answer; the file is taken in later.
        """
        config = self._checked(space, caller)
        workspace = self._workspaces.of(space)
        workspace.create()
        data = content.encode("utf-8", "surrogatepass")
        with self._locked(workspace, seconds=_HTTP_LOCK_SECONDS):
            try:
                check_upload_name(name)
                check_file(name, len(data), config)
            except RejectedError as problem:
                kept = workspace.memory / f".{uuid4().hex}.part"
                kept.write_bytes(data)
                return self._reject(space, workspace, kept, name, name, problem)[0]
            target = workspace.ingest / name
            if os.path.lexists(target):
                self._take(space, workspace, [target], config, caller)
            try:
                drop(workspace.ingest, name, data, parts=workspace.processed)
            except FileExistsError as error:
                message = f"Something of the name {name} is in the folder and cannot be taken in yet: try again later."
                raise Conflict(message) from error
            done = self._take(space, workspace, [target], config, caller, is_ours=True)
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
            Forbidden: the key may not write there; MemoryDisabled, IngestDisabled.
            Conflict: the folder is busy.
            StoreUnavailable: the database does not answer; the next scan goes on.
        """
        config = self._checked(space, caller)
        workspace = self._workspaces.of(space)
        workspace.create()
        found = dropped(workspace.ingest)
        done: list[Scan] = []
        tried: set[str] = set()
        for batch in ([], *_batches(found[:limit])):  # the first is only to finish what was begun
            if batch and must_stop():
                break
            with self._locked(workspace, seconds=lock_seconds):
                done.append(
                    self._take(
                        space, workspace, batch, config, caller, tried=tried, must_stop=must_stop
                    )
                )
            watch(done[-1])
            time.sleep(_LET_GO_SECONDS)  # longer than others wait before they look again
        return Scan(
            manifests=tuple(manifest for scan in done for manifest in scan.manifests),
            waiting=tuple(name for scan in done for name in scan.waiting),
            left=max(0, len(found) - limit),
        )

    def _checked(self, space: Space, caller: Caller) -> MemoryConfig:
        if not caller.may(Role.WRITER, space):
            raise Forbidden
        self._policies.check_enabled(space)
        config = self._policies.of(space).memory
        if not config.ingest.enabled:
            raise IngestDisabled
        return config

    @contextmanager
    def _locked(self, workspace: Workspace, *, seconds: float) -> Iterator[None]:
        """One process at a time works on a folder; others wait so long."""
        try:
            with FileLock(workspace.memory / ".ingest.lock", timeout=seconds):
                yield
        except Timeout as error:
            message = "Another process is taking in files of this orchestrator: try again later."
            raise Conflict(message) from error

    def _take(
        self,
        space: Space,
        workspace: Workspace,
        paths: Sequence[Path],
        config: MemoryConfig,
        caller: Caller,
        *,
        is_ours: bool = False,
        tried: set[str] | None = None,
        must_stop: Callable[[], bool] = lambda: False,
    ) -> Scan:
        """Finish what was begun, then take in some dropped files, all that can be.

        Nobody writes to ``ours``.

        What is in ``tried``, by name, was tried in this pass already.
        """
        note = TakingNote(workspace.memory / ".taking.json")
        manifests, left = self._finish(
            space, workspace, note, caller, set() if tried is None else tried, must_stop
        )
        waiting: list[str] = []
        ready: list[tuple[SourceFile, Signature]] = []
        for path in paths:
            try:
                size = plain_size(path)
                if not is_ours and self._is_open(path):
                    waiting.append(path.name)
                    continue
                check_file(path.name, size, config)
                seen = signature(path)
                ready.append(
                    (
                        SourceFile(dropped_at=str(path), path=str(path), content=self._read(path)),
                        seen,
                    )
                )
            except FileNotFoundError:
                continue  # gone meanwhile
            except NotPlainError as error:
                problem = RejectedError(RejectionCode.INVALID_SOURCE_PATH, str(error))
                manifests += self._reject(space, workspace, path, path.name, str(path), problem)
            except RejectedError as problem:
                manifests += self._reject(space, workspace, path, path.name, str(path), problem)
        taken = self._move(space, workspace, note, ready, left)
        self._writer.write(space, taken, caller)
        concluded = [
            manifest for each in taken for manifest in self._concluded(space, workspace, each)
        ]
        note.write(left)
        return Scan(manifests=(*manifests, *concluded), waiting=tuple(waiting))

    def _finish(
        self,
        space: Space,
        workspace: Workspace,
        note: TakingNote,
        caller: Caller,
        tried: set[str],
        must_stop: Callable[[], bool],
    ) -> tuple[list[Manifest], list[TakenFile]]:
        """Finish the files that were on their way when a process ended.

        One that the store refuses holds up no other.

        Gives their manifests, and the files that are to be tried again. A try is noted before it
        begins, so that one which ends the process counts too.
        """
        manifests: list[Manifest] = []
        left: list[TakenFile] = []
        waiting = [each for each in note.read(workspace.processed) if _is_under_way(each)]
        while waiting:
            each = waiting.pop(0)
            if each.place.name in tried or must_stop():
                left.append(each)
                continue
            tried.add(each.place.name)
            each.tries += 1
            note.write([*left, each, *waiting])
            try:
                self._try_again(space, each, caller)
            except StoreUnavailable:
                if self._is_away():
                    each.tries -= 1
                    note.write([*left, each, *waiting])
                    raise
                if each.tries < _TRIES_MAX:
                    left.append(each)
                    continue
                each.problem = _given_up()
            manifests += self._concluded(space, workspace, each)
            note.write([*left, *waiting])
        return manifests, left

    def _try_again(self, space: Space, taken: TakenFile, caller: Caller) -> None:
        if taken.tries > _TRIES_MAX:  # it ended the process each time
            taken.problem = _given_up()
            return
        try:
            taken.file = replace(taken.file, content=self._read(taken.place))
            self._writer.write(space, [taken], caller)
        except NotPlainError as error:
            taken.problem = RejectedError(RejectionCode.INVALID_SOURCE_PATH, str(error))

    def _move(
        self,
        space: Space,
        workspace: Workspace,
        note: TakingNote,
        ready: Sequence[tuple[SourceFile, Signature]],
        left: Sequence[TakenFile],
    ) -> list[TakenFile]:
        """Move files to where processed ones lie; which ones is noted first.

        One that cannot be moved stays.
        """
        if not ready:
            return []
        known = self._known(space, workspace, [file for file, _ in ready])
        taken: list[TakenFile] = []
        for file, _ in ready:
            name = Path(file.dropped_at).name
            place = free_place(workspace.processed, name, with_ending=PROCESSED_ENDING)
            is_known = file.idempotency_key in known
            taken.append(
                TakenFile(file=replace(file, path=str(place)), place=place, is_known=is_known)
            )
        note.write([*left, *taken])
        moved: list[TakenFile] = []
        for each, (_, seen) in zip(taken, ready, strict=True):
            try:
                self._move_file(Path(each.file.dropped_at), each.place)
                if (
                    signature(each.place) != seen
                ):  # another version came in between reading and moving
                    each.file, each.is_known = (
                        replace(each.file, content=self._read(each.place)),
                        False,
                    )
            except (OSError, NotPlainError) as error:
                log.warning("a dropped file could not be moved: %s", type(error).__name__)
                continue
            moved.append(each)
        return moved

    def _known(self, space: Space, workspace: Workspace, files: Sequence[SourceFile]) -> set[str]:
        """The idempotency keys of those files that were taken in before."""
        claims = {
            source_claim(space, file.source(0).key or ""): file.idempotency_key for file in files
        }
        known = {claims[claim] for claim in self._memories.known_claims(claims)}
        without_memories = (file for file in files if file.idempotency_key not in known)
        return known | {
            file.idempotency_key for file in without_memories if _has_manifest(file, workspace)
        }

    def _concluded(self, space: Space, workspace: Workspace, taken: TakenFile) -> list[Manifest]:
        """Leave the manifest of a file, and an event."""
        key, dropped_at = taken.file.idempotency_key, taken.file.dropped_at
        if taken.problem:
            name = Path(dropped_at).name
            return self._reject(
                space, workspace, taken.place, name, dropped_at, taken.problem, key=key
            )
        manifest = accepted(
            taken.place.name,
            key,
            is_duplicate=taken.is_known,
            memories=taken.memories,
            edges=taken.edges,
        )
        write_json(_manifest_of(taken.place), manifest.values)
        self._events.emit(
            "memory.ingest.duplicate" if taken.is_known else "memory.ingest.processed",
            space,
            file=manifest.file,
            idempotency_key=key,
            memories_written=taken.memories,
            edges_written=taken.edges,
        )
        return [manifest]

    def _reject(
        self,
        space: Space,
        workspace: Workspace,
        path: Path,
        name: str,
        source_path: str,
        problem: RejectedError,
        *,
        key: str | None = None,
    ) -> list[Manifest]:
        """Move a file to the rejected ones, its manifest first.

        None where it is gone, or is a folder.
        """
        if path.is_dir() and not path.is_symlink():
            return []
        place = free_place(workspace.rejected, rejected_name(name), with_ending=REJECTION_ENDING)
        manifest = rejected(place.name, source_path, problem, key=key)
        beside = place.with_name(f"{place.name}{REJECTION_ENDING}")
        write_json(beside, manifest.values)
        try:
            self._move_file(path, place)
        except FileNotFoundError:
            beside.unlink(missing_ok=True)
            return []
        self._events.emit(
            "memory.ingest.rejected", space, file=manifest.file, reason_code=problem.code.value
        )
        return [manifest]


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


def _is_under_way(taken: TakenFile) -> bool:
    """Whether it was moved, and not finished."""
    return os.path.lexists(taken.place) and not _manifest_of(taken.place).exists()


def _given_up() -> RejectedError:
    message = f"The store could not take it in, {_TRIES_MAX} times."
    return RejectedError(RejectionCode.REPOSITORY_ERROR, message)


def _has_manifest(file: SourceFile, workspace: Workspace) -> bool:
    """Whether a manifest says that a file was taken in, which is all that is known of one without memories."""
    name = Path(file.dropped_at).name
    for number in count():
        manifest = read_json(
            _manifest_of(workspace.processed / (f"{name}.{number}" if number else name))
        )
        if not isinstance(manifest, dict):
            return False
        if manifest.get("idempotencyKey") == file.idempotency_key:
            return True
    return False


def _manifest_of(place: Path) -> Path:
    return place.with_name(f"{place.name}{PROCESSED_ENDING}")
