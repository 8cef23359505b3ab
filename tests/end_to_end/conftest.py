"""A real service: `graphmem up` as a process, its Neo4j, API and jobs below it."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

READY_SECONDS = 180


@dataclass(kw_only=True)
class Service:
    """A running service and the ways to speak to it, hurt it and end it."""

    folder: Path
    port: int
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        self.begin()
        self.wait_ready()

    def begin(self) -> None:
        """Start it."""
        log = (self.folder / "up.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphmem", "up"], env=self.environment, stdout=log, stderr=log
        )
        log.close()

    def wait_ready(self) -> None:
        """Wait until it can serve."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "up.log").read_text()
            try:
                if self.call("GET", "/health/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        message = (self.folder / "up.log").read_text()
        raise TimeoutError(message)

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """One request; the status and the JSON of the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-API-Key": self.key, "Content-Type": "application/json"} | headers,
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    @property
    def key(self) -> str:
        """The first admin key."""
        return self.environment["GRAPHMEM_API_KEY"]

    def children(self, *words: str) -> list[psutil.Process]:
        """The processes below it whose command line has all the words."""
        assert self.process is not None
        below = psutil.Process(self.process.pid).children(recursive=True)
        return [
            child for child in below if all(word in " ".join(command_line(child)) for word in words)
        ]

    def stop(self, number: int = signal.SIGINT) -> list[psutil.Process]:
        """End it by a signal; returns the processes that it leaves behind."""
        assert self.process is not None
        below = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        self.process.wait(60)
        _, alive = psutil.wait_procs(below, timeout=30)
        return alive


def command_line(process: psutil.Process) -> list[str]:
    """The command line of a process, empty when it is gone."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def quiet_port() -> int:
    """A free port outside the range of outgoing connections, so that none of them takes it."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 50):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    message = "There is no free port."
    raise OSError(message)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a folder and ports of its own and the local embedder.

    A lost port is tried once more.
    """
    try:
        started = new_service(tmp_path_factory.mktemp("service"))
    except AssertionError as problem:
        print(f"first try to start: {problem}")  # noqa: T201 - shown when the second fails too
        started = new_service(tmp_path_factory.mktemp("service"))
    yield started
    if started.process and started.process.poll() is None:
        started.stop()


def new_service(folder: Path, *, begin_only: bool = False, **settings: str) -> Service:
    """Start a service in a folder, and wait until it is ready unless that is left to the test."""
    folder.mkdir(exist_ok=True)
    own = {
        "GRAPHMEM_DATA_DIR": str(folder / "data"),
        "GRAPHMEM_PORT": str(quiet_port()),
        "GRAPHMEM_NEO4J_BOLT_PORT": str(quiet_port()),
        "GRAPHMEM_NEO4J_HTTP_PORT": str(quiet_port()),
        "GRAPHMEM_API_KEY": "gm_" + "e" * 40,
        # Java's second compiler does not pay in a server that lives for seconds
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
        **settings,
    }
    started = Service(
        folder=folder, port=int(own["GRAPHMEM_PORT"]), environment=dict(os.environ) | own
    )
    if begin_only:
        started.begin()
    else:
        started.start()
    return started


@pytest.fixture
def service_in() -> Callable[..., AbstractContextManager[Service]]:
    """What starts a service in a folder, with settings of its own, for the time of a test."""

    @contextlib.contextmanager
    def running(folder: Path, **settings: Any) -> Iterator[Service]:
        started = new_service(folder, **settings)
        try:
            yield started
        finally:
            if started.process and started.process.poll() is None:
                started.stop()

    return running
