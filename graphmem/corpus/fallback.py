"""Fallback: what the store did not take lies in a file, until somebody restores it (000)."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from graphmem.corpus.edits import Edit, edit_of
from graphmem.errors import StoreUnavailable
from graphmem.model.space import Space, space_from_key

_EDITS_MAX = 200  # of a session


class StoreAway(StoreUnavailable):
    """The graph store does not answer: NOT PERSISTED."""

    def __init__(self, *, is_kept: bool) -> None:
        super().__init__()
        self.is_kept = is_kept


@dataclass(frozen=True, kw_only=True)
class Fallback:
    """The files of sessions whose edits or pushes the store did not take."""

    folder: Path
    _lock: Lock = field(default_factory=Lock)

    def keep(self, space: Space, session: str, edit: Edit, *, is_push: bool = False) -> bool:
        """Keep an edit behind those that are there; whether there was room and a disk for it."""
        with self._lock:
            try:
                kept = self._read(space, session)
                if len(kept["edits"]) >= _EDITS_MAX:
                    return False
                kept["edits"].append(edit.shown)
                kept["has_failed"] = kept["has_failed"] or is_push
                self._write(space, session, kept)
            except (OSError, ValueError):
                return False
        return True

    def edits(self, space: Space, session: str) -> Sequence[Edit]:
        """What was kept of a session, the first first."""
        with self._lock:
            return [edit_of(each) for each in self._read(space, session)["edits"]]

    def drop(self, space: Space, session: str, count: int) -> None:
        """Forget the first of what was kept, once it is in the draft."""
        with self._lock:
            kept = self._read(space, session)
            kept["edits"] = kept["edits"][count:]
            if kept["edits"] or kept["has_failed"]:
                self._write(space, session, kept)
            else:
                self._path(space, session).unlink(missing_ok=True)

    def failed(self) -> Iterator[tuple[Space, str]]:
        """The sessions with a push whose failure is not recorded yet."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                kept = json.loads(path.read_text("utf-8"))
                if kept["has_failed"]:
                    yield space_from_key(kept["space"]), kept["session"]
            except (OSError, ValueError, KeyError):
                continue

    def recorded(self, space: Space, session: str) -> None:
        """Note that the failure of a push is recorded."""
        with self._lock:
            kept = self._read(space, session)
            kept["has_failed"] = False
            if kept["edits"]:
                self._write(space, session, kept)
            else:
                self._path(space, session).unlink(missing_ok=True)

    def _read(self, space: Space, session: str) -> dict[str, Any]:
        path = self._path(space, session)
        if not path.exists():
            return {"space": space.key, "session": session, "has_failed": False, "edits": []}
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
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
