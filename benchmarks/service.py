"""A service of our own: ``graphmem up`` over a temporary data folder and free loopback ports."""

import contextlib
import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.client import Target
from graphmem.database import connect
from graphmem.settings import load_settings
from graphmem.store.job_runs import JobRuns

_READY_SECONDS = 300.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.2
_FAR_SLOT = 10**9
_HOST = "127.0.0.1"


class ServiceError(Exception):
    """The service did not start."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """A running service: its address, its process, and the settings it was given."""

    target: Target
    process: subprocess.Popen[bytes]
    environment: Mapping[str, str] = field(repr=False)
    log_path: Path


@contextlib.contextmanager
def running_service(
    *,
    heap: str | None = None,
    pagecache: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Service]:
    """Run a service of its own, and remove its data at the end."""
    with tempfile.TemporaryDirectory(
        prefix="graphmem-bench-", ignore_cleanup_errors=True
    ) as folder:
        service = _start(Path(folder), heap=heap, pagecache=pagecache, more=settings or {})
        try:
            _wait_ready(service)
            yield service
        finally:
            stop(service.process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the service as Ctrl-C does, and wait until all of it is gone."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # its guards end the rest
        process.wait()


def jobs_taken_over(service: Service, jobs: Sequence[str]) -> None:
    """Keep the service's own jobs process from running some jobs: their slots are taken."""
    connection = connect(load_settings(service.environment))
    try:
        for job in jobs:
            JobRuns(connection).claim_slot(job, _FAR_SLOT)
    finally:
        connection.close()


def is_ready(target: Target) -> bool:
    """Whether the service says that it is ready, and knows our key."""
    with replace(target, timeout_seconds=10.0).client() as client:
        try:
            statuses = {
                client.call("GET", path).status
                for path in ("/health/ready", "/v1/memories?space=user:none")
            }
        except (OSError, http.client.HTTPException):
            return False
    return statuses == {200}


def _start(
    folder: Path, *, heap: str | None, pagecache: str | None, more: Mapping[str, str]
) -> Service:
    port, bolt_port, http_port = _free_ports(3)
    key = f"gm_{secrets.token_urlsafe(36)}"
    settings = {
        "GRAPHMEM_DATA_DIR": str(folder / "data"),
        "GRAPHMEM_HOST": _HOST,
        "GRAPHMEM_PORT": str(port),
        "GRAPHMEM_NEO4J_BOLT_PORT": str(bolt_port),
        "GRAPHMEM_NEO4J_HTTP_PORT": str(http_port),
        "GRAPHMEM_API_KEY": key,
    }
    sizes = {"GRAPHMEM__NEO4J__HEAP": heap, "GRAPHMEM__NEO4J__PAGECACHE": pagecache}
    settings |= {name: size for name, size in sizes.items() if size} | dict(more)
    log_path = folder / "up.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            (str(Path(sys.executable).with_name("graphmem")), "up"),
            env=_without_settings(os.environ) | settings,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # a Ctrl-C here reaches it once, from us
        )
    target = Target(url=f"http://{_HOST}:{port}", key=key)
    return Service(target=target, process=process, environment=settings, log_path=log_path)


def _without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings of another service, but with those of Java and the jars."""
    kept = {"GRAPHMEM_NEO4J_LIB", "GRAPHMEM_MAVEN_URL", "GRAPHMEM_JAVA_HOME"}
    return {
        name: text
        for name, text in environment.items()
        if not name.startswith("GRAPHMEM_") or name in kept
    }


def _wait_ready(service: Service) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not is_ready(service.target):
        if service.process.poll() is not None or time.monotonic() > deadline:
            msg = (
                "The service did not"
                f" start:\n{service.log_path.read_text('utf-8', 'replace')[-2000:]}"
            )
            raise ServiceError(msg)
        time.sleep(_POLL_SECONDS)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((_HOST, 0))
        return [each.getsockname()[1] for each in sockets]
