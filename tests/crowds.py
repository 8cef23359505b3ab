"""Crowds: threads that go on for the time of a test, until they are told to stop."""

import threading
from collections.abc import Callable, Iterable
from typing import Self

_LONGEST_SECONDS = 120


class Crowd:
    """Some functions, each in a thread of its own; they look at ``stop`` and end when it is set."""

    def __init__(self, functions: Iterable[Callable[[], None]]) -> None:
        self.stop = threading.Event()
        self._threads = [threading.Thread(target=function) for function in functions]

    def __enter__(self) -> Self:
        """Begin."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Tell all to stop, and wait for them."""
        self.stop.set()
        for thread in self._threads:
            thread.join(_LONGEST_SECONDS)
