"""Fixtures: one real Neo4j for the whole run, a tenant of its own for each test."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # builders and fakes

import hypothesis
from fakes import BreakableEmbedder, FixedClock
from uuid6 import uuid7

from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedded.server import EmbeddedNeo4j, EmbeddedOptions
from graphmem.adapters.embedders import HashEmbedder
from graphmem.adapters.tcp import free_port
from graphmem.bootstrap import Graphmem, build
from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.model.caller import Caller, Role
from graphmem.model.writing import WriteReport, WriteRequest
from graphmem.recall.request import Bundle, RecallRequest
from graphmem.settings import Settings, load_settings
from graphmem.store.connection import Connection
from graphmem.store.migrations import apply_migrations, core_migrations

# for a server that lives for minutes: no second compiler, and the first one earlier
QUICK_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=0.2")
# Most of a test's time was planning: here a query is planned once, not again whenever the graph has
# grown for ten seconds, and not once more for each size of its lists and texts.
FEWER_PLANS = (
    "dbms.cypher.min_replan_interval=1h",
    "internal.cypher.use_parameter_size=false",
)

# for one transaction, so that a query which carries too much fails here first
LITTLE_MEMORY = "db.memory.transaction.max=256m"

hypothesis.settings.register_profile("here", max_examples=50, deadline=None)
hypothesis.settings.register_profile("fuzz", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("here")


@pytest.fixture(scope="session", autouse=True)
def _own_environment() -> None:
    """No setting of the person who runs the tests reaches them."""
    for name in [
        name for name in os.environ if name.startswith("GRAPHMEM_") and "TEST" not in name
    ]:
        del os.environ[name]


@pytest.fixture(scope="session")
def neo4j_address() -> Iterator[tuple[str, str, str]]:
    """A real Neo4j: the given one, else a container, else the embedded server."""
    if given := os.environ.get("GRAPHMEM_TEST_NEO4J_URI"):
        user = os.environ.get("GRAPHMEM_TEST_NEO4J_USER", "neo4j")
        yield given, user, os.environ.get("GRAPHMEM_TEST_NEO4J_PASSWORD", "")
    elif docker_answers():
        from testcontainers.community.neo4j import Neo4jContainer  # noqa: PLC0415 - only where Docker is

        password = str(uuid7())
        with Neo4jContainer(
            "neo4j:2026.09.0-community", username="neo4j", password=password
        ) as container:
            yield container.get_connection_url(), "neo4j", password
    else:
        with tempfile.TemporaryDirectory(prefix="graphmem-test-") as folder:
            options = EmbeddedOptions(
                folder=Path(folder) / "neo4j",
                bolt_port=free_port(),
                http_port=None,
                heap="512m",
                pagecache="64m",
                extra_flags=QUICK_JAVA,
                extra_settings=(*FEWER_PLANS, LITTLE_MEMORY),
                train_cache=False,
            )
            with EmbeddedNeo4j(options) as endpoint:
                yield endpoint.uri, endpoint.user, endpoint.password


def docker_answers() -> bool:
    """Whether a Docker daemon, not only its client, is there."""
    client = shutil.which("docker")
    if client is None:
        return False
    asked = subprocess.run(
        [client, "version", "--format", "{{.Server.Version}}"], capture_output=True, check=False
    )
    return asked.returncode == 0


@pytest.fixture(scope="session")
def connection(neo4j_address: tuple[str, str, str]) -> Iterator[Connection]:
    """A connection to a database with our schema."""
    uri, user, password = neo4j_address
    opened = Connection(uri, user=user, password=password)
    apply_migrations(
        opened,
        [core_migrations(CORE_STEPS)],
        embedder=HashEmbedder(),
        clock=SystemClock(),
        holder="tests",
    )
    yield opened
    opened.close()


@dataclass(frozen=True, kw_only=True)
class House:
    """A built service with a tenant of its own, and short ways to use it."""

    graphmem: Graphmem
    caller: Caller
    clock: FixedClock
    embedder: BreakableEmbedder

    def write(self, *requests: WriteRequest, **options: Any) -> WriteReport:
        """Write as this tenant."""
        return self.graphmem.writing.write(requests, caller=self.caller, **options)

    def recall(self, query: str, *spaces: str, **options: Any) -> Bundle:
        """Recall as this tenant, from Ada's space if none is named."""
        request = RecallRequest(spaces=spaces or ("user:ada",), query=query, **options)
        return self.graphmem.recall.recall(request, caller=self.caller)

    def contents(self, query: str, *spaces: str, **options: Any) -> list[str]:
        """The contents that a recall returns, best first."""
        return [item.memory.content for item in self.recall(query, *spaces, **options).items]

    def rows(self, cypher: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Ask the graph directly; ``$tenant`` is this tenant's prefix."""
        found = self.graphmem.connection.run_statement(
            cypher, tenant=f"{self.caller.tenant}/", **parameters
        )
        return [tuple(row.values()) for row in found]


@contextmanager
def house_over(connection: Connection, settings: Settings) -> Iterator[House]:
    """A built service whose memories no other test sees; they are removed afterwards."""
    clock, embedder = FixedClock(), BreakableEmbedder()
    tenant = f"t-{uuid7()}"
    built = House(
        graphmem=build(settings, connection, clock=clock, embedder=embedder),
        caller=Caller(key_id="test", tenant=tenant, role=Role.ADMIN, spaces=("*",)),
        clock=clock,
        embedder=embedder,
    )
    try:
        yield built
    finally:
        built.graphmem.journal.close()
        built.graphmem.events.close()
        built.rows("MATCH (t:Trace {tenant: $name}) DETACH DELETE t", name=tenant)
        built.rows("MATCH (n) WHERE n.space STARTS WITH $tenant DETACH DELETE n")
        for label in ("Persona", "AiProfile", "Contract"):
            built.rows(f"MATCH (n:{label} {{tenant: $name}}) DETACH DELETE n", name=tenant)


@pytest.fixture
def house_at(settings: Settings) -> Callable[[Connection], AbstractContextManager[House]]:
    """What builds a service over any database that has our schema."""
    return lambda connection: house_over(connection, settings)


@pytest.fixture
def house(connection: Connection, settings: Settings) -> Iterator[House]:
    """The service of a test, over the server of the run."""
    with house_over(connection, settings) as built:
        yield built


@pytest.fixture(scope="module")
def house_of_module_at(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Connection], AbstractContextManager[House]]:
    """What builds a service for all tests of a module, over any database that has our schema."""
    settings = settings_in(tmp_path_factory.mktemp("module"))
    return lambda connection: house_over(connection, settings)


@pytest.fixture(scope="module")
def house_of_module(
    connection: Connection, house_of_module_at: Callable[..., AbstractContextManager[House]]
) -> Iterator[House]:
    """One service for all tests of a module: for those that change nothing of each other's."""
    with house_of_module_at(connection) as built:
        yield built


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with folders of their own and the hash embedder."""
    return settings_in(tmp_path)


def settings_in(folder: Path) -> Settings:
    """Settings whose folders lie in one."""
    return load_settings(
        {
            "GRAPHMEM_EMBEDDER": "hash",
            "GRAPHMEM_DATA_DIR": str(folder / "data"),
            "GRAPHMEM__SERVER__CACHE_DIR": str(folder / "cache"),
            "GRAPHMEM__WRITE__SOURCE_ROOTS": str(folder / "shared"),
        }
    )
