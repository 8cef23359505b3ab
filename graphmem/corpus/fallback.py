"""Fallback: what the store did not take lies in a file, until somebody restores it (000)."""

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from graphmem.corpus.edits import Edit, edit_of
from graphmem.errors import StoreUnavailable
from graphmem.model.space import Space, space_from_key

log = logging.getLogger(__name__)

_EDITS_MAX = 200  # of a session
_SECONDS = 10  # that one process waits for another


class StoreAway(StoreUnavailable):
    """The graph store does not answer: NOT PERSISTED."""

    def __init__(self, *, is_kept: bool) -> None:
        super().__init__()
        self.is_kept = is_kept


@dataclass(frozen=True, kw_only=True)
class Fallback:
    """The files of sessions whose edits or pushes the store did not take.

    The API and the jobs are processes of their own: one at a time works on the files.
    """

    folder: Path

    def keep(self, space: Space, session: str, edit: Edit) -> bool:
        """Keep an edit behind those that are there; whether there was room and a disk for it."""
        try:
            with self._locked():
                kept = self._read(space, session)
                if len(kept["edits"]) >= _EDITS_MAX:
                    return False
                kept["edits"].append(edit.shown)
                self._write(space, session, kept)
        except (OSError, ValueError):
            return False
        return True

    def mark_failed(self, space: Space, session: str) -> None:
        """Note that a push failed, so that it is recorded as soon as the store is there."""
        try:
            with self._locked():
                self._write(space, session, self._read(space, session) | {"has_failed": True})
        except (OSError, ValueError):
            log.exception("a push that the store did not take cannot be noted")

    def edits(self, space: Space, session: str) -> Sequence[Edit]:
        """What was kept of a session, the first first."""
        return [edit_of(each) for each in self._read(space, session)["edits"]]

    def drop(self, space: Space, session: str, count: int) -> None:
        """Forget the first of what was kept, once it is in the draft."""
        with self._locked():
            kept = self._read(space, session)
            self._left(space, session, kept | {"edits": kept["edits"][count:]})

    def failed(self) -> Iterator[tuple[Space, str]]:
        """The sessions with a push whose failure is not recorded yet."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                kept = json.loads(path.read_text("utf-8"))
                if kept["has_failed"]:
                    yield space_from_key(kept["space"]), kept["session"]
            except (OSError, ValueError, KeyError):
                continue

    def has_failed(self, space: Space, session: str) -> bool:
        """Whether the failure of a push is still to be recorded."""
        return bool(self._read(space, session)["has_failed"])

    def recorded(self, space: Space, session: str) -> None:
        """Note that the failure of a push is recorded."""
        with self._locked():
            self._left(space, session, self._read(space, session) | {"has_failed": False})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder.with_suffix(".lock"), timeout=_SECONDS, mode=0o600):
            yield

    def _left(self, space: Space, session: str, kept: dict[str, Any]) -> None:
        """Write what is left of a file, if anything is."""
        if kept["edits"] or kept["has_failed"]:
            self._write(space, session, kept)
        else:
            self._path(space, session).unlink(missing_ok=True)

    def _read(self, space: Space, session: str) -> dict[str, Any]:
        path = self._path(space, session)
        try:
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return {"space": space.key, "session": session, "has_failed": False, "edits": []}
        return found

    def _write(self, space: Space, session: str, kept: dict[str, Any]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(space, session)
        made = path.with_suffix(".new")
        made.unlink(missing_ok=True)
        handle = os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)

    def _path(self, space: Space, session: str) -> Path:
        name = hashlib.sha256(f"{space.key}\n{session}".encode()).hexdigest()[:32]
        return self.folder / f"{name}.json"
