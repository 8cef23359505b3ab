"""Expiry: a memory whose time has passed goes quiet: archived, with the reason ttl."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from graphmem.gateway.draft import Draft
from graphmem.gateway.gateway import Gateway
from graphmem.model.memory import Status
from graphmem.model.space import space_from_key
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Clock
from graphmem.store.connection import Connection

BATCH = 500


def decide_expiry(state: GraphState, *, now: datetime) -> Decision:
    """Archive the active memories of the selection whose expires_at has passed."""
    draft = Draft(before=state, now=now)
    expired = [m for m in state.memories.values() if m.status is Status.ACTIVE and m.has_expired(now)]
    for memory in expired:
        draft.set_status(memory, Status.ARCHIVED, "ttl")
    return draft.decision(events=[{"uid": m.uid, "outcome": "archived", "reason": "ttl"} for m in expired])


class Expiry:
    """Archives what has expired, space by space, and forgets retry keys whose time has passed."""

    def __init__(self, connection: Connection, *, gateway: Gateway, clock: Clock) -> None:
        self._connection = connection
        self._gateway = gateway
        self._clock = clock

    def run(self, *, dry_run: bool = False, space_key: str = "") -> Mapping[str, int]:
        """One pass over all spaces, or one; says how many were archived in how many spaces."""
        now = self._clock.now()
        counts: dict[str, int] = {"archived": 0, "spaces": 0, "retry_keys_forgotten": 0}
        if dry_run:
            return counts | self._would_do(now, space_key)
        while keys := self._expired(now, space_key, BATCH):
            done = 0
            for space, members in _by_space(keys).items():
                decision = self._gateway.run(
                    Selection(memories=frozenset(members)),
                    lambda state: decide_expiry(state, now=now),
                    kind="expire",
                    space=space_from_key(space),
                )
                done += len(decision.changed)
                counts["spaces"] += 1
            counts["archived"] += done
            if not done:
                break
        counts["retry_keys_forgotten"] = self._forget_retry_keys(now)
        return counts

    def _would_do(self, now: datetime, space_key: str) -> dict[str, int]:
        keys = self._expired(now, space_key, 100_000)
        return {"archived": len(keys), "spaces": len(_by_space(keys))}

    def _expired(self, now: datetime, space_key: str, limit: int) -> list[str]:
        rows = self._connection.fetch("memories.expired", now=epoch_ms(now), space=space_key, limit=limit)
        return [row["key"] for row in rows]

    def _forget_retry_keys(self, now: datetime) -> int:
        removed: int = self._connection.run("service.forget_idempotency_keys", now=now, limit=10_000)[0]["removed"]
        return removed


def _by_space(keys: list[str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        grouped[key.partition("|")[0]].append(key)
    return dict(grouped)
