"""The embedded Neo4j, with the real server."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from builders import a_request
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError
from waiting import eventually

from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedded.server import EmbeddedNeo4j, EmbeddedOptions, Endpoint, attach
from graphmem.adapters.embedders import HashEmbedder
from graphmem.adapters.tcp import free_port
from graphmem.database import has_failed
from graphmem.errors import EmbeddedServerError
from graphmem.model.memory import MemoryType
from graphmem.recall.request import RankerName
from graphmem.store.connection import Connection
from graphmem.store.migrations import apply_migrations, core_migrations

REPOSITORY = Path(__file__).parents[2]
QUICK = ("-XX:TieredStopAtLevel=1",)
OWNER = """
import sys, time
from pathlib import Path
from graphmem.adapters.embedded.server import EmbeddedNeo4j, EmbeddedOptions
server = EmbeddedNeo4j(EmbeddedOptions(
    folder=Path(sys.argv[1]), bolt_port=int(sys.argv[2]), http_port=None,
    heap="384m", pagecache="64m",
    extra_flags=("-XX:TieredStopAtLevel=1",), train_cache=False,
))
server.start()
print("ready", flush=True)
time.sleep(600)
"""


def options(folder: Path, **changes: Any) -> EmbeddedOptions:
    """Return options for a small, quick server on a free port."""
    small: dict[str, Any] = {
        "folder": folder,
        "bolt_port": free_port(),
        "http_port": None,
        "heap": "384m",
        "pagecache": "64m",
        "extra_flags": QUICK,
        "train_cache": False,
    }
    return EmbeddedOptions(**{**small, **changes})


def driver_for(endpoint: Endpoint) -> Driver:
    """Return a driver that must be closed."""
    return GraphDatabase.driver(endpoint.uri, auth=(endpoint.user, endpoint.password))


def server_processes(folder: Path) -> list[psutil.Process]:
    """Return the guard and the server of a folder."""
    guard = psutil.Process(json.loads((folder / "server.json").read_text())["guard_pid"])
    return [guard, *guard.children(recursive=True)]


def wait_for_end(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Return those that are still alive after that time.

    What nobody has collected counts as ended.
    """
    end = time.monotonic() + seconds
    while True:
        alive = [
            one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE
        ]
        if not alive or time.monotonic() > end:
            return alive
        time.sleep(0.05)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedNeo4j]:
    """A server with HTTP, started by a thread that has ended."""
    server = EmbeddedNeo4j(
        options(tmp_path_factory.mktemp("neo4j") / "home", http_port=free_port())
    )
    with ThreadPoolExecutor(1) as thread:
        thread.submit(server.start).result()
    yield server
    server.stop()


def test_server_answers_queries_also_when_its_starting_thread_has_ended(
    running: EmbeddedNeo4j,
) -> None:
    """The kernel ties the server to the guard, not to our thread."""
    with driver_for(running.start()) as driver:
        assert [1] == driver.execute_query("RETURN 1 AS one").records[0].values()
    assert running.is_running()


def test_known_default_password_is_refused(running: EmbeddedNeo4j) -> None:
    """Every folder has a password of its own."""
    endpoint = running.start()
    with (
        GraphDatabase.driver(endpoint.uri, auth=("neo4j", "neo4j")) as driver,
        pytest.raises(AuthError),
    ):
        driver.verify_connectivity()


def test_only_the_user_can_read_the_folder_and_the_password(running: EmbeddedNeo4j) -> None:
    """The folder has mode 0700, the password file 0600."""
    folder = running.options.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600
    assert not list(folder.glob("admin-*"))


def test_password_stands_in_no_command_line_and_no_repr(running: EmbeddedNeo4j) -> None:
    """Other users of the machine can list processes."""
    endpoint = running.start()
    commands = [one.cmdline() for one in server_processes(running.options.folder)]
    assert endpoint.password not in str(commands)
    assert endpoint.password not in repr(endpoint)


def test_server_listens_on_its_two_loopback_ports_only(running: EmbeddedNeo4j) -> None:
    """Nothing is open to the network."""
    java = server_processes(running.options.folder)[-1]
    listening = {
        tuple(one.laddr) for one in java.net_connections() if one.status == psutil.CONN_LISTEN
    }
    ports = (running.options.bolt_port, running.options.http_port)
    assert {("127.0.0.1", port) for port in ports} == {
        (address.removeprefix("::ffff:"), port) for address, port in listening
    }


def test_second_owner_of_the_folder_is_refused_with_a_sentence(running: EmbeddedNeo4j) -> None:
    """The sentence names the folder and the process."""
    folder = running.options.folder
    with pytest.raises(EmbeddedServerError) as refusal:
        EmbeddedNeo4j(options(folder)).start()
    assert (
        refusal.value.message == f"The data folder {folder} is in use by the process {os.getpid()}."
    )
    assert running.is_running()
    assert f":{running.options.bolt_port}\n" in (folder / "conf" / "neo4j.conf").read_text()


def test_other_process_can_attach_without_owning(running: EmbeddedNeo4j) -> None:
    """It gets the same endpoint from the folder alone."""
    assert running.start() == attach(running.options.folder)


def test_nothing_can_be_attached_where_no_server_runs(tmp_path: Path) -> None:
    """An unused folder is not an error."""
    assert attach(tmp_path) is None


@pytest.mark.parametrize("name", ["bolt_port", "http_port"])
def test_port_in_use_is_told_before_anything_is_made(
    tmp_path: Path, running: EmbeddedNeo4j, name: str
) -> None:
    """The sentence names the port."""
    port = running.options.bolt_port
    with pytest.raises(EmbeddedServerError, match=rf"^Port {port} on 127\.0\.0\.1 is in use"):
        EmbeddedNeo4j(options(tmp_path / "home", **{name: port})).start()
    assert not (tmp_path / "home" / "password").exists()


@pytest.fixture
def real_house(running, house_at):
    """A service over a server that plans as those of users do."""
    at = running.start()
    connection = Connection(at.uri, user=at.user, password=at.password)
    apply_migrations(
        connection,
        [core_migrations()],
        embedder=HashEmbedder(),
        clock=SystemClock(),
        holder="tests",
    )
    with house_at(connection) as house:
        yield house
    connection.close()


def test_in_steady_state_no_recall_waits_for_a_plan(real_house):
    house = real_house
    house.write(*[a_request(f"Tea fact {number}.", tags=("t",)) for number in range(30)])

    house.graphmem.journal.close()  # what is written behind makes no recall wait

    def plans_after(*, recalls):
        clear_plans(house)
        house.graphmem.recall.warm_up()
        for number in range(recalls):
            house.recall("tea " * (number + 1), "user:ada", limit=number + 1)
            house.recall(
                f"tea {number}",
                "user:ada",
                "user:bob",
                types=[MemoryType.FACT],
                include_superseded=True,
            )
            house.recall("tea", tags=["t"], cards=True, graph=bool(number % 2))
            house.recall("tea", entities=["person:ada"], known_at=house.clock.now())
            house.recall("?!", ranker=RankerName.RRF)
        return clear_plans(house)

    assert plans_after(recalls=0) == plans_after(recalls=12)


def clear_plans(house):
    """Empty the server's plan cache; says how many plans were in it."""
    said = house.rows("CALL db.clearQueryCaches()")[0][0]
    number = re.search(r"\d+", said)
    return int(number[0]) if number else 0


def test_lost_password_file_is_told_and_the_data_are_left_alone(tmp_path: Path) -> None:
    """A new password could not open old data."""
    (tmp_path / "data" / "databases").mkdir(parents=True)
    with pytest.raises(
        EmbeddedServerError, match=r"^The password file .*password is lost, but there are"
    ):
        EmbeddedNeo4j(options(tmp_path)).start()
    assert (tmp_path / "data" / "databases").is_dir()


def test_folder_is_free_again_after_a_start_that_failed(tmp_path: Path) -> None:
    """What Java says about a wrong heap size reaches the user, twice."""
    for _ in range(2):
        with pytest.raises(EmbeddedServerError, match="Invalid maximum heap size: -Xmxmuch"):
            EmbeddedNeo4j(options(tmp_path / "home", heap="much")).start()


def test_data_survive_a_killed_server_and_a_stop_takes_a_few_seconds(tmp_path: Path) -> None:
    """Kill -9, start again, and stop while a client holds a transaction open."""
    server = EmbeddedNeo4j(options(tmp_path / "home"))
    with driver_for(server.start()) as driver:
        driver.execute_query("CREATE (:Kept {number: 7})")
    guard, java = server_processes(tmp_path / "home")
    java.kill()
    assert [] == wait_for_end([guard, java], 5)
    assert eventually(lambda: not server.is_running(), seconds=5)
    assert attach(tmp_path / "home") is None

    with driver_for(server.start()) as driver:
        kept = driver.execute_query("MATCH (n:Kept) RETURN n.number AS number").records
        assert [7] == [record["number"] for record in kept]
        with driver.session() as session:
            session.begin_transaction().run("CREATE (:Lost)").consume()
            begin = time.monotonic()
            server.stop()
            seconds = time.monotonic() - begin
    assert seconds < 15  # the guard would end it after that
    assert not (tmp_path / "home" / "server.json").exists()


@pytest.mark.torture
def test_store_that_needs_more_memory_to_recover_is_opened_with_a_larger_heap(
    tmp_path: Path,
) -> None:
    """One write is larger than the heap of the next start."""
    server = EmbeddedNeo4j(options(tmp_path / "home", heap="1200m"))
    with driver_for(server.start()) as driver:
        driver.execute_query("CREATE (:Kept {numbers: range(1, 6000000)})")
    for process in reversed(server_processes(tmp_path / "home")):
        process.kill()
    assert eventually(lambda: not server.is_running(), seconds=5)
    server.stop()

    small = EmbeddedNeo4j(options(tmp_path / "home", heap="128m"), has_failed=has_failed)
    with driver_for(small.start()) as driver:
        kept = driver.execute_query("MATCH (n:Kept) RETURN size(n.numbers) AS size").records
    command = server_processes(tmp_path / "home")[-1].cmdline()
    small.stop()

    assert [6_000_000] == [record["size"] for record in kept]
    assert "-Xmx1024m" in command


def test_killed_owner_leaves_no_process_and_the_next_owner_starts_at_once(tmp_path: Path) -> None:
    """A stale server.json and a server that is still stopping are no obstacle."""
    folder, port = tmp_path / "home", free_port()
    command = (sys.executable, "-c", OWNER, str(folder), str(port))
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        left = server_processes(folder)
        owner.send_signal(signal.SIGKILL)
    assert (folder / "server.json").exists()
    with EmbeddedNeo4j(options(folder, bolt_port=port)) as endpoint:
        assert [] == wait_for_end(left, 5)
        assert endpoint == attach(folder)
