"""Ingest pass: dropped files become memories, once each, and every one leaves a manifest (002).

A file is looked at, moved to ``processed``, and written; what cannot be written goes on to
``rejected``. The journal names the files on their way before the first one moves, so that a restart
in the middle finishes them.
"""

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphmem.adapters.drop_folder import (
    NotPlainError,
    free_path,
    is_being_written,
    move,
    plain_size,
    read_plain,
    signature,
    write_json,
)
from graphmem.adapters.workspaces import Workspace
from graphmem.errors import StoreUnavailable
from graphmem.gateway.claims import source_claim
from graphmem.intake.file_checks import check_file, rejected_name
from graphmem.intake.file_parsers import SourceFile
from graphmem.intake.file_writer import FileWriter
from graphmem.intake.in_flight import InFlight, TakenFile
from graphmem.intake.manifests import (
    PROCESSED_ENDING,
    REJECTION_ENDING,
    Manifest,
    RejectedError,
    RejectionCode,
    accepted,
    beside,
    rejected,
)
from graphmem.model.policy import MemoryConfig
from graphmem.model.space import Space
from graphmem.ports import Events
from graphmem.store.memories import Memories

log = logging.getLogger(__name__)

_TRIES_MAX = 3


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


@dataclass(frozen=True, kw_only=True, slots=True)
class FileAccess:
    """How dropped files are looked at, read and moved."""

    is_open: Callable[[Path], bool] = is_being_written
    read: Callable[[Path], bytes] = read_plain
    move: Callable[[Path, Path], None] = move


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestPass:
    """Takes in files of one orchestrator, and tries each unfinished one at most once."""

    space: Space
    workspace: Workspace
    config: MemoryConfig
    journal: InFlight
    writer: FileWriter
    memories: Memories
    events: Events
    files: FileAccess
    is_away: Callable[[], bool]  # whether the store does not answer at all
    must_stop: Callable[[], bool] = lambda: False
    tried: set[str] = field(default_factory=set)

    def take(self, paths: Iterable[Path], *, is_ours: bool = False) -> Scan:
        """Finish what was begun, then take in some dropped files, all that can be.

        ``is_ours``: nobody else writes to them.
        """
        manifests, left = self._finish()
        waiting: list[str] = []
        ready: list[TakenFile] = []
        for path in paths:
            try:
                if found := self._look(path, is_ours=is_ours):
                    ready.append(found)
                else:
                    waiting.append(path.name)
            except FileNotFoundError:
                continue  # gone meanwhile
            except RejectedError as problem:
                manifests += self.reject(path, str(path), problem)
        taken = self._move(ready, left)
        self.writer.write(taken)
        for each in taken:
            manifests += self._conclude(each)
        self.journal.write(left)
        return Scan(manifests=tuple(manifests), waiting=tuple(waiting))

    def reject(
        self,
        path: Path,
        source_path: str,
        problem: RejectedError,
        *,
        name: str = "",
        key: str | None = None,
    ) -> list[Manifest]:
        """Move a file to the rejected ones, its manifest first.

        There is no manifest of a folder, or of a file that is gone.
        """
        if path.is_dir() and not path.is_symlink():
            return []
        name = rejected_name(name or Path(source_path).name)
        target = free_path(self.workspace.rejected / name, with_ending=REJECTION_ENDING)
        manifest = rejected(target.name, source_path, problem, key=key)
        written = beside(target, REJECTION_ENDING)
        write_json(written, manifest.values)
        try:
            self.files.move(path, target)
        except FileNotFoundError:
            written.unlink(missing_ok=True)
            return []
        self.events.emit(
            "memory.ingest.rejected",
            self.space,
            file=manifest.file,
            reason_code=problem.code.value,
        )
        return [manifest]

    def _finish(self) -> tuple[list[Manifest], list[TakenFile]]:
        """Finish the files that were on their way when a process ended.

        Gives their manifests, and the files that are to be tried again.
        """
        manifests: list[Manifest] = []
        left = [each for each in self.journal.read() if _is_under_way(each)]
        for each in tuple(left):
            if each.path.name in self.tried or self.must_stop():
                continue
            self.tried.add(each.path.name)
            if self._try_again(each, left):
                manifests += self._conclude(each)
                left.remove(each)
                self.journal.write(left)
        return manifests, left

    def _try_again(self, taken: TakenFile, left: Sequence[TakenFile]) -> bool:
        """Whether a file is done with after another try.

        The try is noted before it begins, so that one which ends the process counts too.
        """
        taken.tries += 1
        self.journal.write(left)
        try:
            if taken.tries <= _TRIES_MAX:  # else it ended the process each time
                taken.file = replace(taken.file, content=self.files.read(taken.path))
                self.writer.write([taken])
                return True
        except NotPlainError as error:
            taken.problem = _not_plain(error)
            return True
        except StoreUnavailable:
            if self.is_away():
                taken.tries -= 1
                self.journal.write(left)
                raise
            if taken.tries < _TRIES_MAX:
                return False
        taken.problem = RejectedError(
            RejectionCode.REPOSITORY_ERROR,
            f"The store could not take it in, {_TRIES_MAX} times.",
        )
        return True

    def _look(self, path: Path, *, is_ours: bool) -> TakenFile | None:
        """A dropped file and what it holds; None where it is still being written."""
        try:
            size = plain_size(path)
            if not is_ours and self.files.is_open(path):
                return None
            check_file(path.name, size, self.config)
            seen = signature(path)
            file = SourceFile(dropped_at=str(path), path=str(path), content=self.files.read(path))
        except NotPlainError as error:
            raise _not_plain(error) from error
        return TakenFile(file=file, path=path, signature=seen)

    def _move(self, ready: Sequence[TakenFile], left: Sequence[TakenFile]) -> list[TakenFile]:
        """Move files to where processed ones lie, noted in the journal first; some may stay."""
        if not ready:
            return []
        known = self._known([each.file for each in ready])
        for each in ready:
            each.is_known = each.file.idempotency_key in known
            target = self.workspace.processed / each.path.name
            each.path = free_path(target, with_ending=PROCESSED_ENDING)
            each.file = replace(each.file, path=str(each.path))
        self.journal.write([*left, *ready])
        return [each for each in ready if self._is_moved(each)]

    def _is_moved(self, taken: TakenFile) -> bool:
        """Whether a file could be moved; another version may have come since it was read."""
        try:
            self.files.move(Path(taken.file.dropped_at), taken.path)
            if signature(taken.path) != taken.signature:
                taken.file = replace(taken.file, content=self.files.read(taken.path))
                taken.is_known = False
        except (OSError, NotPlainError) as error:
            log.warning("a dropped file could not be moved: %s", type(error).__name__)
            return False
        return True

    def _known(self, files: Sequence[SourceFile]) -> set[str]:
        """The idempotency keys of those files that were taken in before."""
        claims = {
            source_claim(self.space, file.source(0).key or ""): file.idempotency_key
            for file in files
        }
        known = {claims[claim] for claim in self.memories.known_claims(claims)}
        keys = {file.idempotency_key for file in files} - known
        return known | {key for key in keys if _empty_mark(self.workspace, key).exists()}

    def _conclude(self, taken: TakenFile) -> list[Manifest]:
        """Leave the manifest of a file, and an event."""
        key = taken.file.idempotency_key
        if taken.problem:
            return self.reject(taken.path, taken.file.dropped_at, taken.problem, key=key)
        manifest = accepted(
            taken.path.name,
            key,
            is_duplicate=taken.is_known,
            memories=taken.memories,
            edges=taken.edges,
        )
        if not (taken.memories or taken.is_known):
            mark = _empty_mark(self.workspace, key)
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
        write_json(beside(taken.path, PROCESSED_ENDING), manifest.values)
        self.events.emit(
            "memory.ingest.duplicate" if taken.is_known else "memory.ingest.processed",
            self.space,
            file=manifest.file,
            idempotency_key=key,
            memories_written=taken.memories,
            edges_written=taken.edges,
        )
        return [manifest]


def _is_under_way(taken: TakenFile) -> bool:
    """Whether it was moved, and not finished."""
    return os.path.lexists(taken.path) and not beside(taken.path, PROCESSED_ENDING).exists()


def _not_plain(error: NotPlainError) -> RejectedError:
    return RejectedError(RejectionCode.INVALID_SOURCE_PATH, str(error))


def _empty_mark(workspace: Workspace, key: str) -> Path:
    """What says that a file of this idempotency key was taken in and no memories came of it."""
    return workspace.processed / ".without_memories" / key
