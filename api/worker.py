"""The worker of gunicorn: what never reaches the app is answered in the form of all errors too."""

import json
import logging
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from gunicorn import util
from gunicorn.http import errors, message
from gunicorn.workers.gthread import ThreadWorker

from api.errors import HTTP_CODES

log = logging.getLogger(__name__)

REQUEST_LINE_BYTES = 32 * 1024  # room for every id that can be written, escaped
# gunicorn cuts the setting to this constant, whatever is asked for
message.MAX_REQUEST_LINE = REQUEST_LINE_BYTES
_STATUSES = {
    errors.LimitRequestLine: HTTPStatus.REQUEST_URI_TOO_LONG,
    errors.LimitRequestHeaders: HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
}


class JsonWorker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker that says in JSON what is wrong with a request."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:  # noqa: ANN401
        """Answer a request that could not be parsed."""
        is_ours = isinstance(exc, errors.InvalidResponseHeader | errors.InvalidResponseHeaderName)
        if is_ours or not isinstance(exc, errors.ParseException):
            super().handle_error(req, client, addr, exc)
            return
        status = next(
            (each for kind, each in _STATUSES.items() if isinstance(exc, kind)),
            HTTPStatus.BAD_REQUEST,
        )
        code, text = HTTP_CODES[status]
        request_id = str(uuid4())
        log.warning("not a request: %s (%s)", type(exc).__name__, request_id)
        detail = {"code": code, "message": text, "request_id": request_id}
        body = json.dumps({"error": detail}).encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nX-Request-ID: {request_id}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            util.write_nonblock(client, head.encode() + body)
        except OSError:
            log.debug("the answer could not be sent")
