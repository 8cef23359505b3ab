"""Event log: events of orchestrators as JSON lines, on standard output and in memory.log (002)."""

import json
import logging
import sys
import threading
from pathlib import Path

from cachetools import LRUCache
from concurrent_log_handler import ConcurrentRotatingFileHandler

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import GraphmemError
from graphmem.model.space import FIRST_TENANT, Space
from graphmem.ports import Clock
from graphmem.text.secrets import without_secrets
from graphmem.text.times import iso

log = logging.getLogger(__name__)

_MAX_BYTES = 5 * 1024 * 1024
_KEPT_FILES = 5
_OPEN_FILES = 64


class _OpenFiles(LRUCache[Path, ConcurrentRotatingFileHandler]):
    """The files that were written to last; one that goes is closed."""

    def popitem(self) -> tuple[Path, ConcurrentRotatingFileHandler]:
        path, file = super().popitem()
        file.close()
        return path, file


class EventLog:
    """Writes events.

    Several processes may write to one file; it rotates at 5 MB and five old ones are kept.
    """

    def __init__(self, workspaces: Workspaces, *, clock: Clock) -> None:
        self._workspaces = workspaces
        self._clock = clock
        self._lock = threading.Lock()
        self._files = _OpenFiles(_OPEN_FILES)

    def emit(self, event: str, space: Space, **fields: object) -> None:
        """Write an event of an orchestrator, to its file only if its memory folder is there.

        An event that cannot be written stops nothing.
        """
        line = {
            "timestamp": iso(self._clock.now()),
            "event": event,
            "orchestrator_id": space.owner,
            **without_secrets(fields),
        }
        if space.tenant != FIRST_TENANT:
            line["tenant"] = space.tenant
        text = json.dumps(line, default=str)
        try:
            with self._lock:
                sys.stdout.write(text + "\n")
                sys.stdout.flush()
                if file := self._file(self._workspaces.of(space.without_persona).log):
                    file.handle(
                        logging.LogRecord("graphmem.events", logging.INFO, "", 0, text, None, None)
                    )
        except (OSError, ValueError, GraphmemError) as error:
            log.warning("the event %s could not be written: %s", event, type(error).__name__)

    def close(self) -> None:
        """Close the files; another event opens them again."""
        with self._lock:
            while self._files:
                self._files.popitem()

    def _file(self, path: Path) -> ConcurrentRotatingFileHandler | None:
        if path not in self._files:
            if not path.parent.is_dir():
                return None
            file = ConcurrentRotatingFileHandler(
                path, maxBytes=_MAX_BYTES, backupCount=_KEPT_FILES, encoding="utf-8"
            )
            file.setFormatter(logging.Formatter("%(message)s"))
            self._files[path] = file
        return self._files[path]
