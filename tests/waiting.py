"""Waiting for what really happens, with a short look again and again, never for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

AGAIN_SECONDS = 0.02


def eventually(question: Callable[[], Answer], *, seconds: float = 60) -> Answer | None:
    """What a question gives as soon as it is true, at the latest after that time.

    None where it could not even be asked.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = question()
        except OSError:  # what is asked does not listen yet
            found = None
        if found or time.monotonic() > deadline:
            return found
        time.sleep(AGAIN_SECONDS)
