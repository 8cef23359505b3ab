"""Dispatching: which call gets a thread. No key holds all of them, and health is answered beside.

A key may hold three quarters of the threads. Its other calls wait for one of its own to end, up to
a second, and are refused then; those of other keys do not wait for them. What needs no database is
answered by a thread of its own: whether the process lives, and what is refused.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

WAIT_SECONDS = 1.0
_BESIDE_THREADS = 2
_BESIDE = ("/health/", "/metrics", "/version")
_AT_ONCE = ("/health/live",)


class TooManyCalls(Error):  # type: ignore[misc]
    """A key has more calls on than it may."""

    code = 429
    reason = "Too Many Requests"
    headers = (("Retry-After", "1"),)


def sent_key(authorization: str, x_api_key: str) -> str:
    """The key that a call brings, by one header or the other."""
    scheme, _, bearer = authorization.partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else x_api_key.strip()


def key_of(headers: dict[str, str]) -> bytes:
    """What stands for the key of a call; all calls without one have the same."""
    sent = sent_key(headers.get("AUTHORIZATION", ""), headers.get("X_API_KEY", ""))
    return sha256(sent.encode("utf-8", "replace")).digest()


class _Admitted:
    """A call that may have a thread."""

    def __init__(self, call: Any, ended: Callable[[], None]) -> None:  # noqa: ANN401 - a channel
        self._call = call
        self._ended = ended

    def service(self) -> None:
        """Answer the call, then let another one of its key have the place."""
        try:
            self._call.service()
        finally:
            self._ended()

    def cancel(self) -> None:
        """The process ends."""
        self._call.cancel()


class FairDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Gives calls to threads, so many of a key at once."""

    def __init__(
        self, threads: int, *, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``most`` calls of one key run or wait for a thread at once."""
        super().__init__()
        self._most = most
        self._clock = clock
        self._on: Counter[bytes] = Counter()
        self._waiting: dict[bytes, deque[tuple[float, Any]]] = {}
        self._beside = ThreadedTaskDispatcher()
        self._beside.set_thread_count(_BESIDE_THREADS)
        self._at_once = ThreadedTaskDispatcher()
        self._at_once.set_thread_count(1)
        self.queue_logger.disabled = True
        self.set_thread_count(threads)

    def add_task(self, call: Any) -> None:  # noqa: ANN401 - a channel with a request
        """Answer a call as soon as its key and the threads allow."""
        request = call.requests[0]
        if request.error or request.path in _AT_ONCE:
            self._at_once.add_task(call)
            return
        if request.path.startswith(_BESIDE):
            self._beside.add_task(call)
            return
        key = key_of(request.headers)
        with self.lock:
            if self._on[key] >= self._most:
                self._waiting.setdefault(key, deque()).append((self._clock(), call))
                return
            self._on[key] += 1
        self._admit(key, call)

    def refuse_late(self) -> None:
        """Refuse what has waited for too long for another call of its key to end."""
        late: list[Any] = []
        since = self._clock() - WAIT_SECONDS
        with self.lock:
            for waiting in self._waiting.values():
                while waiting and waiting[0][0] <= since:
                    late.append(waiting.popleft()[1])
        for call in late:
            call.requests[0].error = TooManyCalls("")
            self._at_once.add_task(call)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:  # noqa: FBT001, FBT002 - the library's
        """End the threads when their calls are answered, or the time is up."""
        self._at_once.shutdown(cancel_pending, 1)
        self._beside.shutdown(cancel_pending, 1)
        return bool(super().shutdown(cancel_pending, timeout))

    def _admit(self, key: bytes, call: Any) -> None:  # noqa: ANN401 - a channel
        super().add_task(_Admitted(call, lambda: self._ended(key)))

    def _ended(self, key: bytes) -> None:
        """Let the next call of a key follow the one that ended."""
        with self.lock:
            if waiting := self._waiting.get(key):
                _, call = waiting.popleft()
            else:
                self._waiting.pop(key, None)
                self._on[key] -= 1
                if not self._on[key]:
                    del self._on[key]
                return
        self._admit(key, call)
