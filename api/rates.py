"""Rates: how many calls a key may make in a minute, where the settings say so."""

from math import ceil
from time import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from graphmem.errors import TooManyCalls


class CallRate:
    """Counts the calls of keys in this process."""

    def __init__(self, per_minute: int) -> None:
        """``per_minute`` 0 counts nothing."""
        self._item = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def check(self, key_id: str) -> None:
        """Count a call.

        Raises:
            TooManyCalls: the key has made too many; it says when it may call again.
        """
        if self._item is None or self._limiter.hit(self._item, key_id):
            return
        reset_at = self._limiter.get_window_stats(self._item, key_id).reset_time
        raise TooManyCalls(retry_seconds=max(1, ceil(reset_at - time())))
