"""Connections: requests are read in a loop of their own, within limits of size and of time.

No thread waits for a slow sender: a request reaches one when all of it is there. What is wrong with
one before that is answered in the form of all errors.
"""

import json
import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask
from waitress.utilities import (
    BadRequest,
    Error,
    RequestEntityTooLarge,
    RequestHeaderFieldsTooLarge,
)

from api.dispatching import FairDispatcher, sent_key
from api.errors import HTTP_CODES

log = logging.getLogger(__name__)

REQUEST_LINE_BYTES = 32 * 1024  # room for every id that can be written, escaped
HEADER_BYTES = 64 * 1024
_KEYLESS_BYTES = 1 << 20
_CHUNK_LINE_BYTES, _TRAILER_BYTES = 1024, 16 * 1024
_SILENT_SECONDS = 75.0  # a connection on which nothing comes or goes
_SILENT_SECONDS_WHEN_FULL = 1.0
_VERSIONS = ("1.0", "1.1")


class _UriTooLong(Error):  # type: ignore[misc]
    code = HTTPStatus.REQUEST_URI_TOO_LONG.value
    reason = HTTPStatus.REQUEST_URI_TOO_LONG.phrase


class _Body(OverflowableBuffer):  # type: ignore[misc]
    """A body in memory, or in a file when it is large.

    What is beyond the limit is dropped while it is read: who cannot send all never reads an answer.
    """

    def __init__(self, overflow: int, most: int) -> None:
        super().__init__(overflow)
        self._most = most
        self.is_over = False

    def append(self, data: bytes) -> None:
        """Add what came, as long as all fits."""
        self.is_over = self.is_over or len(self) + len(data) > self._most
        if not self.is_over:
            super().append(data)


class Request(HTTPRequestParser):  # type: ignore[misc]
    """A request that is being read."""

    def received(self, data: bytes) -> int:
        """Read what came; says how much of it belongs to this request."""
        begun = b"" if self.headers_finished else self.header_plus + data
        taken: int = super().received(data)
        if self.error is None and self.chunked and self._holds_back():
            self._refuse(BadRequest("chunk"))
        if isinstance(self.error, RequestHeaderFieldsTooLarge) or self.headers_finished:
            line_ends = begun.find(b"\n", 0, REQUEST_LINE_BYTES)
            if line_ends < 0 and len(begun) > REQUEST_LINE_BYTES:
                self._refuse(_UriTooLong(""))
        if self.error is None and self.headers_finished and not self.empty:
            if self.version not in _VERSIONS:
                self._refuse(BadRequest("version"))
            elif self.completed and self._is_too_large:
                self._refuse(RequestEntityTooLarge(""))
        return taken

    def parse_header(self, header_plus: bytes) -> None:
        """Read the first line and the headers."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # an address or a length that is none
            raise ParsingError(str(error)) from error
        if self.body_rcv is not None:
            headers = self.headers
            key = sent_key(headers.get("AUTHORIZATION", ""), headers.get("X_API_KEY", ""))
            most = self.adj.body_bytes if key else self.adj.keyless_bytes
            self.body_rcv.buf = _Body(self.adj.inbuf_overflow, most)

    def _holds_back(self) -> bool:
        """Whether a line between chunks, or what follows the last, has no end in sight.

        The library looks through all of it whenever a part comes.
        """
        body = self.body_rcv
        return len(body.control_line) > _CHUNK_LINE_BYTES or len(body.trailer) > _TRAILER_BYTES

    @property
    def _is_too_large(self) -> bool:
        return self.body_rcv is not None and self.body_rcv.getbuf().is_over

    def _refuse(self, error: Error) -> None:
        self.error = error
        self.completed = True


class _JsonError(ErrorTask):  # type: ignore[misc]
    """The answer to what is no request, or must not become one."""

    def execute(self) -> None:
        """Write the error of the request as JSON, and count it."""
        error = self.request.error
        code, text = HTTP_CODES.get(error.code, ("internal", "Something went wrong."))
        request_id = str(uuid4())
        log.info("refused before the service saw it: %s (%s)", error.code, request_id)
        self.channel.adj.count_refused(error.code)
        detail = {"code": code, "message": text, "request_id": request_id}
        body = json.dumps({"error": detail}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", "application/json"),
            ("X-Request-ID", request_id),
            *getattr(error, "headers", ()),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Connection(HTTPChannel):  # type: ignore[misc]
    """A connection that must have sent its request in some time."""

    parser_class = Request
    error_task_class = _JsonError

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the library's
        self._began = time.monotonic()  # the connection, then each request
        self._has_asked = False
        super().__init__(*args, **options)

    def received(self, data: bytes) -> bool:
        """Read what came."""
        before = self.request
        taken: bool = super().received(data)
        if self.request is not before:
            self._began = time.monotonic()
            self._has_asked = True
        return taken

    def is_late(self, now: float) -> bool:
        """Whether its request should have been here by now."""
        if self.requests or (self.request is None and self._has_asked):
            return False
        is_body = self.request is not None and self.request.headers_finished
        limit = self.adj.body_seconds if is_body else self.adj.header_seconds
        return bool(now - self._began > limit)

    def is_silent(self, now: float, seconds: float) -> bool:
        """Whether nothing is answered on it, and nothing was sent or read for some time."""
        is_answered = self.requests or self.total_outbufs_len
        return not is_answered and now - self.last_activity > seconds


class Server(TcpWSGIServer):  # type: ignore[misc]
    """One address that is listened on."""

    channel_class = Connection

    def maintenance(self, now: float) -> None:
        """Close connections that are late or silent, and refuse calls that waited too long.

        When there are as many as there may be, a silent one makes room for others.
        """
        silent = _SILENT_SECONDS_WHEN_FULL if self.in_connection_overflow else _SILENT_SECONDS
        for channel in list(self.active_channels.values()):
            if channel.is_late(time.monotonic()) or channel.is_silent(now, silent):
                channel.will_close = True
        self.task_dispatcher.refuse_late()


def _count_nothing(_: int) -> None:
    """Nobody counts."""


def adjustments(
    *,
    host: str,
    port: int,
    threads: int,
    connections: int,
    header_seconds: float,
    body_seconds: float,
    body_bytes: int,
    needs_key: bool = False,
    count_refused: Callable[[int], None] = _count_nothing,
) -> Adjustments:
    """What the library and the classes here are told.

    ``count_refused`` is told the status of each answer that the app did not give.
    """
    made = Adjustments(
        host=host,
        port=port,
        threads=threads,
        connection_limit=connections,
        max_request_header_size=HEADER_BYTES,
        # what is too large is still read up to here
        max_request_body_size=8 * body_bytes,
        inbuf_overflow=1 << 18,
        outbuf_overflow=1 << 20,
        asyncore_use_poll=True,
        ident="",
        clear_untrusted_proxy_headers=True,
        backlog=1024,
    )
    # whole seconds in the library
    made.asyncore_loop_timeout = made.cleanup_interval = 0.25
    made.header_seconds, made.body_seconds = header_seconds, body_seconds
    made.body_bytes, made.count_refused = body_bytes, count_refused
    # nothing large is kept of callers that will be asked for a key
    made.keyless_bytes = min(body_bytes, _KEYLESS_BYTES) if needs_key else body_bytes
    return made


def listen(app: Any, adjusted: Adjustments, dispatcher: FairDispatcher) -> dict[int, Any]:  # noqa: ANN401 - a WSGI app
    """Begin to listen on all addresses; gives the map of the loop that serves them."""
    loop: dict[int, Any] = {}
    for address in adjusted.listen:
        Server(app, map=loop, dispatcher=dispatcher, adj=adjusted, sockinfo=address)
    return loop
