"""The ingest folder: files that are dropped become memories, once each, and every one leaves a manifest (002).

A file is looked at, moved to ``processed``, and written; what cannot be written goes on to ``rejected``. Which files
are on their way is noted before the first one moves, so that a restart in the middle finishes them.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from graphmem.adapters.drop_folder import (
    NotPlainError,
    dropped,
    free_place,
    is_being_written,
    move,
    plain_size,
    read_json,
    read_plain,
    write_json,
)
from graphmem.adapters.workspaces import Workspace, Workspaces
from graphmem.errors import (
    Conflict,
    Forbidden,
    GraphmemError,
    IngestDisabled,
    MemoryDisabled,
    PolicyRefused,
    StoreUnavailable,
)
from graphmem.gateway.claims import source_claim
from graphmem.gateway.gateway import Gateway
from graphmem.intake.file_forms import (
    JSON_ENDING,
    TEXT_ENDINGS,
    Extracted,
    SourceFile,
    extract,
)
from graphmem.intake.manifests import Manifest, RejectedError, RejectionCode, accepted, rejected
from graphmem.model.caller import Caller, Role
from graphmem.model.policy import MemoryConfig
from graphmem.model.space import Space
from graphmem.model.writing import WriteReport
from graphmem.ports import Events
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies

SCAN_MAX_FILES = 1_000  # in one scan
_BATCH_FILES, _BATCH_BYTES = 64, 8 * 1024 * 1024  # that are on their way together
_SLICE = 16  # files that share a transaction, while the next ones are embedded
_EMBEDDED_AT_ONCE = 64  # memories of one file; a larger one gets its vectors from the job
_LOCK_SECONDS = 30.0
_MEBIBYTE = 1024 * 1024
_MANIFEST_ENDINGS = (".processed.json", ".rejection.json")


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What became of the files of a scan; ``waiting`` are still being written, ``left`` were not looked at yet."""

    manifests: tuple[Manifest, ...] = ()
    waiting: tuple[str, ...] = ()
    left: int = 0

    def count(self, status: str) -> int:
        """How many files have a status."""
        return sum(manifest.status == status for manifest in self.manifests)


@dataclass(kw_only=True)
class _Taken:
    """A file on its way: as it was dropped, and where it lies now."""

    file: SourceFile
    place: Path
    is_known: bool = False  # it was taken in before
    extracted: Extracted | None = None
    problem: RejectedError | None = None
    written: tuple[int, int] = field(default=(0, 0))  # memories and edges


class Ingest:
    """Takes in dropped files."""

    def __init__(
        self,
        gateway: Gateway,
        memories: Memories,
        *,
        workspaces: Workspaces,
        policies: SpacePolicies,
        events: Events,
    ) -> None:
        self._gateway = gateway
        self._memories = memories
        self._workspaces = workspaces
        self._policies = policies
        self._events = events

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
        with self._locked(workspace):
            self._finish(space, workspace, caller)
            if problem := _name_problem(name):
                return self._keep_rejected(space, workspace, name, data, problem)
            target = workspace.ingest / name
            if target.exists():
                self._take(space, workspace, [target], config, caller)
            if target.exists():
                message = f"A file {name} is being written there: try again later."
                raise Conflict(message)
            part = workspace.memory / f".{name}.part"
            part.write_bytes(data)
            part.replace(target)
            return self._take(space, workspace, [target], config, caller).manifests[0]

    def scan(
        self,
        space: Space,
        *,
        caller: Caller,
        limit: int = SCAN_MAX_FILES,
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
        with self._locked(workspace):
            done = [self._finish(space, workspace, caller)]
        watch(done[0])
        found = dropped(workspace.ingest)
        for batch in _batches(found[:limit]):
            if must_stop():
                break
            with self._locked(workspace):
                done.append(self._take(space, workspace, batch, config, caller))
            watch(done[-1])
        return Scan(
            manifests=tuple(manifest for scan in done for manifest in scan.manifests),
            waiting=tuple(name for scan in done for name in scan.waiting),
            left=max(0, len(found) - limit),
        )

    def _checked(self, space: Space, caller: Caller) -> MemoryConfig:
        if not caller.may(Role.WRITER, space):
            raise Forbidden
        config = self._policies.of(space).memory
        if not config.enabled:
            raise MemoryDisabled
        if not config.ingest.enabled:
            raise IngestDisabled
        return config

    @contextmanager
    def _locked(self, workspace: Workspace) -> Iterator[None]:
        """One process at a time works on a folder."""
        try:
            with FileLock(workspace.memory / ".ingest.lock", timeout=_LOCK_SECONDS):
                yield
        except Timeout as error:
            message = "Another process is taking in files of this orchestrator: try again later."
            raise Conflict(message) from error

    def _take(
        self, space: Space, workspace: Workspace, paths: Sequence[Path], config: MemoryConfig, caller: Caller
    ) -> Scan:
        """Take in some dropped files, all that can be."""
        manifests: list[Manifest] = []
        waiting: list[str] = []
        ready: list[tuple[Path, SourceFile]] = []
        for path in paths:
            try:
                size = plain_size(path)
                if is_being_written(path):
                    waiting.append(path.name)
                    continue
                _check(path, size, config)
                dropped_at = str(path)
                ready.append((path, SourceFile(dropped_at=dropped_at, path=dropped_at, content=read_plain(path))))
            except NotPlainError as error:
                problem = RejectedError(RejectionCode.INVALID_SOURCE_PATH, str(error))
                manifests += self._reject(space, workspace, path, str(path), problem)
            except RejectedError as problem:
                manifests += self._reject(space, workspace, path, str(path), problem)
        known = self._known(space, [file for _, file in ready])
        taken = self._move(workspace, ready, known)
        self._write(space, taken, caller)
        manifests += [self._concluded(space, workspace, each) for each in taken]
        _journal(workspace).unlink(missing_ok=True)
        return Scan(manifests=tuple(sorted(manifests, key=lambda manifest: manifest.file)), waiting=tuple(waiting))

    def _finish(self, space: Space, workspace: Workspace, caller: Caller) -> Scan:
        """Finish the files that were on their way when a process ended."""
        noted = read_json(_journal(workspace))
        begun: list[_Taken] = []
        for dropped_at, moved_to, is_known in noted if isinstance(noted, list) else []:
            place = workspace.processed / Path(moved_to).name
            if not os.path.lexists(place) or _manifest_of(place).exists():
                continue  # it never moved, or it was finished
            file = SourceFile(dropped_at=dropped_at, path=str(place), content=b"")
            each = _Taken(file=file, place=place, is_known=is_known)
            try:
                each.file = replace(file, content=read_plain(place))
            except NotPlainError as error:
                each.problem = RejectedError(RejectionCode.INVALID_SOURCE_PATH, str(error))
            begun.append(each)
        self._write(space, begun, caller)
        manifests = tuple(self._concluded(space, workspace, each) for each in begun)
        _journal(workspace).unlink(missing_ok=True)
        return Scan(manifests=manifests)

    def _known(self, space: Space, files: Sequence[SourceFile]) -> set[str]:
        """The idempotency keys of those files that were taken in before."""
        claims = {source_claim(space, file.source(0).key or ""): file.idempotency_key for file in files}
        return {claims[claim] for claim in self._memories.known_claims(claims)} if claims else set()

    def _move(self, workspace: Workspace, ready: Sequence[tuple[Path, SourceFile]], known: set[str]) -> list[_Taken]:
        """Move files to where processed ones lie; which ones is noted first."""
        taken: list[_Taken] = []
        for path, file in ready:
            place = free_place(workspace.processed, path.name)
            moved = SourceFile(dropped_at=file.dropped_at, path=str(place), content=file.content)
            taken.append(_Taken(file=moved, place=place, is_known=file.idempotency_key in known))
        if taken:
            noted = [[each.file.dropped_at, str(each.place), each.is_known] for each in taken]
            write_json(_journal(workspace), noted, durable=True)
        for each in taken:
            move(Path(each.file.dropped_at), each.place)
        return taken

    def _write(self, space: Space, taken: Sequence[_Taken], caller: Caller) -> None:
        """Write what the files hold: those of one memory together, every other one whole or not at all."""
        for each in taken:
            if not each.is_known and not each.problem:
                try:
                    each.extracted = extract(each.file, space)
                except RejectedError as problem:
                    each.problem = problem
        single = [each for each in taken if each.extracted and _is_single(each.extracted)]
        whole = [each for each in taken if each.extracted and not _is_single(each.extracted)]
        with ThreadPoolExecutor(2) as pool:
            slices = [single[at : at + _SLICE] for at in range(0, len(single), _SLICE)]
            list(pool.map(partial(self._write_singles, caller=caller), slices))
        for each in whole:
            self._write_whole(each, caller)

    def _write_singles(self, taken: Sequence[_Taken], *, caller: Caller) -> None:
        requests = [each.extracted.memories[0] for each in taken if each.extracted]
        report = self._gateway.write(requests, caller=caller)
        for each, result in zip(taken, report.results, strict=True):
            each.written = (1, 0)
            each.problem = _refused(result.error) if result.error else None

    def _write_whole(self, taken: _Taken, caller: Caller) -> None:
        assert taken.extracted is not None  # noqa: S101 - only such files come here
        memories, edges = taken.extracted.memories, taken.extracted.edges
        try:
            report = self._gateway.write(
                memories, edges=edges, caller=caller, atomic=True, with_vectors=len(memories) <= _EMBEDDED_AT_ONCE
            )
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            taken.problem = _refused(error)
            return
        taken.written = (len(memories), len(edges))
        if refusal := _first_error(report):
            taken.problem = _refused(refusal)

    def _concluded(self, space: Space, workspace: Workspace, taken: _Taken) -> Manifest:
        """Leave the manifest of a file, and an event."""
        key = taken.file.idempotency_key
        if taken.problem:
            found = self._reject(space, workspace, taken.place, taken.file.dropped_at, taken.problem, key=key)
            return found[0]
        memories, edges = taken.written
        manifest = accepted(taken.place.name, key, is_duplicate=taken.is_known, memories=memories, edges=edges)
        write_json(_manifest_of(taken.place), manifest.values)
        self._events.emit(
            "memory.ingest.duplicate" if taken.is_known else "memory.ingest.processed",
            space,
            file=manifest.file,
            idempotency_key=key,
            memories_written=memories,
            edges_written=edges,
        )
        return manifest

    def _reject(
        self,
        space: Space,
        workspace: Workspace,
        path: Path,
        source_path: str,
        problem: RejectedError,
        *,
        key: str | None = None,
    ) -> list[Manifest]:
        """Move a file to the rejected ones, its manifest first; none where the file is gone."""
        name = Path(source_path).name.lstrip(".") if key else path.name.lstrip(".")
        place = free_place(workspace.rejected, name or "file")
        manifest = rejected(place.name, source_path, problem, key=key)
        try:
            write_json(place.with_name(f"{place.name}.rejection.json"), manifest.values)
            move(path, place)
        except FileNotFoundError:
            place.with_name(f"{place.name}.rejection.json").unlink(missing_ok=True)
            return []
        self._events.emit("memory.ingest.rejected", space, file=place.name, reason_code=problem.code.value)
        return [manifest]

    def _keep_rejected(
        self, space: Space, workspace: Workspace, name: str, data: bytes, problem: RejectedError
    ) -> Manifest:
        """Keep an uploaded file whose name cannot be one, under a name that can."""
        safe = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._")[:100] or "upload"
        part = workspace.memory / f".{safe}.part"
        part.write_bytes(data)
        target = part.with_name(safe)
        part.replace(target)
        return self._reject(space, workspace, target, name, problem)[0]


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


def _check(path: Path, size: int, config: MemoryConfig) -> None:
    if path.name.startswith("."):
        raise RejectedError(RejectionCode.INVALID_SOURCE_PATH, "Hidden files are not taken in.")
    if path.name.endswith(_MANIFEST_ENDINGS):
        raise RejectedError(RejectionCode.INVALID_SOURCE_PATH, "This is the name of a manifest.")
    limit = config.ingest.max_file_size_mb * _MEBIBYTE
    if size > limit:
        message = f"The file has {size:,} bytes, at most {limit:,} are taken (memory.ingest.max_file_size_mb)."
        raise RejectedError(RejectionCode.FILE_TOO_LARGE, message)
    if path.suffix.lower() not in {*TEXT_ENDINGS, JSON_ENDING}:
        raise RejectedError(RejectionCode.UNSUPPORTED_FILE_TYPE, "Only .txt, .md and .json files are taken in.")


def _name_problem(name: str) -> RejectedError | None:
    """Why a text cannot be the name of a dropped file."""
    is_plain = name not in {"", ".", ".."} and not re.search(r"[/\\\x00-\x1f\x7f]", name)
    if not is_plain or name.startswith("."):
        return RejectedError(RejectionCode.INVALID_SOURCE_PATH, "Must be the plain name of a file, without a folder.")
    if len(name.encode("utf-8", "surrogatepass")) > 200:  # noqa: PLR2004 - leaves room for the manifest's ending
        return RejectedError(RejectionCode.INVALID_SOURCE_PATH, "The name is longer than 200 bytes.")
    return None


def _is_single(extracted: Extracted) -> bool:
    return len(extracted.memories) == 1 and not extracted.edges


def _first_error(report: WriteReport) -> GraphmemError | None:
    """The error that made the others roll back."""
    errors = [result.error for result in report.results if result.error]
    return next((error for error in errors if error.code != "rolled_back"), errors[0] if errors else None)


def _refused(error: GraphmemError) -> RejectedError:
    """What the store refused, and why."""
    reason = f" ({error.reason})" if isinstance(error, PolicyRefused) else ""
    fields = getattr(error, "fields", {})
    detail = "; ".join(f"{path}: {' '.join(texts)}" for path, texts in fields.items())
    return RejectedError(RejectionCode.REPOSITORY_ERROR, detail or f"{error.message}{reason}")


def _journal(workspace: Workspace) -> Path:
    return workspace.memory / ".taking.json"


def _manifest_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.processed.json")
