"""Bodies: what is not JSON, or larger than the limit, is refused."""

from flask import Flask, request
from werkzeug.exceptions import UnsupportedMediaType


def limit_bodies(app: Flask, max_bytes: int) -> None:
    """Refuse bodies that are no JSON, or larger than ``max_bytes``."""
    app.config["MAX_CONTENT_LENGTH"] = max_bytes
    app.before_request(_check_body)


def _check_body() -> None:
    """Refuse a body before it is parsed: without its kind a form would look like an empty body."""
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "")
    if (request.content_length or is_chunked) and request.mimetype != "application/json":
        raise UnsupportedMediaType
