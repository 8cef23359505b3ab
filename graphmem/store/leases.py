"""Leases: what only one process may do at a time.

A holder renews its lease; one that dies loses it soon.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from graphmem.errors import Conflict, StoreUnavailable
from graphmem.ports import Clock
from graphmem.retries import attempts
from graphmem.store.connection import Connection

log = logging.getLogger(__name__)

_WAIT_SECONDS = 0.25
_BEATS = 4  # renewals within the time of a lease
_WATCH_SECONDS = 0.5  # how often somebody who waits is shown how far it is


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A lease as it was found: whether it is ours now, and else who has it."""

    is_ours: bool
    holder: str


def take_lease(
    connection: Connection, name: str, *, holder: str, clock: Clock, seconds: float
) -> Lease:
    """Take or renew a lease."""
    now = clock.now()
    rows = connection.run(
        "service.take_lease",
        name=name,
        holder=holder,
        now=now,
        expires_at=now + timedelta(seconds=seconds),
    )
    return Lease(is_ours=rows[0]["holder"] == holder, holder=rows[0]["holder"])


def lease_holder(connection: Connection, name: str, *, clock: Clock) -> str | None:
    """Who holds a lease now, if anybody does."""
    rows = connection.fetch("service.lease_holder", name=name, now=clock.now())
    return rows[0]["holder"] if rows else None


def release_lease(connection: Connection, name: str, *, holder: str) -> None:
    """Give a lease back."""
    connection.run("service.release_lease", name=name, holder=holder)


class Heartbeat:
    """Renews a lease from a thread while its holder works, and says when it was lost."""

    def __init__(
        self,
        connection: Connection,
        name: str,
        *,
        holder: str,
        clock: Clock,
        seconds: float,
        on_beat: Callable[[], None] | None = None,
        watch: Callable[[], None] | None = None,
    ) -> None:
        self._connection = connection
        self._name = name
        self._holder = holder
        self._clock = clock
        self._seconds = seconds
        self._on_beat = on_beat
        self._watch = watch
        self._ended = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"lease {name}", daemon=True)

    @property
    def is_lost(self) -> bool:
        """Whether somebody else has the lease, or it could not be renewed in time."""
        return self._lost.is_set()

    def __enter__(self) -> Self:
        """Begin to renew."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Renew no longer; the lease stays as it is."""
        self._ended.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        """Renew until it is ended.

        Whatever goes wrong, the holder learns that the lease is no longer sure.
        """
        try:
            self._renew()
        except Exception:
            log.exception("the lease %s is renewed no longer", self._name)
            self._lost.set()

    def _renew(self) -> None:
        pause = self._seconds / _BEATS
        renewed = time.monotonic()
        due = renewed + pause
        while not self._ended.wait(_WATCH_SECONDS if self._watch else pause):
            if self._watch:
                self._show()
                if time.monotonic() < due:
                    continue
            due = time.monotonic() + pause
            try:
                lease = take_lease(
                    self._connection,
                    self._name,
                    holder=self._holder,
                    clock=self._clock,
                    seconds=self._seconds,
                )
                if self._on_beat:
                    self._on_beat()
            except (
                Conflict,
                RuntimeError,
                StoreUnavailable,
            ):  # RuntimeError: the counts grew while they were read
                log.warning("the lease %s could not be renewed", self._name)
                if time.monotonic() - renewed > self._seconds:
                    self._lost.set()
                continue
            if not lease.is_ours:
                self._lost.set()
                return
            renewed = time.monotonic()

    def _show(self) -> None:
        try:
            if self._watch:
                self._watch()
        except RuntimeError:  # the counts grew while they were read: the next time will do
            return


@contextmanager
def waited_lease(
    connection: Connection,
    name: str,
    *,
    holder: str,
    clock: Clock,
    seconds: float,
    wait_seconds: float,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Hold a lease, waiting for it while another process has it.

    ``on_wait`` is told each holder that it waits for, once.

    Raises:
        Conflict: it was not to be had in time.
    """
    told = ""
    for attempt in attempts(Conflict, seconds=wait_seconds, pause=_WAIT_SECONDS):
        with attempt:
            lease = take_lease(connection, name, holder=holder, clock=clock, seconds=seconds)
            if not lease.is_ours:
                if lease.holder != told:
                    told = lease.holder
                    on_wait(told)
                msg = f"Another process has held the lease {name!r} for {wait_seconds:.0f} s."
                raise Conflict(msg)
    try:
        yield
    finally:
        release_lease(connection, name, holder=holder)
