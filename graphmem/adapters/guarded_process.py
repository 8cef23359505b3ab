"""A child process that never outlives its owner."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO

from graphmem.adapters import process_guard

log = logging.getLogger(__name__)

LARGEST_LOG_BYTES = 10_000_000
LOG_FILES = 10  # with the present one
POLL_SECONDS = 0.05
# the guard kills at the end of the grace; the owner only when the guard itself does not come to an
# end
GUARD_SECONDS = 2.0


class GuardedProcess:
    """One command under a guard process, in its own session, with a log file."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log_path: Path,
        env: Mapping[str, str] | None = None,
        grace_seconds: float = 20,
    ) -> None:
        self.command = tuple(command)
        self.log_path = log_path
        self.env = env
        self.grace_seconds = grace_seconds
        self._guard: subprocess.Popen[bytes] | None = None
        self._log_offset = 0

    def start(self) -> None:
        """Start the guard, and through it the command. Works from any thread."""
        # By file and isolated: needs neither our package on the path nor the time to import it.
        guard = (sys.executable, "-I", "-S", process_guard.__file__, str(self.grace_seconds))
        with self._open_log() as log:
            self._guard = subprocess.Popen(
                (*guard, *self.command),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self.env,
                start_new_session=True,
            )

    @property
    def pid(self) -> int | None:
        """The process id of the guard."""
        return self._guard.pid if self._guard else None

    def poll(self) -> int | None:
        """Return the exit status of the command, or None while it runs."""
        return self._guard.poll() if self._guard else None

    def output(self) -> str:
        """Return what the command has written to the log since it was started."""
        with self.log_path.open("rb") as log:
            log.seek(self._log_offset)
            return log.read().decode(errors="replace")

    def terminate(self) -> None:
        """Ask the command to end, without waiting and without a deadline."""
        if self._guard and self._guard.poll() is None:
            self._guard.terminate()

    def stop(self) -> None:
        """End the command: politely, and by force when the grace is over."""
        if self._guard is None:
            return
        if self._guard.stdin:
            self._guard.stdin.close()
        try:
            self._guard.wait(self.grace_seconds + GUARD_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        if self._guard.returncode < 0:
            self._end_orphans()

    def kill(self) -> None:
        """End the command, all that it started and the guard at once."""
        if self._guard is None:
            return
        if self._guard.poll() is None or self._guard.returncode < 0:
            self._group_signal(signal.SIGKILL)
        if self._guard.stdin:
            self._guard.stdin.close()
        self._guard.wait()

    def _end_orphans(self) -> None:
        """Wait for a command whose guard was killed; it got SIGTERM from the kernel."""
        end = time.monotonic() + self.grace_seconds
        while time.monotonic() < end and self._group_signal(0):
            time.sleep(POLL_SECONDS)
        self._group_signal(signal.SIGKILL)

    def _group_signal(self, number: int) -> bool:
        """Send a signal to the guard's process group; false when the group is empty."""
        if self._guard is None:
            return False
        try:
            os.killpg(self._guard.pid, number)
        except ProcessLookupError:
            return False
        return True

    def rotate_log(self) -> None:
        """Put a log that has grown too large away as the newest of the old ones.

        It is copied and emptied, because the command goes on writing to the same file; what it says
        in between is lost. Where there is no room for a copy it goes on growing.
        """
        if not self.log_path.exists() or self.log_path.stat().st_size <= LARGEST_LOG_BYTES:
            return
        part = self.log_path.with_name(f"{self.log_path.name}.part")
        try:
            shutil.copy(self.log_path, part)
        except OSError as error:
            part.unlink(missing_ok=True)
            log.warning("%s is not put away: %s", self.log_path, type(error).__name__)
            return
        names = [self.log_path.with_name(f"{self.log_path.name}.{n}") for n in range(1, LOG_FILES)]
        for name, next_name in reversed(list(pairwise(names))):
            if name.exists():
                name.replace(next_name)
        part.replace(names[0])
        os.truncate(self.log_path, 0)
        self._log_offset = 0

    def _open_log(self) -> IO[bytes]:
        """Append to the log."""
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        self.rotate_log()
        log = self.log_path.open("ab")
        self._log_offset = log.tell()
        return log
