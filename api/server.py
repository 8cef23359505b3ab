"""Serving: gunicorn with one worker process and its threads; workers hold no state."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from api.app import create_app
from api.readiness import Readiness
from api.worker import REQUEST_LINE_BYTES, JsonWorker
from graphmem.bootstrap import Graphmem, build, embedder_of, wait_until_prepared
from graphmem.database import connection_of
from graphmem.errors import GraphmemError, ModelUnavailable, StoreUnavailable
from graphmem.ports import Embedder
from graphmem.settings import Settings

log = logging.getLogger(__name__)

_KEEP_ALIVE_SECONDS = 75
_GRACE_SECONDS = 10
_AGAIN_SECONDS = 5.0  # until a database that does not fit is looked at again


class _Server(BaseApplication):  # type: ignore[misc]
    """gunicorn, told in code what its command line would say."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        super().__init__()

    def load_config(self) -> None:
        """What gunicorn is told."""
        server = self._settings.server
        options: dict[str, Any] = {
            "bind": f"{server.host}:{server.port}",
            "workers": 1,
            "worker_class": JsonWorker,
            "limit_request_line": REQUEST_LINE_BYTES,
            "threads": server.threads,
            "keepalive": _KEEP_ALIVE_SECONDS,
            "graceful_timeout": _GRACE_SECONDS,
            "timeout": 240,  # longer than a worker may wait for the database
            "loglevel": "warning",
            "proc_name": "graphmem-api",
            "worker_exit": _close,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """The app, built in the worker: drivers and models do not survive a fork."""
        embedder = embedder_of(self._settings)
        threading.Thread(target=_load, args=(embedder,), daemon=True).start()
        graphmem = build(self._settings, connection_of(self._settings), embedder=embedder)
        readiness = Readiness.closed()
        threading.Thread(target=open_when_ready, args=(graphmem, readiness), daemon=True).start()
        return create_app(graphmem, readiness)


def serve(settings: Settings) -> None:
    """Serve the API until the process is told to stop."""
    _Server(settings).run()


def _close(_server: object, worker: Any) -> None:  # noqa: ANN401 - gunicorn's
    """Let a worker that stops write down its last recalls."""
    if isinstance(app := getattr(worker, "wsgi", None), Flask):
        app.extensions["graphmem"].close()


def _load(embedder: Embedder) -> None:
    """Load the model while the database starts."""
    try:
        embedder.embed_query("load")
    except ModelUnavailable as reason:
        log.warning("the embedder does not answer: %s", reason.message)


def open_when_ready(
    graphmem: Graphmem,
    readiness: Readiness,
    *,
    wait: Callable[..., None] = wait_until_prepared,
    again_seconds: float = _AGAIN_SECONDS,
) -> None:
    """Let calls in as soon as the database answers and its schema fits.

    Until then the reason is kept for the calls.
    """
    while True:
        try:
            wait(graphmem, when_away=readiness.close)
            break
        except GraphmemError as reason:
            log.error("the API takes no calls: %s", reason.message)  # noqa: TRY400 - one sentence says it
            readiness.close(reason)
        except Exception as error:
            log.exception("the API takes no calls")
            readiness.close(
                StoreUnavailable(f"The database answers with an error ({type(error).__name__}).")
            )
        time.sleep(again_seconds)
    readiness.open()
    warm_up(graphmem)


def warm_up(graphmem: Graphmem) -> None:
    """Let Neo4j plan the recall queries before the first caller asks; harmless when it is away."""
    try:
        graphmem.warm_up()
    except GraphmemError as reason:
        log.warning("no warm-up: %s", reason.message)
