"""Neo4j Browser: one more jar, which the server does without, and what its page may ask for."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock

from graphmem.adapters.embedded.download_progress import download_progress
from graphmem.adapters.embedded.jars import Jar, fetch, find_in, is_right, maven, read_lock
from graphmem.adapters.tcp import HOST
from graphmem.errors import EmbeddedServerError

log = logging.getLogger(__name__)

LOCK_PATH = Path(__file__).with_name("browser.lock")
SILENT_SECONDS = 10  # without a byte: then the server starts without the Browser
POLL_SECONDS = 0.1
GUIDE, STYLE = "/browser/guide.html", "/browser/graphmem.grass"
# the page would load fonts and report errors and usage elsewhere, whatever its settings say
POLICY = (
    "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline';"
    " font-src 'self' data:; connect-src 'self' {addresses}; base-uri 'none'; object-src 'none';"
    " frame-ancestors 'none'"
)


@dataclass(frozen=True, kw_only=True)
class Browser:
    """The Browser's jar, or the sentence that says why there is none."""

    jar: Path | None = None
    problem: str | None = None


def packaged_browser() -> Jar:
    """Return the jar that belongs to this version of graphmem."""
    (jar,) = read_lock(LOCK_PATH.read_text(encoding="utf-8")).jars
    return jar


def find_browser(
    cache_folder: Path, *, jars_folder: Path | None = None, maven_url: str | None = None
) -> Browser:
    """Return the checked jar of the ready-made folder, or of the cache, where it is put once.

    It never raises: the service does well without the Browser.
    """
    jar = packaged_browser()
    try:
        if jars_folder:
            return Browser(jar=ready_made(jars_folder, jar))
        folder = cache_folder / f"{jar.artifact}-{jar.version}"
        return Browser(jar=fetch_once(folder, jar, maven_url))
    except (EmbeddedServerError, OSError) as problem:
        sentence = f"Neo4j Browser is not served: {problem}"
    log.warning("%s", sentence)
    return Browser(problem=sentence)


def ready_made(folder: Path, jar: Jar) -> Path:
    """Return the jar of a folder that somebody filled.

    Raises EmbeddedServerError when it is missing or not the one of the lock.
    """
    path = find_in(folder, jar)
    if path is None:
        message = f"The folder {folder} lacks {jar.file_name}."
        raise EmbeddedServerError(message)
    return path


def fetch_once(folder: Path, jar: Jar, maven_url: str | None) -> Path:
    """Return the jar of the cache folder; fetch it where it is missing, as long as bytes arrive.

    Raises EmbeddedServerError when it is not to be had.
    """
    path = folder / jar.path
    if is_right(path, jar):
        return path
    failures: list[Exception] = []

    def run() -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / "fetch.lock", thread_local=False):
                if not is_right(path, jar):  # another process may have been here first
                    context = maven(folder, maven_url, timeout_seconds=SILENT_SECONDS)
                    fetch(context, jar, tries=1)
        except Exception as failure:  # noqa: BLE001, told by the caller's thread
            failures.append(failure)

    # a daemon: what hangs in the network keeps nobody from stopping
    thread = threading.Thread(target=run, name="browser-jar", daemon=True)
    with download_progress(f"Neo4j Browser {jar.version}", jar.size) as advance:
        thread.start()
        wait_while_growing(thread, path, advance)
    if failures:
        raise EmbeddedServerError(str(failures[0])) from failures[0]
    if thread.is_alive():
        message = f"Its download stood still for {SILENT_SECONDS} seconds."
        raise EmbeddedServerError(message)
    return path


def wait_while_growing(
    thread: threading.Thread, path: Path, advance: Callable[[int], None]
) -> None:
    """Wait for the end of a download, or until nothing has come for a while."""
    size, last = 0, time.monotonic()
    while thread.is_alive() and time.monotonic() < last + SILENT_SECONDS:
        thread.join(POLL_SECONDS)
        arrived = path.stat().st_size if path.exists() else 0
        if arrived != size:
            advance(max(arrived - size, 0))
            size, last = arrived, time.monotonic()


def browser_settings(*, bolt_port: int, api_url: str) -> tuple[str, ...]:
    """Return the lines of neo4j.conf that keep the page to this machine and open our guide."""
    api = urlsplit(api_url)
    hosts = dict.fromkeys((HOST, "localhost", api.hostname or HOST))
    bolt = [
        f"{scheme}://{host}:{bolt_port}"
        for scheme in ("ws", "http")
        for host in (HOST, "localhost")
    ]
    addresses = " ".join([*bolt, *(f"http://{bracketed(host)}:{api.port}" for host in hosts)])
    policy = POLICY.format(addresses=addresses)
    return (
        f"dbms.security.http_static_content_security_policy_header={policy}",
        f"browser.post_connect_cmd=play {api_url}{GUIDE}",
        f"browser.remote_content_hostname_whitelist={','.join(hosts)}",
    )


def bracketed(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host else host
