"""The data folder of the embedded Neo4j: its configuration, its password, and who runs it."""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphmem.adapters.tcp import HOST
from graphmem.errors import EmbeddedServerError

# For the version that the lock pins, internal keys included; an unknown or doubled key ends the
# server.
PRIVACY = """\
dbms.security.auth_enabled=true
dbms.security.allow_csv_import_from_file_urls=false
dbms.usage_report.enabled=false
internal.dbms.usage_report.udc_network_enabled=false
dbms.fleet_manager.enabled=false
server.fleet_discovery.enabled=false
client.allow_telemetry=false
db.logs.query.enabled=OFF
"""
SMALL_AND_QUICK_TO_STOP = """\
db.transaction.timeout=60s
db.lock.acquisition.timeout=10s
db.tx_log.preallocate=true
db.tx_log.rotation.size=16m
db.tx_log.rotation.retention_policy=1 files
db.shutdown_transaction_end_timeout=2s
internal.db.transaction.shutdown_terminated_transaction_wait_timeout=2s
internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s
"""
# else a query is planned once more when it has run ten times, while a caller waits
PLANNED_ONCE = "internal.cypher.expression_engine=COMPILED\n"

NEEDED_BYTES = 100_000_000  # a new folder takes 2 MB, its first log files 16 MB each


def configuration(
    *, bolt_port: int, http_port: int | None, pagecache: str, extra: Sequence[str] = ()
) -> str:
    """Return the text of neo4j.conf; without an HTTP port that connector is off.

    ``extra`` are lines for other keys than those that stand here.
    """
    bolt = f"{HOST}:{bolt_port}"
    lines = [
        f"server.default_listen_address={HOST}",
        f"server.bolt.listen_address={bolt}",
        f"server.bolt.advertised_address={bolt}",
        f"server.http.enabled={'false' if http_port is None else 'true'}",
        "server.https.enabled=false",
        f"server.memory.pagecache.size={pagecache}",
    ]
    if http_port is not None:
        lines += [
            f"server.http.listen_address={HOST}:{http_port}",
            f"server.http.advertised_address={HOST}:{http_port}",
            "server.http.x_forward.enabled=false",
        ]
    text = "\n".join(lines) + "\n" + PRIVACY + SMALL_AND_QUICK_TO_STOP + PLANNED_ONCE
    return text + "".join(f"{line}\n" for line in extra)


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    """What server.json tells other processes about the server that uses the folder."""

    owner_pid: int
    guard_pid: int | None
    uri: str
    http_url: str | None
    started_at: float
    browser_url: str | None = None


class Neo4jHome:
    """The files of one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.configuration_folder = self.folder / "conf"
        self.log_path = self.folder / "logs" / "process.log"
        self.lock_path = self.folder / "owner.lock"
        self.password_path = self.folder / "password"
        self._owner_path = self.folder / "owner.pid"
        self._server_path = self.folder / "server.json"
        self._store_lock_path = self.folder / "data" / "databases" / "store_lock"

    @property
    def has_store(self) -> bool:
        """Whether a server has been started here before."""
        return (self.folder / "data" / "databases").exists()

    def make_folder(self) -> None:
        """Make the data folder, for this user only."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)

    def check_room(self) -> None:
        """Raise the error of a full disk before Neo4j hangs on one."""
        if shutil.disk_usage(self.folder).free < NEEDED_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def configure(self, text: str) -> None:
        """Write the configuration; only the owner of the folder may do that."""
        self.configuration_folder.mkdir(exist_ok=True)
        self.log_path.parent.mkdir(exist_ok=True)
        (self.configuration_folder / "neo4j.conf").write_text(text, encoding="utf-8")

    def password(self) -> str | None:
        """Return the password, or None when there is none."""
        try:
            return self.password_path.read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def password_or_new(self) -> str:
        """Return the password, made now when nothing is stored yet.

        Raises EmbeddedServerError when it is lost although there are data.
        """
        known = self.password()
        if known:
            return known
        if self.has_store:
            message = (
                f"The password file {self.password_path} is lost, but there are data; put it back."
            )
            raise EmbeddedServerError(message)
        self.password_path.unlink(missing_ok=True)  # empty, from a start that was cut off
        password = secrets.token_hex(24)
        write_private(self.password_path, password)
        return password

    @contextlib.contextmanager
    def admin_arguments(self, *arguments: str) -> Iterator[Path]:
        """Yield a private file with arguments that must not stand in the process list."""
        handle, name = tempfile.mkstemp(dir=self.folder, prefix="admin-")
        path = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("\n".join(arguments) + "\n")
            yield path
        finally:
            path.unlink()

    def is_free(self) -> bool:
        """Whether no server, such as one that is just stopping, has the store open."""
        try:
            with self._store_lock_path.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return True
        except BlockingIOError:
            return False
        return True

    def owner_pid(self) -> str:
        """Return the process that holds the lock, as text."""
        try:
            return self._owner_path.read_text(encoding="utf-8").strip() or "unknown"
        except FileNotFoundError:
            return "unknown"

    def claim(self) -> None:
        """Tell others who holds the lock."""
        self._owner_path.write_text(f"{os.getpid()}\n", encoding="utf-8")

    def announce(self, server: RunningServer) -> None:
        """Tell others that the server is ready."""
        new = self._server_path.with_suffix(".new")
        new.unlink(missing_ok=True)
        write_private(new, json.dumps(server.__dict__, indent=1))
        new.replace(self._server_path)

    def withdraw(self) -> None:
        """Tell others that there is no server any more."""
        self._server_path.unlink(missing_ok=True)

    def announced(self) -> RunningServer | None:
        """Return what the last owner announced; it may be stale."""
        try:
            return RunningServer(**json.loads(self._server_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def write_private(path: Path, text: str) -> None:
    """Write a new file that only this user can read."""
    with os.fdopen(
        os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
