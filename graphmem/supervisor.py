"""The supervisor behind ``graphmem up``: Neo4j, the API and the jobs as its children.

A child that dies is started again; whatever ends this process ends the children.
"""

import json
import logging
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from types import FrameType

import click

from graphmem.adapters.embedded.server import USER, EmbeddedNeo4j, ServerEndedError
from graphmem.adapters.guarded_process import GuardedProcess
from graphmem.adapters.tcp import HOST, check_port
from graphmem.bootstrap import build, embedder_of
from graphmem.database import (
    admin_key,
    admin_key_path,
    connect,
    database_password_path,
    disk_space,
    embedded_server,
    has_panicked,
    make_private,
)
from graphmem.errors import (
    DiskLow,
    EmbeddedServerError,
    GraphmemError,
    StoreLoginRefused,
    StoreUnavailable,
)
from graphmem.settings import Settings

log = logging.getLogger(__name__)

_READY_SECONDS = 180.0
_POLL_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_CHILD_GRACE_SECONDS = 12.0
_PREPARE_SECONDS = 5.0  # between two tries
_LOGS_SECONDS = 10.0
_PANIC_SECONDS = 5.0  # between two looks at a database that may have panicked
_STEADY_SECONDS = 60.0  # a child that lives so long may die again without a pause


class Supervisor:
    """Runs the whole service in the foreground."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server: EmbeddedNeo4j | None = None
        self._children: dict[str, GuardedProcess] = {}
        self._pauses: dict[str, float] = {}
        self._stop = threading.Event()
        self._is_starting = True  # a signal then interrupts what is being waited for
        self._is_prepared = False  # the database answered and has our schema
        self._had_store = False  # the embedded one, before this start
        self._prepare_after = 0.0
        self._panic_looked_for = 0.0
        self._logs_looked_at = 0.0

    def run(self) -> None:
        """Start everything, say where it is, keep it running until a signal comes, stop everything.

        Raises:
            GraphmemError: something could not be started.
        """
        os.umask(0o077)  # what any of its processes writes is this user's alone
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        try:
            self._start()
            self._is_starting = False
            while not self._stop.wait(_POLL_SECONDS):
                self._revive()
                self._rotate_logs()
        except _StoppedError:
            pass
        finally:
            self._stop_all()

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if self._stop.is_set():
            return  # already stopping: let it finish
        self._stop.set()
        log.info("signal %s", signal.Signals(number).name)
        if self._is_starting:
            raise _StoppedError  # not even a download is waited for

    def _start(self) -> None:
        check_port(self._settings.server.port)
        make_private(self._settings.server.data_dir)
        admin_key(self._settings)
        try:
            self._start_database()
        except StoreUnavailable as error:
            if not self._is_worth_waiting(error):
                raise
            click.echo(
                f"{error.message}\nUntil it is back, memory calls are answered with 503.", err=True
            )
            self._spawn_all()
            return
        if "api" not in self._children or self._children["api"].poll() is not None:
            self._spawn("api")  # a first download may take longer than it waits
        self._wait_ready()
        self._announce()
        # jobs last: nobody waits for them, and the start is short of processor time
        self._spawn_all()

    def _start_database(self) -> None:
        if self._settings.neo4j.uri is None:
            click.echo("Starting Neo4j …", err=True)
            self._server = embedded_server(self._settings, for_people=True)
            self._had_store = self._server.has_store
            self._spawn("api")  # it loads while Neo4j starts, and waits for it
            self._server.start()
        self._check_stop()
        self._prepare()

    def _is_worth_waiting(self, error: StoreUnavailable) -> bool:
        """Whether a database may come back: it was there before, or it is somebody else's."""
        if isinstance(error, StoreLoginRefused):
            return False
        if isinstance(error, EmbeddedServerError):
            return isinstance(error, ServerEndedError) and self._had_store
        return True

    def _spawn_all(self) -> None:
        for name in ("api", "jobs"):
            if name not in self._children:
                self._spawn(name)

    def _prepare(self) -> None:
        """Bring the schema up to date, and see that there is a key."""
        connection = connect(self._settings)
        try:
            graphmem = build(self._settings, connection, embedder=embedder_of(self._settings))
            graphmem.prepare(report=lambda text: click.echo(f"{text} …", err=True))
            graphmem.keys.ensure_admin(admin_key(self._settings))
        finally:
            connection.close()
        self._is_prepared = True

    def _spawn(self, name: str) -> None:
        child = GuardedProcess(
            (sys.executable, "-m", name),
            log_path=self._settings.server.data_dir / "logs" / f"{name}.log",
            # threads that embed would each get a malloc arena of their own, which never gives
            # memory back
            env={"MALLOC_ARENA_MAX": "2", **os.environ},
            grace_seconds=_CHILD_GRACE_SECONDS,
        )
        child.start()
        self._children[name] = child

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not self._is_ready():
            self._check_stop()
            for name, child in self._children.items():
                if child.poll() is not None:
                    msg = f"The {name} process ended: {_last_line(child.output())}"
                    raise EmbeddedServerError(msg)
            if time.monotonic() > deadline:
                msg = (
                    f"The API is not ready after {_READY_SECONDS:.0f} s; see"
                    f" {self._children['api'].log_path}."
                )
                raise EmbeddedServerError(msg)
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        url = f"{self._settings.server.url}/health/ready"
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - our own
                return bool(json.load(answer)["status"] == "ok")
        except (OSError, urllib.error.URLError, ValueError):
            return False

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise _StoppedError

    def _rotate_logs(self) -> None:
        if time.monotonic() < self._logs_looked_at + _LOGS_SECONDS:
            return
        self._logs_looked_at = time.monotonic()
        for child in self._children.values():
            child.rotate_log()
        if self._server:
            self._server.rotate_log()

    def _revive(self) -> None:
        """Start again what has died, at growing intervals while it keeps dying."""
        if self._server and not self._server.is_running():
            self._again("neo4j", self._server.start)
        elif self._server and self._has_stopped_for_good():
            self._again("neo4j", self._restart_database)
        for name, child in list(self._children.items()):
            if child.poll() is not None:
                self._again(name, partial(self._spawn, name))
        if not self._is_prepared and time.monotonic() > self._prepare_after:
            self._prepare_late()
            self._prepare_after = time.monotonic() + _PREPARE_SECONDS

    def _has_stopped_for_good(self) -> bool:
        """Whether the database panicked: its process lives, but it takes nothing any more.

        A full disk does that; it is not worth a restart before there is room again.
        """
        if self._server is None or time.monotonic() < self._panic_looked_for:
            return False
        self._panic_looked_for = time.monotonic() + _PANIC_SECONDS
        try:
            disk_space(self._settings).check()
        except DiskLow:
            return False
        return self._server.endpoint is not None and has_panicked(self._server.endpoint)

    def _restart_database(self) -> None:
        if self._server:
            self._server.stop()
            self._server.start()

    def _prepare_late(self) -> None:
        """What the start could not do while the database was away."""
        self._is_starting = True
        try:
            self._prepare()
        except StoreUnavailable:
            return
        except GraphmemError as error:
            log.error("the database cannot be prepared: %s", error.message)  # noqa: TRY400 - one sentence says it
            return
        except Exception:
            log.exception("the database cannot be prepared")
            return
        finally:
            self._is_starting = False
        self._announce()

    def _again(self, name: str, start: Callable[[], object]) -> None:
        pause = self._pauses.get(name, 0.0)
        self._pauses[name] = min(max(pause * 2, 1.0), _LONGEST_PAUSE_SECONDS)
        log.warning("%s ended and is started again in %.0f s", name, pause)
        if self._stop.wait(pause):
            return
        self._is_starting = True
        try:
            start()
        except GraphmemError as error:
            log.error("%s could not be started: %s", name, error.message)  # noqa: TRY400 - one sentence says it
        else:
            timer = threading.Timer(_STEADY_SECONDS, self._pauses.pop, (name, None))
            timer.daemon = True
            timer.start()
        finally:
            self._is_starting = False

    def _stop_all(self) -> None:
        for name in ("api", "jobs"):
            if name in self._children:
                self._children.pop(name).stop()
        if self._server:
            self._server.stop()

    def _announce(self) -> None:
        lines = ready_lines(self._settings, browser=browser_line(self._server))
        click.echo("\n".join(lines), err=True)


def browser_line(server: EmbeddedNeo4j | None) -> str | None:
    """Where Neo4j Browser is, or why it is not served; nothing where nobody wants it."""
    if server is None:
        return None
    address = server.endpoint.browser_url if server.endpoint else None
    return address or server.browser_problem


def ready_lines(settings: Settings, *, browser: str | None = None) -> list[str]:
    """The text once everything runs: addresses, and where secrets lie, but no secret.

    ``browser`` is the address of Neo4j Browser, or why there is none.
    """
    neo4j, url = settings.neo4j, settings.server.url
    if neo4j.uri:
        address, login = neo4j.uri, f"{neo4j.user}, password in the settings"
    else:
        address = f"bolt://{HOST}:{neo4j.bolt_port}"
        login = f"{USER}, password in {database_password_path(settings)}"
    lines = [
        "",
        f"graphmem is ready at {url}",
        f"  API docs   {url}/docs/",
        (
            "  admin key "
            f" {'GRAPHMEM_API_KEY' if settings.server.api_key else admin_key_path(settings)}"
        ),
        f"  data       {settings.server.data_dir}",
        f"  Neo4j      {address}",
        f"  its login  {login}",
        *([f"  Browser    {browser}"] if browser else []),
        "  the graph  docs/neo4j-browser.md says how to look at it",
        "  Ctrl-C stops it all.",
    ]
    if not settings.server.auth:
        lines.insert(
            1, "WARNING: authentication is off: anyone who reaches this port may do everything."
        )
    return lines


class _StoppedError(Exception):
    """A signal came while the service was starting."""


def _last_line(output: str) -> str:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing."
