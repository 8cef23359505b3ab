"""The jars come from a Maven repository on loopback, through the real client."""

import errno
import gc
import hashlib
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graphmem.adapters.embedded import browser
from graphmem.adapters.embedded.jars import (
    Jar,
    JarLock,
    download_problem,
    fetch_jars,
    jars_in,
    packaged_lock,
    read_lock,
    unreachable,
)
from graphmem.adapters.tcp import free_port
from graphmem.errors import EmbeddedServerError

CONTENTS = {"org.neo4j:neo4j:9.1": b"first", "io.netty:native:1.0:linux-x86_64": b"second"}
LOCK_TEXT = "# a comment\n\n" + "".join(
    f"{coordinates} {hashlib.sha256(content).hexdigest()} {len(content)}\n"
    for coordinates, content in CONTENTS.items()
)


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture
def lock() -> JarLock:
    """A lock of two tiny jars."""
    return read_lock(LOCK_TEXT)


@pytest.fixture
def repository(tmp_path: Path, lock: JarLock) -> Path:
    """The folder of a Maven repository that has both jars."""
    folder = tmp_path / "repository"
    for jar, content in zip(lock.jars, CONTENTS.values(), strict=True):
        path = folder / jar.path
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return folder


@pytest.fixture
def maven_url(repository: Path) -> Iterator[str]:
    """The address of that repository on loopback."""
    handler = partial(QuietHandler, directory=str(repository))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def contents(paths: list[Path]) -> set[bytes]:
    """Read all files."""
    return {path.read_bytes() for path in paths}


def test_lock_line_gives_coordinates_checksum_and_size(lock: JarLock) -> None:
    """The classifier is optional; comments and empty lines are passed over."""
    expected = Jar(
        group="io.netty",
        artifact="native",
        version="1.0",
        classifier="linux-x86_64",
        sha256=hashlib.sha256(b"second").hexdigest(),
        size=6,
    )
    assert expected == lock.jars[1]
    assert [jar.coordinates for jar in lock.jars] == list(CONTENTS)
    assert lock.version == "9.1"


def test_packaged_lock_lists_the_whole_server() -> None:
    """One version, every jar once."""
    lock = packaged_lock()
    assert lock.version == "2026.09.0"
    assert len({jar.file_name for jar in lock.jars}) == 230
    assert lock.total_bytes == 161_120_218


def test_digest_of_the_lock_does_not_depend_on_comments(lock: JarLock) -> None:
    """A reworded comment must not make everybody check all jars again."""
    assert lock.digest == read_lock("# reworded\n" + LOCK_TEXT).digest


def test_missing_jars_are_fetched(tmp_path: Path, lock: JarLock, maven_url: str) -> None:
    """They come back sorted, in Maven's layout."""
    paths = fetch_jars(tmp_path / "cache", lock, maven_url)
    assert paths == sorted(tmp_path / "cache" / jar.path for jar in lock.jars)
    assert contents(paths) == set(CONTENTS.values())


def test_plain_progress_lines_are_written_when_there_is_no_terminal(
    tmp_path: Path, lock: JarLock, maven_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """They go to standard error, which is free of answers."""
    fetch_jars(tmp_path / "cache", lock, maven_url)
    written = capfd.readouterr()
    assert written.err.startswith("Neo4j 9.1, 2 jars: 0 of 0 MB\n")
    assert not written.out


def test_cached_jars_need_no_network(tmp_path: Path, lock: JarLock, maven_url: str) -> None:
    """The second time nothing is asked."""
    fetch_jars(tmp_path / "cache", lock, maven_url)
    paths = fetch_jars(tmp_path / "cache", lock, f"http://127.0.0.1:{free_port()}")
    assert contents(paths) == set(CONTENTS.values())


def test_jar_of_a_broken_download_is_fetched_again(
    tmp_path: Path, lock: JarLock, maven_url: str
) -> None:
    """The client would trust the short file."""
    short = tmp_path / "cache" / lock.jars[0].path
    short.parent.mkdir(parents=True)
    short.write_bytes(b"fir")
    assert contents(fetch_jars(tmp_path / "cache", lock, maven_url)) == set(CONTENTS.values())


def test_jar_that_lost_bytes_later_is_fetched_again(
    tmp_path: Path, lock: JarLock, maven_url: str
) -> None:
    """Later starts still compare sizes."""
    paths = fetch_jars(tmp_path / "cache", lock, maven_url)
    paths[0].write_bytes(b"")
    assert contents(fetch_jars(tmp_path / "cache", lock, maven_url)) == set(CONTENTS.values())


def test_jar_with_a_wrong_checksum_is_refused_and_removed(
    tmp_path: Path, lock: JarLock, repository: Path, maven_url: str
) -> None:
    """The right size does not help."""
    (repository / lock.jars[0].path).write_bytes(b"worst")
    with pytest.raises(
        EmbeddedServerError, match=r"The jar org\.neo4j:neo4j:9\.1 .* checksum of the lock"
    ):
        fetch_jars(tmp_path / "cache", lock, maven_url)
    assert not (tmp_path / "cache" / lock.jars[0].path).exists()


# jgo leaves the connection of a 404 to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_jar_that_the_repository_lacks_is_told(
    tmp_path: Path, lock: JarLock, repository: Path, maven_url: str
) -> None:
    """The sentence names the jar and the ways out."""
    (repository / lock.jars[1].path).unlink()
    with pytest.raises(EmbeddedServerError) as refusal:
        fetch_jars(tmp_path / "cache", lock, maven_url)
    message = refusal.value.message
    del refusal
    gc.collect()
    assert message == (
        "The jar io.netty:native:1.0:linux-x86_64 could not be downloaded (the repository does"
        " not have it); "
        "GRAPHMEM_MAVEN_URL can name a mirror, GRAPHMEM_NEO4J_LIB a folder that has the jars."
    )


def test_repository_that_does_not_answer_is_told(tmp_path: Path, lock: JarLock) -> None:
    """No trace of the HTTP client reaches the user."""
    with pytest.raises(EmbeddedServerError, match=r"could not be downloaded \(no answer\)"):
        fetch_jars(tmp_path / "cache", lock, f"http://127.0.0.1:{free_port()}")


def test_full_disk_is_told_with_the_folder_and_the_need() -> None:
    """The user has to make room."""
    full = OSError(errno.ENOSPC, "No space left on device")
    expected = "The disk is full: the jars of Neo4j need 170 MB in cache."
    assert expected == download_problem(full, Path("cache"))


def test_cache_folder_that_cannot_be_written_is_told(tmp_path: Path, lock: JarLock) -> None:
    """A file in the way is the simplest case."""
    (tmp_path / "cache").write_text("")
    with pytest.raises(EmbeddedServerError, match=r"cannot be kept in .*: File exists"):
        fetch_jars(tmp_path / "cache", lock)


def test_ready_made_folder_may_be_flat_or_in_mavens_layout(
    tmp_path: Path, lock: JarLock, repository: Path
) -> None:
    """Both are what people have at hand."""
    flat = tmp_path / "flat"
    flat.mkdir()
    for jar, content in zip(lock.jars, CONTENTS.values(), strict=True):
        (flat / jar.file_name).write_bytes(content)
    assert (
        contents(jars_in(repository, lock))
        == contents(jars_in(flat, lock))
        == set(CONTENTS.values())
    )


def test_ready_made_folder_that_lacks_a_jar_is_refused(lock: JarLock, repository: Path) -> None:
    """The missing file is named."""
    (repository / lock.jars[1].path).unlink()
    with pytest.raises(EmbeddedServerError, match=r"lacks native-1\.0-linux-x86_64\.jar"):
        jars_in(repository, lock)


def test_ready_made_jar_with_a_wrong_checksum_is_refused(lock: JarLock, repository: Path) -> None:
    """Ready-made jars are checked as well."""
    (repository / lock.jars[0].path).write_bytes(b"worst")
    with pytest.raises(EmbeddedServerError, match="checksum of the lock"):
        jars_in(repository, lock)


@pytest.fixture
def browser_of(lock: JarLock, monkeypatch: pytest.MonkeyPatch) -> Jar:
    """A tiny jar in the place of the Browser's, and little patience."""
    monkeypatch.setattr(browser, "packaged_browser", lambda: lock.jars[0])
    monkeypatch.setattr(browser, "SILENT_SECONDS", 1)
    return lock.jars[0]


def test_browser_is_fetched_once_and_checked(
    tmp_path: Path, browser_of: Jar, maven_url: str
) -> None:
    """The second time nothing is asked."""
    first = browser.find_browser(tmp_path, maven_url=maven_url)
    again = browser.find_browser(tmp_path, maven_url=f"http://127.0.0.1:{free_port()}")
    assert first.jar is not None
    assert first.jar.read_bytes() == b"first"
    assert first == again


def test_browser_that_is_another_one_is_not_taken(
    tmp_path: Path, browser_of: Jar, repository: Path, maven_url: str
) -> None:
    """The service says so and starts without it."""
    (repository / browser_of.path).write_bytes(b"worst")
    found = browser.find_browser(tmp_path, maven_url=maven_url)
    assert found.jar is None
    assert "does not have the checksum of the lock" in str(found.problem)


def test_browser_without_network_is_told_at_once(tmp_path: Path, browser_of: Jar) -> None:
    """A refused connection is not tried again and again."""
    started = time.monotonic()
    found = browser.find_browser(tmp_path, maven_url=f"http://127.0.0.1:{free_port()}")
    assert found.jar is None
    assert str(found.problem).startswith("Neo4j Browser is not served: The jar org.neo4j:neo4j")
    assert time.monotonic() - started < 5


def test_browser_is_not_waited_for_when_no_byte_comes(tmp_path: Path, browser_of: Jar) -> None:
    """A network that swallows everything delays the start by its patience alone."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        started = time.monotonic()
        found = browser.find_browser(
            tmp_path, maven_url=f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
    assert found.problem in {
        "Neo4j Browser is not served: Its download stood still for 1 seconds.",
        f"Neo4j Browser is not served: {unreachable(browser_of, OSError())}",
    }
    assert time.monotonic() - started < 5


def test_browser_whose_cache_cannot_be_written_is_told(tmp_path: Path, browser_of: Jar) -> None:
    """A file in the way is the simplest case."""
    (tmp_path / f"{browser_of.artifact}-{browser_of.version}").write_text("")
    assert "not served" in str(browser.find_browser(tmp_path).problem)
