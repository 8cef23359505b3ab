"""Migrations: numbered schema files, each applied once, under a lease, by whichever process comes first."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from graphmem.errors import SchemaMismatch, SchemaOutdated, StoreUnavailable
from graphmem.ports import Clock, Embedder
from graphmem.store.connection import Connection
from graphmem.store.leases import waited_lease

_FILE = re.compile(r"(?P<number>\d{4})_[a-z_]+\.cypher")
_LEASE = "schema"
_LEASE_SECONDS = 120.0
_ONLINE_SECONDS = 300.0
_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One schema file: its number and its statements."""

    number: int
    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaState:
    """What the database was prepared for; version 0 is an empty one."""

    version: int
    embedder: str | None
    dimensions: int | None


def load_migrations() -> tuple[Migration, ...]:
    """The migrations in order; number 0 is what they need themselves."""
    files = sorted(resources.files("cypher.schema").iterdir(), key=lambda file: file.name)
    return tuple(
        Migration(
            number=int(match["number"]),
            name=file.name,
            statements=_statements(file.read_text("utf-8")),
        )
        for file in files
        if (match := _FILE.fullmatch(file.name))
    )


def schema_state(connection: Connection) -> SchemaState:
    """What the database was prepared for."""
    rows = connection.fetch("service.schema")
    if not rows:
        return SchemaState(version=0, embedder=None, dimensions=None)
    row = rows[0]
    return SchemaState(
        version=row["version"], embedder=row["embedder"], dimensions=row["dimensions"]
    )


def apply_migrations(
    connection: Connection, *, embedder: Embedder, clock: Clock, holder: str
) -> SchemaState:
    """Bring the schema up to date and wait until its indexes answer. Safe from several processes.

    Raises:
        SchemaMismatch: the database is newer than this version, or has vectors of another embedder.
    """
    bootstrap, *numbered = load_migrations()
    state = schema_state(connection)
    check_schema(state, embedder, applying=True)
    if state.version == numbered[-1].number:
        _wait_online(connection)
        return state
    _run(connection, bootstrap, {})
    with waited_lease(
        connection,
        _LEASE,
        holder=holder,
        clock=clock,
        seconds=_LEASE_SECONDS,
        wait_seconds=_LEASE_SECONDS,
    ):
        state = schema_state(connection)
        check_schema(state, embedder, applying=True)
        for migration in numbered:
            if migration.number > state.version:
                _run(connection, migration, {"dimensions": embedder.dimensions})
                connection.run(
                    "service.save_schema",
                    version=migration.number,
                    embedder=embedder.name,
                    dimensions=embedder.dimensions,
                )
        _wait_online(connection)
    return schema_state(connection)


def check_schema(state: SchemaState, embedder: Embedder, *, applying: bool = False) -> None:
    """Refuse to work on a schema or an embedder that does not match.

    Raises:
        SchemaMismatch: it does not; the message names the way out.
    """
    newest = max(migration.number for migration in load_migrations())
    if state.version > newest:
        msg = f"The database has schema {state.version}, this graphmem knows {newest}: install a newer graphmem."
        raise SchemaMismatch(msg)
    if state.version < newest and not applying:
        msg = f"The database has schema {state.version}, this graphmem needs {newest}: run `graphmem schema apply`."
        raise SchemaOutdated(msg)
    if state.embedder is not None and state.embedder != embedder.name:
        msg = (
            f"The vectors in the database were made by {state.embedder}, GRAPHMEM_EMBEDDER is {embedder.name}."
            " Set GRAPHMEM_EMBEDDER back, or make the vectors anew: `graphmem jobs run reembed` with the new one; the"
            " service may run on with the old one meanwhile."
        )
        raise SchemaMismatch(msg)


def _run(connection: Connection, migration: Migration, parameters: Mapping[str, object]) -> None:
    for statement in migration.statements:
        used = {name: value for name, value in parameters.items() if f"${name}" in statement}
        for tries_left in reversed(range(_TRIES)):
            try:
                connection.run_statement(statement, **used)
                break
            except (
                StoreUnavailable
            ):  # a lock held by another process that starts; each statement may be repeated
                if not tries_left:
                    raise
                time.sleep(1.0)


def _statements(text: str) -> tuple[str, ...]:
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    return tuple(statement.strip() for statement in code.split(";") if statement.strip())


def _wait_online(connection: Connection) -> None:
    deadline = time.monotonic() + _ONLINE_SECONDS
    while rows := connection.fetch("service.indexes_not_online"):
        failed = [row["name"] for row in rows if row["state"] == "FAILED"]
        if failed or time.monotonic() > deadline:
            msg = f"The indexes {', '.join(failed or [row['name'] for row in rows])} do not come online."
            raise SchemaMismatch(msg)
        time.sleep(0.2)
