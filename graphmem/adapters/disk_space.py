"""Disk space: how much is left where the embedded server keeps its files, and what writing needs.

A database that finds its disk full in the middle of a write stops for good, so nothing is written
any more while there is still some room.
"""

import shutil
import time
from pathlib import Path

from graphmem.errors import DiskLow

MIB = 1024 * 1024
_ASKED_SECONDS = 0.5  # how long an answer counts


class DiskSpace:
    """The room on the disk of a folder; below ``low_mib`` writing is refused, 0 never."""

    def __init__(self, folder: Path, *, low_mib: int) -> None:
        self._folder = folder
        self._low_mib = low_mib
        self._free_mib = 0
        self._asked_until = 0.0

    @property
    def free_mib(self) -> int:
        """How many MiB are free, half a second ago at the latest."""
        if time.monotonic() > self._asked_until:
            present = next(each for each in (self._folder, *self._folder.parents) if each.exists())
            self._free_mib = shutil.disk_usage(present).free // MIB
            self._asked_until = time.monotonic() + _ASKED_SECONDS
        return self._free_mib

    def check(self) -> None:
        """Return where there is room to write.

        Raises:
            DiskLow: there is not.
        """
        if self.free_mib < self._low_mib:
            message = (
                f"The disk is nearly full: {self.free_mib} MiB are free, writing needs"
                f" {self._low_mib}. Recalls go on; make room, and writing goes on by itself."
            )
            raise DiskLow(message)
