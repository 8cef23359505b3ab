"""Idempotency keys: what was answered to a retry key, kept with the write."""

from datetime import datetime

from graphmem.errors import Conflict
from graphmem.model.writing import IdempotencyKey
from graphmem.store.connection import Connection, Transaction

_FORGOTTEN_AT_ONCE = 10_000


def lock_answer(transaction: Transaction, key: IdempotencyKey) -> str | None:
    """Lock a retry key and return the answer that was given to it, if there was one.

    Raises:
        Conflict: the key belongs to another request.
    """
    row = transaction.run(
        "service.lock_idempotency_key",
        key=key.key,
        request_digest=key.request_digest,
        now=key.created_at,
        expires_at=key.expires_at,
    )[0]
    answer: str | None = row["answer"]
    if answer and row["request_digest"] != key.request_digest:
        msg = "This Idempotency-Key was used for another request."
        raise Conflict(msg)
    return answer


def save_answer(transaction: Transaction, key: IdempotencyKey, answer: str) -> None:
    """Keep the answer to a retry key."""
    transaction.run(
        "service.save_idempotent_answer",
        key=key.key,
        request_digest=key.request_digest,
        answer=answer,
        expires_at=key.expires_at,
    )


class RetryKeys:
    """Forgets retry keys whose time has passed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def forget(self, now: datetime, *, dry_run: bool = False) -> int:
        """Forget those that have expired, at most ten thousand; says how many."""
        if dry_run:
            rows = self._connection.fetch("service.count_old_idempotency_keys", now=now)
            return min(int(rows[0]["old"]), _FORGOTTEN_AT_ONCE)
        rows = self._connection.run(
            "service.forget_idempotency_keys", now=now, limit=_FORGOTTEN_AT_ONCE
        )
        return int(rows[0]["removed"])
