"""A small process that runs one command and ends it when its owner is gone.

    python -m graphmem.adapters.process_guard GRACE_SECONDS command…

The owner holds the other end of the guard's standard input. End of file means that the owner is
gone or wants a stop: the command gets SIGTERM and, GRACE_SECONDS later, everything in its process
group SIGKILL. SIGTERM to the guard is passed on without such a deadline. Standard library only, so
that it starts at once.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
OWNER_CHECK_SECONDS = 1.0
COMMAND_NOT_FOUND = 127


def dies_with(guard_pid: int) -> Callable[[], None] | None:
    """Return what the child does before exec, so that it ends even when the guard is killed."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)  # loaded before the fork: the child must not allocate much

    def ask_kernel() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guard_pid:  # the guard died before the kernel knew
            os._exit(1)

    return ask_kernel


def wait_for_owner_to_leave(owner_pid: int) -> None:
    """Return at end of file, or when the owner is dead and only a fork holds the pipe."""
    while os.getppid() == owner_pid:
        readable, _, _ = select.select([0], [], [], OWNER_CHECK_SECONDS)
        if readable and not os.read(0, 4096):
            return


def end_with_owner(child: subprocess.Popen[bytes], owner_pid: int, grace_seconds: float) -> None:
    """Stop the child when the owner has left, politely first."""
    wait_for_owner_to_leave(owner_pid)
    child.terminate()
    try:
        child.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # the child, what it started, and this guard
        child.kill()


def guard(command: list[str], grace_seconds: float) -> int:
    """Run the command to its end and return its exit status, as a shell would give it."""
    owner_pid = os.getppid()
    # This thread starts the child and lives as long as the guard: the kernel ties the child to the
    # thread.
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=dies_with(os.getpid()),  # noqa: PLW1509, there is only this thread yet
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: child.terminate())
    threading.Thread(
        target=end_with_owner, args=(child, owner_pid, grace_seconds), daemon=True
    ).start()
    status = child.wait()
    return status if status >= 0 else 128 - status


def main() -> None:
    """Read the command line and guard."""
    grace_seconds, *command = sys.argv[1:]
    try:
        sys.exit(guard(command, float(grace_seconds)))
    except OSError as problem:
        sys.stderr.write(f"{command[0]} cannot be started: {problem}\n")
        sys.exit(COMMAND_NOT_FOUND)


if __name__ == "__main__":
    main()
