"""Serving: one process, a loop that reads and threads that answer; it holds no state."""

import logging
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from flask import Flask
from waitress import wasyncore

from api.app import create_app
from api.connections import adjustments, listen
from api.dispatching import FairDispatcher
from api.observability import count_refused
from api.readiness import Readiness
from graphmem.adapters.disk_space import MIB
from graphmem.bootstrap import Graphmem, build, embedder_of, wait_until_prepared
from graphmem.database import connection_of
from graphmem.errors import GraphmemError, ModelUnavailable, StoreUnavailable
from graphmem.ports import Embedder
from graphmem.settings import Settings

log = logging.getLogger(__name__)

_GRACE_SECONDS = 10
_SENDING_SECONDS = 2.0
_AGAIN_SECONDS = 5.0  # until a database that does not fit is looked at again


def serve(settings: Settings) -> None:
    """Serve the API until the process is told to stop."""
    signal.signal(signal.SIGTERM, _stop)
    server = settings.server
    app = _app(settings)
    adjusted = adjustments(
        host=server.host,
        port=server.port,
        threads=server.threads,
        connections=server.connections,
        header_seconds=server.header_seconds,
        body_seconds=server.body_seconds,
        body_bytes=server.body_max_mib * MIB,
        needs_key=server.auth,
        count_refused=partial(count_refused, app),
    )
    # without keys all callers are one
    most = max(1, server.threads * 3 // 4) if server.auth else server.threads
    dispatcher = FairDispatcher(server.threads, most=most)
    loop = listen(app, adjusted, dispatcher)
    try:
        wasyncore.loop(adjusted.asyncore_loop_timeout, use_poll=True, map=loop)
    except (SystemExit, KeyboardInterrupt):
        log.info("the API stops")
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # a second one would cut this off
        dispatcher.shutdown(timeout=_GRACE_SECONDS)
        _send_the_rest(loop)
        app.extensions["graphmem"].close()  # writes down its last recalls


def _send_the_rest(loop: dict[int, Any]) -> None:
    """Send what was answered and not yet sent, for a moment."""
    end = time.monotonic() + _SENDING_SECONDS
    while time.monotonic() < end and any(
        getattr(each, "total_outbufs_len", 0) for each in loop.values()
    ):
        wasyncore.loop(0.1, use_poll=True, map=loop, count=1)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit


def _app(settings: Settings) -> Flask:
    """The app; calls are let in when the database is there."""
    embedder = embedder_of(settings)
    threading.Thread(target=_load, args=(embedder,), daemon=True).start()
    graphmem = build(settings, connection_of(settings), embedder=embedder)
    readiness = Readiness.closed()
    threading.Thread(target=open_when_ready, args=(graphmem, readiness), daemon=True).start()
    return create_app(graphmem, readiness)


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
