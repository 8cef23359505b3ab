"""Companions: users whom personas know, and what lasts of each with a persona."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from graphmem.model.companion import (
    CompanionUser,
    CuratorState,
    RollingError,
    SessionState,
)
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.text.times import moment_of

_USER = ("email", "spine_messages", "spine_version")
_STATE = ("message_count", "last_user_message", "rolling_summary", "rolled_count")
_STATE_TIMES = (
    *("last_interaction", "last_user_at", "last_rolling_attempt_at", "last_rolling_success_at"),
)


def lock_user(transaction: Transaction, space: Space) -> CompanionUser:
    """Take the lock of a user; one whom nobody knows has no time of creation."""
    (row,) = transaction.run("companions.lock_user", space=space.key)
    return user_from_row(row, space)


def save_user(transaction: Transaction, user: CompanionUser) -> None:
    """Write what is known of a user."""
    transaction.run(
        "companions.save_user",
        space=user.space.key,
        properties={
            **{name: getattr(user, name) for name in _USER},
            "overrides": json.dumps(dict(user.overrides), ensure_ascii=False),
        },
        created_at=_text(user.created_at),
        updated_at=_text(user.updated_at),
    )


def save_seed(transaction: Transaction, user: CompanionUser) -> None:
    """Write what an operator says of a user."""
    transaction.run(
        "companions.save_seed",
        space=user.space.key,
        content=user.seed,
        updated_at=_text(user.seeded_at),
    )


def find_user(connection: Connection, space: Space) -> CompanionUser | None:
    """The user of a space."""
    rows = connection.fetch("companions.find_user", space=space.key)
    return user_from_row(rows[0], space) if rows else None


def user_from_row(row: Row, space: Space) -> CompanionUser:
    """The user of a row."""
    node = row["user"]
    content, updated_at = row["seed"][0] if row["seed"] else (None, None)
    return CompanionUser(
        space=space,
        email=node.get("email"),
        spine_messages=node.get("spine_messages") or 0,
        spine_version=node.get("spine_version") or 0,
        overrides=json.loads(node.get("overrides") or "{}"),
        seed=content,
        seeded_at=moment_of(updated_at),
        created_at=moment_of(node.get("created_at")),
        updated_at=moment_of(node.get("updated_at")),
    )


def lock_state(transaction: Transaction, space: Space) -> SessionState:
    """Take the lock of what lasts of a user with a persona; it begins empty."""
    (row,) = transaction.run("companions.lock_state", space=space.key)
    return state_from_row(row["state"], space)


def save_state(transaction: Transaction, state: SessionState) -> None:
    """Write what lasts of a user with a persona."""
    curator, error = state.curator, state.last_rolling_error
    transaction.run(
        "companions.save_state",
        space=state.space.key,
        properties={name: getattr(state, name) for name in _STATE}
        | {
            "curator_last_memory_count": curator.last_memory_count_at_run if curator else None,
            "last_rolling_error": error.reason if error else None,
            "last_rolling_detail": error.detail if error else None,
        },
        times={name: _text(getattr(state, name)) for name in _STATE_TIMES}
        | {"curator_last_run_at": _text(curator.last_run_at) if curator else None},
    )


def find_state(connection: Connection, space: Space) -> SessionState:
    """What lasts of a user with a persona; before the first message nothing does."""
    rows = connection.fetch("companions.find_state", space=space.key)
    return state_from_row(rows[0]["state"], space) if rows else SessionState(space=space)


def state_from_row(node: Row, space: Space) -> SessionState:
    """The state of a row."""
    values: dict[str, Any] = {name: node.get(name) for name in _STATE}
    counts = {name: values[name] or 0 for name in ("message_count", "rolled_count")}
    times: dict[str, Any] = {name: moment_of(node.get(name)) for name in _STATE_TIMES}
    ran_at = moment_of(node.get("curator_last_run_at"))
    error = node.get("last_rolling_error")
    return SessionState(
        **(values | counts | times),
        space=space,
        curator=CuratorState(
            last_run_at=ran_at, last_memory_count_at_run=node.get("curator_last_memory_count") or 0
        )
        if ran_at
        else None,
        last_rolling_error=RollingError(reason=error, detail=node.get("last_rolling_detail"))
        if error
        else None,
    )


def names_of(connection: Connection, user: Space, refs: Iterable[str]) -> dict[str, str]:
    """The names of all that some refs mean, also those that were merged: what each is now."""
    keys = sorted({f"{user.key}|{ref}" for ref in refs})
    rows = connection.fetch("companions.names", space_keys=keys) if keys else ()
    return {row["name"]: row["stands"] for row in rows}


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
