"""Bodies: what is not JSON or larger than the limit is refused, and the refusal can be read."""

import time
from contextlib import suppress
from http import HTTPStatus

from flask import Flask, Response, request
from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType

_READ_AT_ONCE = 1 << 16
_READ_MAX_BYTES = 1 << 28
_READ_SECONDS = 10.0
_SILENT_SECONDS = 1.0


def limit_bodies(app: Flask, max_bytes: int) -> None:
    """Refuse bodies that are no JSON, or larger than ``max_bytes``."""
    app.config["MAX_CONTENT_LENGTH"] = max_bytes
    app.before_request(_check_body)
    app.after_request(_read_the_rest)


def _check_body() -> None:
    """Refuse a body before it is parsed: without its kind a form would look like an empty body."""
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "")
    if (request.content_length or is_chunked) and request.mimetype != "application/json":
        raise UnsupportedMediaType


def check_whole(body: bytes) -> None:
    """Refuse a body in chunks that was cut at the limit: more of it lies behind.

    Raises:
        RequestEntityTooLarge: it was.
    """
    if len(body) == request.max_content_length and _next_part(1):
        raise RequestEntityTooLarge


def _read_the_rest(response: Response) -> Response:
    """Read what is still sent of a body that is too large.

    Who cannot send all of it never reads the answer. A sender that falls silent is not waited for.
    """
    connection = request.environ.get("gunicorn.socket")
    if response.status_code != HTTPStatus.REQUEST_ENTITY_TOO_LARGE or connection is None:
        return response
    left, end = _READ_MAX_BYTES, time.monotonic() + _READ_SECONDS
    with suppress(Exception):  # a body that breaks off changes nothing of the answer
        connection.settimeout(_SILENT_SECONDS)
        while left > 0 and time.monotonic() < end and (part := _next_part(_READ_AT_ONCE)):
            left -= len(part)
    return response


def _next_part(size: int) -> bytes:
    part: bytes = request.environ["wsgi.input"].read(size)
    return part
