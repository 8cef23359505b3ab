"""Migrations: numbered steps that bring the schema up to date, each applied once, under a lease.

The core and each room count their own. A step is a Cypher file, or a function that works in
batches; either may be cut at any point and run again.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable

from neo4j.exceptions import ClientError

from graphmem.errors import SchemaMismatch, SchemaOutdated, StoreUnavailable
from graphmem.ports import Clock, Embedder
from graphmem.retries import attempts
from graphmem.store.connection import Connection
from graphmem.store.leases import Heartbeat, waited_lease

log = logging.getLogger(__name__)

_CONSTRAINT = re.compile(r"CREATE CONSTRAINT (?P<name>\w+)")
_FILE = re.compile(r"(?P<number>\d{4})_[a-z_]+\.cypher")
CORE = "graphmem"
_LEASE = "schema"
_LEASE_SECONDS = 15.0
_WAIT_SECONDS = 3600.0  # for another process that migrates
_ONLINE_SECONDS = 300.0
_TRIES = 3

Report = Callable[[str], None]  # is told how far it is
MigrationStep = Callable[[Connection, Report], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One step: its number, and its statements or its function."""

    number: int
    name: str
    statements: tuple[str, ...] = ()
    step: MigrationStep | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MigrationSet:
    """The migrations of the core or of a room, in order."""

    owner: str
    migrations: tuple[Migration, ...]

    @property
    def newest(self) -> int:
        """The version that they lead to."""
        return max((migration.number for migration in self.migrations), default=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaState:
    """What the database was prepared for; version 0 is an empty one. ``rooms`` have their own."""

    version: int
    embedder: str | None
    dimensions: int | None
    rooms: Mapping[str, int] = field(default_factory=dict)

    def version_of(self, owner: str) -> int:
        """The last migration of the core or of a room that was applied."""
        return self.version if owner == CORE else self.rooms.get(owner, 0)


def migration_set(
    owner: str, folder: Traversable | None, steps: Mapping[int, MigrationStep] | None = None
) -> MigrationSet:
    """The migrations of a folder, with steps in Python by number."""
    files = sorted(folder.iterdir(), key=lambda file: file.name) if folder else []
    found = [
        Migration(
            number=int(match["number"]),
            name=file.name,
            statements=_statements(file.read_text("utf-8")),
        )
        for file in files
        if (match := _FILE.fullmatch(file.name))
    ]
    found += [
        Migration(number=number, name=step.__name__, step=step)
        for number, step in (steps or {}).items()
    ]
    ordered = sorted(found, key=lambda each: each.number)
    return MigrationSet(owner=owner, migrations=tuple(ordered))


def core_migrations(steps: Mapping[int, MigrationStep] | None = None) -> MigrationSet:
    """The migrations of the core; number 0 is what migrations need themselves."""
    return migration_set(CORE, resources.files("cypher.schema"), steps)


def schema_state(connection: Connection) -> SchemaState:
    """What the database was prepared for."""
    rows = {row["name"]: row for row in connection.fetch("service.schema")}
    rooms = {name: row["version"] for name, row in rows.items() if name != CORE}
    if CORE not in rows:
        return SchemaState(version=0, embedder=None, dimensions=None, rooms=rooms)
    core = rows[CORE]
    return SchemaState(
        version=core["version"],
        embedder=core["embedder"],
        dimensions=core["dimensions"],
        rooms=rooms,
    )


def apply_migrations(
    connection: Connection,
    sets: Sequence[MigrationSet],
    *,
    embedder: Embedder,
    clock: Clock,
    holder: str,
    report: Report = log.info,
) -> SchemaState:
    """Bring the schema up to date and wait until its indexes answer. Safe from several processes.

    Raises:
        SchemaMismatch: the database is newer than this version, or has vectors of another embedder.
    """
    state = schema_state(connection)
    check_schema(state, sets, embedder, applying=True)
    if not any(True for _ in _missing(state, sets)):
        _wait_online(connection)
        return state
    _run_own(connection, sets[0].migrations[0])
    report("the schema is brought up to date")
    with (
        waited_lease(
            connection,
            _LEASE,
            holder=holder,
            clock=clock,
            seconds=_LEASE_SECONDS,
            wait_seconds=_WAIT_SECONDS,
            on_wait=lambda other: report(
                f"{other} brings the schema up to date, or ended while it did: waiting for it,"
                f" in that case {_LEASE_SECONDS:.0f} s"
            ),
        ),
        Heartbeat(connection, _LEASE, holder=holder, clock=clock, seconds=_LEASE_SECONDS),
    ):
        state = schema_state(connection)
        check_schema(state, sets, embedder, applying=True)
        for owner, migration in _missing(state, sets):
            report(f"migration {owner} {migration.name}")
            with _told(f"{owner} {migration.name}"):
                _apply(connection, owner, migration, embedder, report)
        _wait_online(connection)
    return schema_state(connection)


def check_schema(
    state: SchemaState,
    sets: Iterable[MigrationSet],
    embedder: Embedder,
    *,
    applying: bool = False,
) -> None:
    """Refuse to work on a schema or an embedder that does not match.

    Raises:
        SchemaMismatch: it does not; the message names the way out.
    """
    for each in sets:
        _check_version(each, state.version_of(each.owner), applying=applying)
    if state.embedder is not None and state.embedder != embedder.name:
        msg = (
            f"The vectors in the database were made by {state.embedder}, GRAPHMEM_EMBEDDER is"
            f" {embedder.name}. Set GRAPHMEM_EMBEDDER back, or make the vectors anew:"
            " `graphmem jobs run reembed` with the new one; the service may run on with the old"
            " one meanwhile."
        )
        raise SchemaMismatch(msg)


def _check_version(wanted: MigrationSet, version: int, *, applying: bool) -> None:
    what = "schema" if wanted.owner == CORE else f"{wanted.owner} schema"
    if version > wanted.newest:
        msg = (
            f"The database has {what} {version}, this graphmem knows {wanted.newest}:"
            " install a newer graphmem."
        )
        raise SchemaMismatch(msg)
    if version < wanted.newest and not applying:
        msg = (
            f"The database has {what} {version}, this graphmem needs {wanted.newest}:"
            " run `graphmem schema apply`."
        )
        raise SchemaOutdated(msg)


def _missing(state: SchemaState, sets: Iterable[MigrationSet]) -> Iterable[tuple[str, Migration]]:
    """The migrations that are still to be applied, in order."""
    for each in sets:
        done = state.version_of(each.owner)
        yield from ((each.owner, step) for step in each.migrations if step.number > done)


def _apply(
    connection: Connection, owner: str, migration: Migration, embedder: Embedder, report: Report
) -> None:
    """Run a migration and record that it was."""
    if migration.step:
        migration.step(connection, report)
    _run_statements(connection, migration, {"dimensions": embedder.dimensions})
    properties: dict[str, object] = {"version": migration.number}
    if owner == CORE:
        properties |= {"embedder": embedder.name, "dimensions": embedder.dimensions}
    connection.run("service.save_schema", name=owner, properties=properties)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say in a sentence which migration the database refused."""
    try:
        yield
    except ClientError as error:
        msg = f"The migration {what} failed: {error.code}."
        raise SchemaMismatch(msg) from error


def _run_own(connection: Connection, migration: Migration) -> None:
    """Make what the lease itself needs; several processes may do so at once.

    An index without its constraint may be one that another process is just making.
    """
    for attempt in attempts(_is_refused, tries=_TRIES, pause=1.0):
        with _told(migration.name), attempt:
            _run_statements(connection, migration, {})


def _is_refused(error: Exception) -> bool:
    return isinstance(error, ClientError)


def _run_statements(
    connection: Connection, migration: Migration, parameters: Mapping[str, object]
) -> None:
    for statement in migration.statements:
        used = {name: value for name, value in parameters.items() if f"${name}" in statement}
        # a process that starts beside this one may hold a lock; each statement may be repeated
        for attempt in attempts(StoreUnavailable, tries=_TRIES, pause=1.0):
            with attempt:
                _make_way(connection, statement)
                connection.run_long_statement(statement, **used)


def _make_way(connection: Connection, statement: str) -> None:
    """Remove the index that was left of a constraint whose making was cut off."""
    if made := _CONSTRAINT.match(statement):
        for row in connection.fetch("service.index_without_constraint", name=made["name"]):
            connection.run_named("service.drop_index", name=row["name"])


def _statements(text: str) -> tuple[str, ...]:
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    return tuple(statement.strip() for statement in code.split(";") if statement.strip())


def _wait_online(connection: Connection) -> None:
    deadline = time.monotonic() + _ONLINE_SECONDS
    while rows := connection.fetch("service.indexes_not_online"):
        failed = [row["name"] for row in rows if row["state"] == "FAILED"]
        if failed or time.monotonic() > deadline:
            names = ", ".join(failed or [row["name"] for row in rows])
            msg = f"The indexes {names} do not come online."
            raise SchemaMismatch(msg)
        time.sleep(0.2)
