"""Contracts: what governs the calls of AI profiles, version by version."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.model.page import Cursor, Page
from graphmem.store.connection import Connection, Row, Transaction, rows_of
from graphmem.store.pages import read_page

_LAST_VERSION = 2**53


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredContract:
    """A version of a contract as it is kept: ``document`` is the whole of it as JSON."""

    profile: str
    version: int
    document: str
    created_at: str | None = None
    key_id: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """What it says."""
        values: dict[str, Any] = json.loads(self.document)
        return values


def profile_key(tenant: str, profile: str) -> str:
    """The key of a profile of a tenant."""
    return f"{tenant}|{profile}"


def contract_of(
    reader: Transaction | Connection, tenant: str, profile: str
) -> StoredContract | None:
    """The contract of a profile that holds now."""
    rows = rows_of(reader, "governance.contract", profile=profile_key(tenant, profile))
    return _stored(rows[0], profile) if rows else None


def version_of(
    connection: Connection, tenant: str, profile: str, version: int
) -> StoredContract | None:
    """One version of a contract."""
    key = f"{profile_key(tenant, profile)}|{version}"
    rows = connection.fetch("governance.contract_version", key=key)
    return _stored(rows[0], profile) if rows else None


def lock_profile(transaction: Transaction, tenant: str, profile: str) -> StoredContract | None:
    """Take the lock of a profile, and give the contract that holds now."""
    (row,) = transaction.run(
        "governance.lock_profile",
        key=profile_key(tenant, profile),
        tenant=tenant,
        profile=profile,
    )
    return _stored(row, profile) if row["version"] else None


def save_contract(
    transaction: Transaction,
    tenant: str,
    stored: StoredContract,
    *,
    created_at: datetime,
) -> None:
    """Add a version, which holds from now on."""
    key = profile_key(tenant, stored.profile)
    values = {
        "key": f"{key}|{stored.version}",
        "tenant": tenant,
        "profile": stored.profile,
        "version": stored.version,
        "document": stored.document,
        "key_id": stored.key_id,
    }
    transaction.run(
        "governance.save_contract", key=key, contract=values, created_at=created_at.isoformat()
    )


class Contracts:
    """Reads contracts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, tenant: str, profile: str) -> StoredContract | None:
        """The contract of a profile that holds now."""
        return contract_of(self._connection, tenant, profile)

    def version(self, tenant: str, profile: str, version: int) -> StoredContract | None:
        """One version of a contract."""
        return version_of(self._connection, tenant, profile, version)

    def page(self, tenant: str, after: Cursor | None, *, limit: int) -> Page[StoredContract]:
        """One page of the contracts of a tenant, by profile; a cursor is a profile."""
        (profile,) = after or ("",)
        return read_page(
            self._connection,
            "governance.list_contracts",
            "governance.count_contracts",
            filters={"tenant": tenant},
            cursor={"cursor_key": profile},
            limit=limit,
            item_of=lambda row: _stored(row, row["profile"]),
            cursor_of=lambda row: (row["profile"],),
        )

    def versions(
        self, tenant: str, profile: str, after: Cursor | None, *, limit: int
    ) -> Page[StoredContract]:
        """One page of the versions of a contract, the newest first; a cursor is a version."""
        (version,) = after or (_LAST_VERSION,)
        return read_page(
            self._connection,
            "governance.list_versions",
            "governance.count_versions",
            filters={"key": profile_key(tenant, profile)},
            cursor={"cursor_version": version},
            limit=limit,
            item_of=lambda row: _stored(row, profile),
            cursor_of=lambda row: (row["version"],),
        )


def _stored(row: Row, profile: str) -> StoredContract:
    return StoredContract(
        profile=profile,
        version=row["version"],
        document=row["document"],
        created_at=row.get("created_at"),
        key_id=row.get("key_id"),
    )
