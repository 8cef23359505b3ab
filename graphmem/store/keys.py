"""API keys: random, shown once, stored as a hash, bound to a tenant, a role and space patterns."""

import hashlib
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cachetools import TTLCache

from graphmem.errors import NotFound, StoreUnavailable
from graphmem.model.caller import Caller, Role
from graphmem.model.space import FIRST_TENANT
from graphmem.ports import Clock, IdSource
from graphmem.store.connection import Connection
from graphmem.store.mapping import caller_from_node, key_listing

_PREFIX = "gm_"
_CACHED_KEYS = 4_096
_CACHED_SECONDS = 5.0  # how long a revoked key may still work
_REMEMBERED_SECONDS = 3_600.0  # how long a key is known while the database is away


def new_secret() -> str:
    """A new API key."""
    return _PREFIX + secrets.token_urlsafe(32)


class ApiKeys:
    """Makes, finds and ends API keys. Callers are cached for a few seconds."""

    def __init__(self, connection: Connection, *, clock: Clock, ids: IdSource) -> None:
        self._connection = connection
        self._clock = clock
        self._ids = ids
        self._callers: TTLCache[str, Caller] = TTLCache(_CACHED_KEYS, _CACHED_SECONDS)
        self._remembered: TTLCache[str, Caller] = TTLCache(_CACHED_KEYS, _REMEMBERED_SECONDS)
        self._lock = threading.Lock()

    def create(
        self, *, name: str, role: Role, tenant: str, spaces: Sequence[str]
    ) -> Mapping[str, object]:
        """Make a key; the answer holds it this once."""
        secret = new_secret()
        node = self._save(secret, name, role, tenant, spaces)
        return {**key_listing(node), "key": secret}

    def ensure_admin(self, secret: str) -> None:
        """Make the first admin key, unless it is there."""
        self._save(secret, "first admin key", Role.ADMIN, FIRST_TENANT, ["*"])

    def find(self, secret: str, *, while_away: bool = False) -> Caller | None:
        """Who holds a key; None for one that is unknown or revoked.

        With ``while_away`` a key that was used within the hour still says whose it is while the
        database is away: for calls that then answer with nothing of it, such as an empty bulletin.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        digest = _digest(secret)
        with self._lock:
            if known := self._callers.get(digest):
                return known
        try:
            rows = self._connection.fetch("keys.by_hash", hash=digest)
        except StoreUnavailable:
            with self._lock:
                if while_away and (remembered := self._remembered.get(digest)):
                    return replace(remembered, is_remembered=True)
            raise
        caller = caller_from_node(rows[0]["k"]) if rows else None
        with self._lock:
            if caller is None:  # not cached: a key that is made now must work at once
                self._remembered.pop(digest, None)
            else:
                self._callers[digest] = self._remembered[digest] = caller
        return caller

    def exist(self) -> bool:
        """Whether any key was made yet; without one nobody can use the service."""
        return bool(self._connection.fetch("keys.exist")[0]["found"])

    def listing(self, tenant: str) -> list[Mapping[str, object]]:
        """What may be shown of the keys of a tenant, oldest first."""
        return [key_listing(row["k"]) for row in self._connection.fetch("keys.list", tenant=tenant)]

    def held_by(self, caller: Caller) -> list[Mapping[str, object]]:
        """The keys of a caller's tenant that can do no more than its own, oldest first."""
        rows = self._connection.fetch("keys.list", tenant=caller.tenant)
        return [
            key_listing(row["k"]) for row in rows if _is_held(caller, caller_from_node(row["k"]))
        ]

    def revoke(self, uid: str, *, tenant: str, by: Caller | None = None) -> Mapping[str, object]:
        """End a key; a second time changes nothing.

        Raises:
            NotFound: the tenant has no such key, or it can do more than that of ``by``.
        """
        if by and uid not in {key["id"] for key in self.held_by(by)}:
            raise NotFound
        rows = self._connection.run("keys.revoke", uid=uid, tenant=tenant, now=self._clock.now())
        if not rows:
            raise NotFound
        with self._lock:
            self._callers.clear()
            self._remembered.clear()
        return key_listing(rows[0]["k"])

    def _save(
        self, secret: str, name: str, role: Role, tenant: str, spaces: Sequence[str]
    ) -> Mapping[str, Any]:
        rows = self._connection.run(
            "keys.save",
            uid=self._ids.new("key"),
            hash=_digest(secret),
            name=name,
            tenant=tenant,
            role=role.value,
            spaces=list(spaces),
            created_at=self._clock.now(),
        )
        node: Mapping[str, Any] = rows[0]["k"]
        return node


def _is_held(caller: Caller, other: Caller) -> bool:
    return caller.role.includes(other.role) and caller.holds(other.spaces)


def _digest(secret: str) -> str:
    # keys are 256 random bits, so a plain hash cannot be searched
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
