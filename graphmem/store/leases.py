"""Leases: what only one process may do at a time. One that dies loses its lease when the time is up."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from graphmem.errors import Conflict
from graphmem.ports import Clock
from graphmem.store.connection import Connection

_WAIT_SECONDS = 0.25


def take_lease(connection: Connection, name: str, *, holder: str, clock: Clock, seconds: float) -> bool:
    """Take or renew a lease; says whether it is ours now."""
    now = clock.now()
    rows = connection.run(
        "service.take_lease", name=name, holder=holder, now=now, expires_at=now + timedelta(seconds=seconds)
    )
    return bool(rows)


def release_lease(connection: Connection, name: str, *, holder: str) -> None:
    """Give a lease back."""
    connection.run("service.release_lease", name=name, holder=holder)


@contextmanager
def waited_lease(
    connection: Connection, name: str, *, holder: str, clock: Clock, seconds: float, wait_seconds: float
) -> Iterator[None]:
    """Hold a lease, waiting for it while another process has it.

    Raises:
        Conflict: it was not to be had in time.
    """
    deadline = time.monotonic() + wait_seconds
    while not take_lease(connection, name, holder=holder, clock=clock, seconds=seconds):
        if time.monotonic() > deadline:
            msg = f"Another process has held the lease {name!r} for more than {wait_seconds:.0f} s."
            raise Conflict(msg)
        time.sleep(_WAIT_SECONDS)
    try:
        yield
    finally:
        release_lease(connection, name, holder=holder)
