"""Embedded Neo4j: a Community server as a child, with its own data folder and local ports."""

import errno
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

import platformdirs
from filelock import FileLock, Timeout
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DatabaseUnavailable, DriverError, Neo4jError

from graphmem.adapters.embedded.aot_cache import AotCache, AotTraining
from graphmem.adapters.embedded.browser import Browser, browser_settings, find_browser
from graphmem.adapters.embedded.command import Neo4jCommand, set_first_password
from graphmem.adapters.embedded.home import Neo4jHome, RunningServer, configuration
from graphmem.adapters.embedded.jars import fetch_jars, jars_in, packaged_lock
from graphmem.adapters.embedded.java import find_java
from graphmem.adapters.embedded.memory import LogTails, larger_heap, machine_bytes
from graphmem.adapters.embedded.output import why_it_ended
from graphmem.adapters.guarded_process import GuardedProcess
from graphmem.adapters.tcp import HOST, check_port
from graphmem.errors import EmbeddedServerError

log = logging.getLogger(__name__)

USER = "neo4j"
DATABASE = "neo4j"  # the last one to come online: the server is ready when it answers
READY_SECONDS = 120
PAUSE_SECONDS = 0.1
GRACE_SECONDS = 20
PREVIOUS_SERVER_SECONDS = 25  # its guard kills it after the grace
TRAINING_DELAY_SECONDS = 30
WRONG_PASSWORD_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class EmbeddedOptions:
    """How the server is run.

    None means: no HTTP connector, the user's cache, Maven Central, no ready-made jars, any Java.
    ``browser_api`` is the address of the API for the pages of Neo4j Browser; None: no Browser.
    """

    folder: Path
    bolt_port: int = 7688
    http_port: int | None = 7475
    browser_api: str | None = None
    heap: str = "512m"
    pagecache: str = "128m"
    cache_folder: Path | None = None
    maven_url: str | None = None
    jars_folder: Path | None = None
    java_home: str | None = None
    extra_flags: tuple[str, ...] = ()
    extra_settings: tuple[str, ...] = ()
    train_cache: bool = True


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where the server answers."""

    uri: str
    user: str
    password: str = field(repr=False)
    http_url: str | None
    browser_url: str | None = None
    log_path: Path


class ServerEndedError(EmbeddedServerError):
    """The embedded Neo4j was prepared and started, and ended or never answered."""


class EmbeddedNeo4j:
    """The server of one data folder; it ends when this process ends, however that happens."""

    def __init__(
        self, options: EmbeddedOptions, *, has_failed: Callable[[Endpoint], bool] = lambda _: False
    ) -> None:
        self.options = options
        self._has_failed = has_failed  # a server that answers, but cannot open its database
        self._home = Neo4jHome(options.folder)
        # not tied to a thread: one may start the server and another stop it
        self._lock = FileLock(self._home.lock_path, timeout=0, thread_local=False)
        self._process: GuardedProcess | None = None
        self._endpoint: Endpoint | None = None
        self._training: AotTraining | None = None
        self._browser = Browser()

    def start(self) -> Endpoint:
        """Start the server and return when it answers; the very first time this fetches its jars.

        Raises EmbeddedServerError with one sentence that says what is in the way.
        """
        if self._endpoint and self.is_running():
            return self._endpoint
        self.stop()  # what is left of a server that died
        try:
            self._endpoint = self._start()
        except OSError as problem:
            self.stop()
            raise EmbeddedServerError(file_problem(problem, self._home.folder)) from problem
        except BaseException:
            self.stop()
            raise
        return self._endpoint

    def stop(self) -> None:
        """Stop the server and give the folder free; harmless when nothing runs."""
        if self._training:
            self._training.cancel()
        if self._process:
            self._home.withdraw()
            self._process.stop()
        self._training = self._process = self._endpoint = None
        self._lock.release()

    def rotate_log(self) -> None:
        """Put the log of the process away where it has grown too large."""
        if self._process:
            self._process.rotate_log()

    @property
    def has_store(self) -> bool:
        """Whether there is a database from an earlier start."""
        return self._home.has_store

    def is_running(self) -> bool:
        """Whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def endpoint(self) -> Endpoint | None:
        """Where it answers, once it was started."""
        return self._endpoint

    @property
    def browser_problem(self) -> str | None:
        """Why Neo4j Browser is not served although it is wanted."""
        return self._browser.problem

    def __enter__(self) -> Endpoint:
        """Start the server."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.stop()

    def _start(self) -> Endpoint:
        """Become the owner of the folder, prepare what is missing and start the process."""
        options, home = self.options, self._home
        self._take_folder()
        for port in filter(None, (options.bolt_port, options.http_port)):
            check_port(port)
        cache_folder = options.cache_folder or Path(platformdirs.user_cache_dir("graphmem"))
        java, jars = find_java(options.java_home), jars_for(options, cache_folder)
        self._browser = browser_for(options, cache_folder)
        browser_jar = self._browser.jar
        command = Neo4jCommand(
            java=java,
            jars=tuple(jars),
            heap=options.heap,
            extra_jars=(browser_jar,) if browser_jar else (),
            extra_flags=options.extra_flags,
        )
        endpoint = endpoint_for(options, home, has_browser=browser_jar is not None)
        if not home.has_store:
            set_first_password(home, command, endpoint.password)
        cache = AotCache(cache_folder, command)
        self._run_with_enough_memory(command, cache, endpoint)
        if options.train_cache and cache.is_wanted:
            self._training = AotTraining(cache, wait_until_ready, TRAINING_DELAY_SECONDS)
            self._training.start()
        return endpoint

    def _take_folder(self) -> None:
        """Lock the data folder, wait for the server of a dead owner to go, and configure."""
        options, home = self.options, self._home
        home.make_folder()
        try:
            self._lock.acquire()
        except Timeout as problem:
            message = f"The data folder {home.folder} is in use by the process {home.owner_pid()}."
            raise EmbeddedServerError(message) from problem
        home.claim()
        home.withdraw()
        home.check_room()
        end = time.monotonic() + PREVIOUS_SERVER_SECONDS
        while not home.is_free():
            if time.monotonic() > end:
                message = f"Another Neo4j has the data folder {home.folder} open."
                raise EmbeddedServerError(message)
            time.sleep(PAUSE_SECONDS)
        home.configure(
            configuration(
                bolt_port=options.bolt_port,
                http_port=options.http_port,
                pagecache=options.pagecache,
                extra=(*browser_lines(options), *options.extra_settings),
            )
        )

    def _run_with_enough_memory(
        self, command: Neo4jCommand, cache: AotCache, endpoint: Endpoint
    ) -> None:
        """Run the server; once more with a larger heap where it could not open what is stored.

        Recovery after a full disk or a kill may need more memory than the server does. It keeps the
        larger heap until its next start.
        """
        logs = LogTails.of(self._home.log_path.parent)
        larger = larger_heap(command.heap, machine_bytes())
        try:
            self._run(command, cache, endpoint)
        except ServerEndedError:
            if larger is None or not self._home.has_store or not logs.tell_of_little_memory():
                raise
            log.warning(
                "Neo4j had too little memory (%s) to open its database; it tries with %s",
                command.heap,
                larger,
            )
            if self._process:
                self._process.stop()
            self._run(replace(command, heap=larger), cache, endpoint)

    def _run(self, command: Neo4jCommand, cache: AotCache, endpoint: Endpoint) -> None:
        """Start the process and tell others when it answers."""
        process = GuardedProcess(
            command.server(self._home, cache.flags),
            log_path=endpoint.log_path,
            env=command.environment(self._home),
            grace_seconds=GRACE_SECONDS,
        )
        self._process = process
        process.start()
        wait_until_ready(
            endpoint.uri, endpoint.password, process, has_failed=lambda: self._has_failed(endpoint)
        )
        self._home.announce(
            RunningServer(
                owner_pid=os.getpid(),
                guard_pid=process.pid,
                uri=endpoint.uri,
                http_url=endpoint.http_url,
                started_at=time.time(),
                browser_url=endpoint.browser_url,
            )
        )


def attach(folder: Path) -> Endpoint | None:
    """Return the server that another process runs on the folder, or None when nothing answers."""
    home = Neo4jHome(folder)
    server, password = home.announced(), home.password()
    if server is None or password is None:
        return None
    try:
        ask(server.uri, password)
    except (DriverError, Neo4jError):
        return None
    return Endpoint(
        uri=server.uri,
        user=USER,
        password=password,
        http_url=server.http_url,
        browser_url=server.browser_url,
        log_path=home.log_path,
    )


def endpoint_for(
    options: EmbeddedOptions, home: Neo4jHome, *, has_browser: bool = False
) -> Endpoint:
    """Return where the server will answer, with a new password on the very first start."""
    http_url = None if options.http_port is None else f"http://{HOST}:{options.http_port}"
    return Endpoint(
        uri=f"bolt://{HOST}:{options.bolt_port}",
        user=USER,
        password=home.password_or_new(),
        http_url=http_url,
        browser_url=f"{http_url}/browser/" if has_browser else None,
        log_path=home.log_path,
    )


def jars_for(options: EmbeddedOptions, cache_folder: Path) -> list[Path]:
    """Return the jars: the given ones, or those of the cache."""
    lock = packaged_lock()
    if options.jars_folder:
        return jars_in(options.jars_folder.absolute(), lock)
    return fetch_jars(cache_folder.absolute() / f"neo4j-{lock.version}", lock, options.maven_url)


def browser_for(options: EmbeddedOptions, cache_folder: Path) -> Browser:
    """Return the Browser where it is wanted and there is a port to serve it at."""
    if options.browser_api is None or options.http_port is None:
        return Browser()
    return find_browser(
        cache_folder.absolute(), jars_folder=options.jars_folder, maven_url=options.maven_url
    )


def browser_lines(options: EmbeddedOptions) -> tuple[str, ...]:
    """Return the lines of the configuration for Neo4j Browser."""
    if options.browser_api is None or options.http_port is None:
        return ()
    return browser_settings(bolt_port=options.bolt_port, api_url=options.browser_api)


def wait_until_ready(
    uri: str,
    password: str,
    process: GuardedProcess,
    *,
    has_failed: Callable[[], bool] = lambda: False,
) -> None:
    """Return when the database answers.

    Raises:
        EmbeddedServerError: the process ends, takes too long, cannot open its database or has
            another password.
    """
    end = time.monotonic() + READY_SECONDS
    refusals = 0
    while True:
        try:
            ask(uri, password)
        except AuthError as problem:
            refusals += 1
            if refusals == WRONG_PASSWORD_TRIES:
                message = "The embedded Neo4j refuses the password of its password file."
                raise EmbeddedServerError(message) from problem
        except DatabaseUnavailable as problem:
            if has_failed():
                message = (
                    "Neo4j cannot open its database: its files are damaged (log:"
                    f" {process.log_path})."
                )
                raise ServerEndedError(message) from problem
        except (DriverError, Neo4jError):
            pass
        else:
            return
        if process.poll() is not None:
            message = (
                f"Neo4j did not start: {why_it_ended(process.output())} (log: {process.log_path})"
            )
            raise ServerEndedError(message)
        if time.monotonic() > end:
            message = (
                f"Neo4j did not answer within {READY_SECONDS} seconds (log: {process.log_path})."
            )
            raise ServerEndedError(message)
        time.sleep(PAUSE_SECONDS * (1 + 10 * refusals))


def ask(uri: str, password: str) -> None:
    """Ask the database once; retries would hide that the process has ended."""
    with GraphDatabase.driver(
        uri,
        auth=(USER, password),
        connection_timeout=1,
        max_transaction_retry_time=0,
        telemetry_disabled=True,
    ) as driver:
        driver.execute_query("RETURN 1", database_=DATABASE)


def file_problem(problem: OSError, folder: Path) -> str:
    """Say in a sentence why the data folder cannot be used."""
    if problem.errno == errno.ENOSPC:
        return f"The disk is full: the embedded Neo4j cannot write to {folder}."
    return f"The embedded Neo4j cannot use {folder}: {problem.strerror or problem}."
