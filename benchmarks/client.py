"""A small HTTP client over one kept-alive connection; every client thread has its own."""

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

_IDLE_SECONDS = 50.0  # the server ends idle connections a little later


class UnexpectedAnswerError(Exception):
    """The service answered something else than it should have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where a service runs, and the key that opens it."""

    url: str
    key: str = field(repr=False)
    timeout_seconds: float = 180.0

    def client(self) -> "Client":
        """A client with a connection of its own."""
        return Client(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The status and the JSON body of an answer."""

    status: int
    body: Any


class Client:
    """One connection to the service; not to be shared between threads."""

    def __init__(self, target: Target) -> None:
        address = urlsplit(target.url)
        self._connection = http.client.HTTPConnection(
            address.hostname or "127.0.0.1", address.port, timeout=target.timeout_seconds
        )
        self._headers = {
            "Authorization": f"Bearer {target.key}",
            "Content-Type": "application/json",
        }
        self._used_at = 0.0

    def __enter__(self) -> Self:
        """Use the client within a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._connection.close()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and return the answer, whatever its status.

        Raises:
            OSError, http.client.HTTPException: no answer came; the connection is closed.
        """
        if time.monotonic() - self._used_at > _IDLE_SECONDS:
            self.close()
        content = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        try:
            self._connection.request(
                method, path, body=content, headers={**self._headers, **(headers or {})}
            )
            response = self._connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        self._used_at = time.monotonic()
        return Answer(status=response.status, body=json.loads(raw) if raw else None)

    def post(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        """The body of a successful POST.

        Raises:
            UnexpectedAnswerError: the status is no success.
        """
        answer = self.call("POST", path, body)
        if answer.status not in {200, 201}:
            msg = f"POST {path} was answered {answer.status}: {str(answer.body)[:500]}"
            raise UnexpectedAnswerError(msg)
        return answer.body
