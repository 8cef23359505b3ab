"""Java's cache of loaded and linked classes for the embedded Neo4j: it halves the time to start."""

import hashlib
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from graphmem.adapters.embedded.command import Neo4jCommand, set_first_password
from graphmem.adapters.embedded.home import Neo4jHome, configuration
from graphmem.adapters.guarded_process import GuardedProcess
from graphmem.adapters.tcp import HOST, free_port

log = logging.getLogger(__name__)

# else Java warns about a cache that it cannot use; it starts without, which is all right
QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")
TRAINING_FOLDER = "aot-training-"
TRAINING_SECONDS = 300  # most of it is Java writing the cache after the server has stopped
PAUSE_SECONDS = 0.2
CANCEL_SECONDS = 3
LOWEST_PRIORITY = ("nice", "-n", "19")

WaitUntilReady = Callable[[str, str, GuardedProcess], None]


class AotCache:
    """The cache file that belongs to one Java build, one list of jars and one set of flags."""

    def __init__(self, folder: Path, command: Neo4jCommand) -> None:
        self.folder = folder
        # made without extra jars, it serves with and without them
        self.command = replace(command, extra_jars=())
        self.path = folder / f"aot-{fingerprint(command)}.aot"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags to use the cache; none while there is none."""
        return (f"-XX:AOTCache={self.path}", *QUIET) if self.path.exists() else ()

    @property
    def is_wanted(self) -> bool:
        """Whether this Java can have a cache and has none yet."""
        return self.command.java.has_aot_cache and not self.path.exists()


def fingerprint(command: Neo4jCommand) -> str:
    """Name everything that Java compares before it uses a cache.

    A cache of anything else is useless.
    """
    jars = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in command.jars]
    facts = [command.java.build, str(command.java.executable), *command.java.flags, *jars]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Yield a throw-away folder, and remove those of processes that were killed."""
    for left in folder.glob(f"{TRAINING_FOLDER}*"):
        shutil.rmtree(left, ignore_errors=True)
    root = Path(tempfile.mkdtemp(dir=folder, prefix=TRAINING_FOLDER))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


class AotTraining:
    """Makes the cache in the background with a server of its own.

    It never disturbs the real one.
    """

    def __init__(
        self, cache: AotCache, wait_until_ready: WaitUntilReady, delay_seconds: float
    ) -> None:
        self._cache = cache
        self._wait_until_ready = wait_until_ready
        self._delay_seconds = delay_seconds
        self._cancelled = threading.Event()
        self._process: GuardedProcess | None = None
        self._thread = threading.Thread(target=self._run, name="aot-training", daemon=True)

    def start(self) -> None:
        """Begin, after the delay."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def cancel(self) -> None:
        """Give up at once."""
        self._cancelled.set()
        if self._process:
            self._process.kill()
        self._thread.join(CANCEL_SECONDS)

    def _run(self) -> None:
        if self._cancelled.wait(self._delay_seconds):
            return
        folder = self._cache.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / "aot.lock", timeout=0):
                if self._cache.is_wanted:
                    self._train_in(folder)
        except Timeout:
            return  # another process is at it
        except Exception as problem:  # noqa: BLE001, the service does well without a cache
            if not self._cancelled.is_set():
                log.warning("the start-up cache could not be made: %s", problem)

    def _train_in(self, folder: Path) -> None:
        with temporary_folder(folder) as root:
            part = root / "cache"
            self._train(Neo4jHome(root / "home"), part)
            if part.exists() and not self._cancelled.is_set():
                for old in folder.glob("aot-*.aot"):  # of another Java or Neo4j, 160 MB each
                    old.unlink()
                part.replace(self._cache.path)

    def _train(self, home: Neo4jHome, part: Path) -> None:
        """Start a server, let it answer one query, and give Java the time to write its cache."""
        command = self._cache.command
        port = free_port()
        home.make_folder()
        home.configure(configuration(bolt_port=port, http_port=free_port(), pagecache="32m"))
        password = home.password_or_new()
        set_first_password(home, command, password)
        prefix = LOWEST_PRIORITY if shutil.which(LOWEST_PRIORITY[0]) else ()
        flags = (f"-XX:AOTCacheOutput={part}", *QUIET)
        process = GuardedProcess(
            (*prefix, *command.server(home, flags)),
            log_path=home.log_path,
            env=command.environment(home),
            grace_seconds=1,
        )
        self._process = process
        if self._cancelled.is_set():
            return
        process.start()
        try:
            self._wait_until_ready(f"bolt://{HOST}:{port}", password, process)
            process.terminate()
            self._wait_for_end(process)
        finally:
            process.kill()

    def _wait_for_end(self, process: GuardedProcess) -> None:
        end = time.monotonic() + TRAINING_SECONDS
        while process.poll() is None and not self._cancelled.is_set() and time.monotonic() < end:
            time.sleep(PAUSE_SECONDS)
        if process.poll() != 0:
            message = f"the training run ended with {process.poll()}"
            raise RuntimeError(message)
