"""Memory of the server: whether it had too little to open its database, how much more to give."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_TOLD = re.compile(rb"OutOfMemoryError|MemoryLimitExceeded|Java heap space")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_TIMES, _LEAST = 4, 1 << 30  # how much larger, and how large at least


def machine_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def larger_heap(heap: str, machine: int) -> str | None:
    """Four times a heap such as 384m, at least 1g, at most half of a machine's bytes.

    None where that is no more than the heap, or the heap is none.
    """
    found = re.fullmatch(r"(\d+)([kmg]?)", heap.lower())
    if found is None:
        return None
    present = int(found[1]) * _UNITS[found[2]]
    wanted = min(max(_TIMES * present, _LEAST), machine // 2)
    return f"{wanted >> 20}m" if wanted > present else None


@dataclass(frozen=True, kw_only=True, slots=True)
class LogTails:
    """The logs of a folder from where they ended at some moment."""

    folder: Path
    ends: Mapping[str, int]

    @classmethod
    def of(cls, folder: Path) -> "LogTails":
        """What will be said from now on."""
        logs = folder.glob("*.log")
        return cls(folder=folder, ends={each.name: each.stat().st_size for each in logs})

    def tell_of_little_memory(self) -> bool:
        """Whether a log says meanwhile that there was too little memory."""
        return any(_TOLD.search(self._said(each)) for each in self.folder.glob("*.log"))

    def _said(self, path: Path) -> bytes:
        with path.open("rb") as log:
            end = self.ends.get(path.name, 0)
            log.seek(end if end <= path.stat().st_size else 0)  # a log may have been put away
            return log.read()
