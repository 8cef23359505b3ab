"""The database behind the settings: connecting to it, the embedded server, and the admin key."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from graphmem.adapters.disk_space import DiskSpace
from graphmem.adapters.embedded.home import Neo4jHome
from graphmem.adapters.embedded.server import USER, EmbeddedNeo4j, EmbeddedOptions, Endpoint, attach
from graphmem.adapters.tcp import HOST
from graphmem.errors import StoreDamaged, StorePanicked, StoreUnavailable
from graphmem.settings import Settings
from graphmem.store.connection import Connection
from graphmem.store.keys import new_secret

_RETRY_SECONDS = 0.2
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600


def connect(settings: Settings) -> Connection:
    """The connection of the settings; without a URI, to the embedded server that is running.

    Raises:
        StoreUnavailable: none is running, or the address is not valid.
    """
    neo4j = settings.neo4j
    if neo4j.uri:
        return Connection(
            neo4j.uri, user=neo4j.user, password=neo4j.password or "", database=neo4j.database
        )
    endpoint = attach(database_folder(settings))
    if endpoint is None:
        msg = (
            "The embedded Neo4j is not running: start it with `graphmem up`, or set"
            " GRAPHMEM_NEO4J_URI."
        )
        raise StoreUnavailable(msg)
    return Connection(
        endpoint.uri,
        user=endpoint.user,
        password=endpoint.password,
        check_room=disk_space(settings).check,
    )


def connection_of(settings: Settings, *, wait_seconds: float = 180.0) -> Connection:
    """The connection that the settings describe, whether or not the database answers yet.

    Raises:
        StoreUnavailable: the address is not valid, or the embedded server was given no password in
            that time.
    """
    neo4j = settings.neo4j
    if neo4j.uri:
        return connect(settings)
    deadline = time.monotonic() + wait_seconds
    while (password := Neo4jHome(database_folder(settings)).password()) is None:
        if time.monotonic() > deadline:
            msg = (
                "The embedded Neo4j was not started: start it with `graphmem up`, or set"
                " GRAPHMEM_NEO4J_URI."
            )
            raise StoreUnavailable(msg)
        time.sleep(_RETRY_SECONDS)
    return Connection(
        f"bolt://{HOST}:{neo4j.bolt_port}",
        user=USER,
        password=password,
        check_room=disk_space(settings).check,
    )


def disk_space(settings: Settings) -> DiskSpace:
    """The room where the embedded server keeps its files; that of another one is not ours."""
    low_mib = 0 if settings.neo4j.uri else settings.server.disk_low_mib
    return DiskSpace(settings.server.data_dir, low_mib=low_mib)


def database_folder(settings: Settings) -> Path:
    """Where the embedded server keeps its files."""
    return settings.server.data_dir / "neo4j"


def database_password_path(settings: Settings) -> Path:
    """Where the password of the embedded server is kept."""
    return Neo4jHome(database_folder(settings)).password_path


def embedded_server(settings: Settings, *, for_people: bool = False) -> EmbeddedNeo4j:
    """The embedded server that the settings describe, not yet started.

    Only one ``for_people`` serves Neo4j Browser: that of a single command need not fetch it.
    """
    neo4j = settings.neo4j
    return EmbeddedNeo4j(
        EmbeddedOptions(
            folder=database_folder(settings),
            bolt_port=neo4j.bolt_port,
            http_port=neo4j.http_port,
            browser_api=settings.server.url if for_people and neo4j.browser else None,
            heap=neo4j.heap,
            pagecache=neo4j.pagecache,
            cache_folder=settings.server.cache_dir,
            maven_url=neo4j.maven_url,
            jars_folder=neo4j.jars_folder,
            java_home=neo4j.java_home,
        ),
        has_failed=has_failed,
    )


def has_failed(endpoint: Endpoint) -> bool:
    """Whether a server answers, and could not open its database."""
    return isinstance(_problem(endpoint), StoreDamaged)


def has_panicked(endpoint: Endpoint) -> bool:
    """Whether a server answers, and its database has stopped for good until it is restarted."""
    return isinstance(_problem(endpoint), StorePanicked)


def _problem(endpoint: Endpoint) -> StoreUnavailable | None:
    with closing(
        Connection(endpoint.uri, user=endpoint.user, password=endpoint.password)
    ) as connection:
        return connection.problem()


@contextmanager
def database(settings: Settings) -> Iterator[Connection]:
    """A connection for one command; an embedded server that is not running is started for it."""
    if settings.neo4j.uri or attach(database_folder(settings)):
        connection = connect(settings)
        try:
            yield connection
        finally:
            connection.close()
        return
    with embedded_server(settings) as endpoint:
        connection = Connection(
            endpoint.uri,
            user=endpoint.user,
            password=endpoint.password,
            check_room=disk_space(settings).check,
        )
        try:
            yield connection
        finally:
            connection.close()


def admin_key(settings: Settings) -> str:
    """The first admin key: of the settings, or made once and kept in the data folder."""
    if settings.server.api_key:
        return settings.server.api_key
    path = admin_key_path(settings)
    make_private(path.parent)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE)
    except FileExistsError:
        path.chmod(_PRIVATE_FILE)
        return path.read_text("utf-8").strip()
    with os.fdopen(handle, "w") as file:
        secret = new_secret()
        file.write(secret + "\n")
    return secret


def make_private(folder: Path) -> None:
    """Let a folder be there, and nobody else look into it, also where it was there before."""
    folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
    with suppress(PermissionError):  # it is somebody else's, who lets us write there
        folder.chmod(_PRIVATE_FOLDER)


def admin_key_path(settings: Settings) -> Path:
    """Where the first admin key is kept."""
    return settings.server.data_dir / "admin.key"


def process_name() -> str:
    """This process, for leases: host and pid."""
    return f"{socket.gethostname()}:{os.getpid()}"
