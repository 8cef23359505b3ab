"""The jars of the embedded Neo4j: listed in the lock, fetched once, checked before use."""

import errno
import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from graphmem.adapters.embedded.download_progress import download_progress
from graphmem.errors import EmbeddedServerError
from graphmem.retries import attempts

if TYPE_CHECKING:
    from jgo.maven import MavenContext

LOCK_PATH = Path(__file__).with_name("jars.lock")
THREADS = 8
TRIES = 3
PAUSE_SECONDS = 0.3
TIMEOUT_SECONDS = 30
STAMP = "checked"
WAY_OUT = "GRAPHMEM_MAVEN_URL can name a mirror, GRAPHMEM_NEO4J_LIB a folder that has the jars"


@dataclass(frozen=True, kw_only=True)
class Jar:
    """One line of the lock."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    size: int

    @property
    def coordinates(self) -> str:
        """The name of the jar as Maven writes it."""
        return ":".join(filter(None, (self.group, self.artifact, self.version, self.classifier)))

    @property
    def file_name(self) -> str:
        """The name of the file."""
        return "-".join(filter(None, (self.artifact, self.version, self.classifier))) + ".jar"

    @property
    def path(self) -> Path:
        """Where Maven's layout has the file."""
        return Path(*self.group.split("."), self.artifact, self.version, self.file_name)


@dataclass(frozen=True, kw_only=True)
class JarLock:
    """All jars of one server version, and a digest that names this list."""

    jars: tuple[Jar, ...]
    digest: str

    @property
    def total_bytes(self) -> int:
        """The size of all jars together."""
        return sum(jar.size for jar in self.jars)

    @property
    def version(self) -> str:
        """The version of Neo4j."""
        return next((jar.version for jar in self.jars if jar.artifact == "neo4j"), self.digest[:12])


def read_lock(text: str) -> JarLock:
    """Read lines of `group:artifact:version[:classifier] sha256 bytes`.

    `#` starts a comment line.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return JarLock(jars=tuple(map(read_line, lines)), digest=digest)


def read_line(line: str) -> Jar:
    """Read one line of the lock."""
    coordinates, sha256, size = line.split()
    group, artifact, version, *classifier = coordinates.split(":")
    return Jar(
        group=group,
        artifact=artifact,
        version=version,
        classifier="".join(classifier),
        sha256=sha256,
        size=int(size),
    )


def packaged_lock() -> JarLock:
    """Return the lock that belongs to this version of graphmem."""
    return read_lock(LOCK_PATH.read_text(encoding="utf-8"))


def jars_in(folder: Path, lock: JarLock) -> list[Path]:
    """Return the jars of a folder that somebody filled, flat or in Maven's layout, all checked.

    Raises EmbeddedServerError when one is missing or not the one of the lock.
    """
    paths = []
    for jar in lock.jars:
        path = find_in(folder, jar)
        if path is None:
            message = (
                f"The folder {folder} lacks {jar.file_name}, one of the {len(lock.jars)}"
                " jars of Neo4j."
            )
            raise EmbeddedServerError(message)
        paths.append(path)
    return sorted(paths)


def find_in(folder: Path, jar: Jar) -> Path | None:
    """Return where a folder has a jar, flat or in Maven's layout, or None.

    Raises EmbeddedServerError when it is not the one of the lock.
    """
    candidates = (folder / jar.file_name, folder / jar.path)
    path = next((each for each in candidates if each.is_file()), None)
    if path and not is_right(path, jar):
        raise EmbeddedServerError(wrong_checksum(jar, path))
    return path


def fetch_jars(folder: Path, lock: JarLock, maven_url: str | None = None) -> list[Path]:
    """Return the jars of the cache folder; only what is missing is fetched over the network.

    Raises EmbeddedServerError when a jar cannot be fetched or is not the one of the lock.
    """
    paths = sorted(folder / jar.path for jar in lock.jars)
    if has_all(folder, lock):
        return paths
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "fetch.lock", thread_local=False):
            if not has_all(folder, lock):  # another process may have been here first
                fetch_missing(folder, lock, maven_url)
                (folder / STAMP).write_text(lock.digest, encoding="utf-8")
    except OSError as problem:
        raise EmbeddedServerError(download_problem(problem, folder)) from problem
    return paths


def has_all(folder: Path, lock: JarLock) -> bool:
    """Whether a full check was passed before and the sizes are still right."""
    try:
        if (folder / STAMP).read_text(encoding="utf-8") != lock.digest:
            return False
        return all((folder / jar.path).stat().st_size == jar.size for jar in lock.jars)
    except OSError:
        return False


def fetch_missing(folder: Path, lock: JarLock, maven_url: str | None) -> None:
    """Fetch all jars that are not there and right."""
    missing = [jar for jar in lock.jars if not is_right(folder / jar.path, jar)]
    if not missing:
        return
    total_bytes = sum(jar.size for jar in missing)
    context = maven(folder, maven_url)
    with download_progress(f"Neo4j {lock.version}, {len(missing)} jars", total_bytes) as advance:
        for jar in in_threads(context, missing):
            advance(jar.size)


def in_threads(context: "MavenContext", jars: list[Jar]) -> Iterable[Jar]:
    """Fetch with several threads and yield each jar that has arrived.

    The first failure ends it all.
    """
    with ThreadPoolExecutor(THREADS, thread_name_prefix="jars") as threads:
        try:
            for done in as_completed([threads.submit(fetch, context, jar) for jar in jars]):
                yield done.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def maven(
    folder: Path, maven_url: str | None, *, timeout_seconds: int = TIMEOUT_SECONDS
) -> "MavenContext":
    """Return the Maven client; it knows the central repository itself."""
    from jgo.maven import MavenContext  # noqa: PLC0415, half a second that only a download needs

    remotes = {"central": maven_url.rstrip("/")} if maven_url else None
    return MavenContext(repo_cache=folder, remote_repos=remotes, timeout=timeout_seconds)


def fetch(context: "MavenContext", jar: Jar, *, tries: int = TRIES) -> Jar:
    """Fetch one jar and check it, with a number of tries.

    Raises:
        EmbeddedServerError: it was not to be had, or was not the right one.
        OSError: the disk is full.
    """
    for attempt in attempts(EmbeddedServerError, tries=tries, pause=PAUSE_SECONDS):
        with attempt:
            _fetch_once(context, jar)
    return jar


def _fetch_once(context: "MavenContext", jar: Jar) -> None:
    path = context.repo_cache / jar.path
    path.unlink(missing_ok=True)  # what is there is wrong, and the client would trust it
    try:
        path = resolve(context, jar)
    except (OSError, RuntimeError) as failure:  # the client's network errors are OSErrors
        if isinstance(failure, OSError) and failure.errno == errno.ENOSPC:
            raise
        raise EmbeddedServerError(unreachable(jar, failure)) from failure
    if not is_right(path, jar):
        problem = wrong_checksum(jar, path)
        path.unlink()
        raise EmbeddedServerError(problem)


def resolve(context: "MavenContext", jar: Jar) -> Path:
    """Let the Maven client fetch one jar."""
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    return component.artifact(jar.classifier).resolve()


def is_right(path: Path, jar: Jar) -> bool:
    """Whether the file is there and is the one of the lock."""
    try:
        if path.stat().st_size != jar.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except FileNotFoundError:
        return False


def wrong_checksum(jar: Jar, path: Path) -> str:
    """Say that a jar is not the one of the lock."""
    return (
        f"The jar {jar.coordinates} at {path} does not have the checksum of the lock, so it"
        " was not used."
    )


def unreachable(jar: Jar, failure: Exception) -> str:
    """Say that a jar could not be had."""
    reason = "the repository does not have it" if isinstance(failure, RuntimeError) else "no answer"
    return f"The jar {jar.coordinates} could not be downloaded ({reason}); {WAY_OUT}."


def download_problem(problem: OSError, folder: Path) -> str:
    """Say why the cache folder could not be filled."""
    if problem.errno == errno.ENOSPC:
        return f"The disk is full: the jars of Neo4j need 170 MB in {folder}."
    return f"The jars of Neo4j cannot be kept in {folder}: {problem.strerror or problem}."
