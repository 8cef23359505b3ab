"""Bootstrap: the one place that picks adapters and builds the service."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedded_neo4j import USER, EmbeddedNeo4j, EmbeddedOptions, Endpoint, attach
from graphmem.adapters.embedders import build_embedder
from graphmem.adapters.event_log import EventLog
from graphmem.adapters.ids import TimeOrderedIds
from graphmem.adapters.language_models import build_language_model
from graphmem.adapters.neo4j_home import Neo4jHome
from graphmem.adapters.ports import HOST
from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import (
    GraphmemError,
    SchemaOutdated,
    StoreDamaged,
    StoreLoginRefused,
    StoreUnavailable,
)
from graphmem.gateway.entities import EntityKeeper
from graphmem.gateway.gateway import Gateway
from graphmem.intake.context import ContextMaker
from graphmem.intake.file_writing import FileWriter
from graphmem.intake.files import Ingest
from graphmem.intake.worker import IngestWorker
from graphmem.model.policy import EntityPolicy, Policy
from graphmem.model.policy_layers import Configuration
from graphmem.ports import Clock, Embedder, IdSource, LanguageModel
from graphmem.recall.bulletins import BulletinMaker
from graphmem.recall.explainer import Explainer
from graphmem.recall.recall import Recall
from graphmem.settings import Settings
from graphmem.store.bulletins import Bulletins
from graphmem.store.candidates import Candidates
from graphmem.store.connection import LOGIN_SECONDS, Connection
from graphmem.store.edges import Edges
from graphmem.store.entities import Entities
from graphmem.store.history import Histories
from graphmem.store.job_runs import JobRuns
from graphmem.store.keys import ApiKeys, new_secret
from graphmem.store.memories import Memories
from graphmem.store.migrations import check_schema, schema_state
from graphmem.store.spaces import SpacePolicies, Spaces
from graphmem.store.traces import Journal, Traces
from graphmem.store.upkeep import Upkeep
from graphmem.store.vectors import VectorSlot
from graphmem.upkeep.catalogue import all_jobs
from graphmem.upkeep.runs import Job, JobRunner

_RETRY_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Graphmem:
    """The built service: what the API, the jobs process and the command line work with."""

    settings: Settings
    policy: Policy
    connection: Connection
    clock: Clock
    ids: IdSource
    embedder: Embedder
    keys: ApiKeys
    gateway: Gateway
    memories: Memories
    edges: Edges
    histories: Histories
    entities: Entities
    spaces: Spaces
    upkeep: Upkeep
    policies: SpacePolicies
    entity_keeper: EntityKeeper
    recall: Recall
    explainer: Explainer
    bulletin_maker: BulletinMaker
    contexts: ContextMaker
    ingest: Ingest
    worker: IngestWorker
    events: EventLog
    journal: Journal
    runner: JobRunner
    runs: JobRuns

    @property
    def worker_interval_seconds(self) -> int:
        """The seconds between two looks into the ingest folders (memory.worker_interval_seconds)."""
        return int(
            self.settings.memory.get(
                "worker_interval_seconds", self.policy.memory.worker_interval_seconds
            )
        )

    def close(self) -> None:
        """Write down the recalls that are still to be noted, and close the connection to the database."""
        self.journal.close()
        self.events.close()
        self.connection.close()


def connect(settings: Settings) -> Connection:
    """The connection that the settings describe.

    Without a URI, to the embedded server that is running.

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
        msg = "The embedded Neo4j is not running: start it with `graphmem up`, or set GRAPHMEM_NEO4J_URI."
        raise StoreUnavailable(msg)
    return Connection(endpoint.uri, user=endpoint.user, password=endpoint.password)


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
            msg = "The embedded Neo4j was not started: start it with `graphmem up`, or set GRAPHMEM_NEO4J_URI."
            raise StoreUnavailable(msg)
        time.sleep(_RETRY_SECONDS)
    return Connection(f"bolt://{HOST}:{neo4j.bolt_port}", user=USER, password=password)


def wait_until_prepared(
    connection: Connection,
    embedder: Embedder,
    *,
    when_away: Callable[[GraphmemError], None] = lambda _: None,
) -> None:
    """Return as soon as the database answers and its schema is up to date, however long that takes.

    ``when_away`` is told again and again why it does not return yet.

    Raises:
        SchemaMismatch: the database is newer, or has vectors of another embedder; waiting would not
            help.
    """
    while True:
        problem: GraphmemError | None = None
        try:
            if problem := connection.problem():
                when_away(problem)
            else:
                check_schema(schema_state(connection), embedder)
                return
        except (SchemaOutdated, StoreUnavailable) as error:
            problem = error
            when_away(error)
        time.sleep(LOGIN_SECONDS if isinstance(problem, StoreLoginRefused) else _RETRY_SECONDS)


def build(
    settings: Settings,
    connection: Connection,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    embedder: Embedder | None = None,
    policy: Policy | None = None,
    language_model: LanguageModel | None = None,
) -> Graphmem:
    """Build the service over a connection.

    Raises:
        SettingsError: the embedder cannot be loaded.
    """
    clock, ids = clock or SystemClock(), ids or TimeOrderedIds()
    embedder = embedder or embedder_of(settings)
    policies = SpacePolicies(connection, policy or policy_of(settings), configuration_of(settings))
    policy = policies.base
    slot = VectorSlot(connection, embedder.name)
    journal = Journal(connection)
    entities = Entities(connection)
    traces, histories = Traces(connection), Histories(connection)
    workspaces = Workspaces(settings.server.data_dir, shared_roots=settings.write.source_roots)
    events = EventLog(workspaces, clock=clock)
    gateway = Gateway(
        connection,
        embedder=embedder,
        slot=slot,
        clock=clock,
        ids=ids,
        policy=policy,
        policies=policies,
        workspaces=workspaces,
    )
    ingest = Ingest(
        FileWriter(gateway, Memories(connection)),
        Memories(connection),
        workspaces=workspaces,
        policies=policies,
        events=events,
        is_away=lambda: connection.problem() is not None,
    )
    jobs = all_jobs(
        connection,
        gateway=gateway,
        embedder=embedder,
        slot=slot,
        language_model=language_model or language_model_of(settings),
        clock=clock,
        ids=ids,
        policy=policy,
        policies=policies,
        workspaces=workspaces,
        keep_days=settings.traces.keep_days,
    )
    recall = Recall(
        Candidates(connection, slot),
        entities,
        embedder=embedder,
        clock=clock,
        ids=ids,
        policy=policy,
        policies=policies,
        journal=journal,
        workspaces=workspaces,
        events=events,
    )
    bulletin_maker = BulletinMaker(
        recall,
        Memories(connection),
        Bulletins(connection),
        workspaces=workspaces,
        events=events,
        clock=clock,
    )
    worker = IngestWorker(ingest, workspaces=workspaces, events=events)
    return Graphmem(
        settings=settings,
        policy=policy,
        connection=connection,
        clock=clock,
        ids=ids,
        embedder=embedder,
        keys=ApiKeys(connection, clock=clock, ids=ids),
        gateway=gateway,
        memories=Memories(connection),
        edges=Edges(connection),
        histories=histories,
        entities=entities,
        spaces=Spaces(connection),
        upkeep=Upkeep(connection, slot),
        policies=policies,
        entity_keeper=EntityKeeper(connection=connection, clock=clock, ids=ids),
        recall=recall,
        bulletin_maker=bulletin_maker,
        contexts=ContextMaker(gateway, recall, bulletin_maker, workspaces=workspaces, clock=clock),
        explainer=Explainer(traces, journal, histories),
        journal=journal,
        ingest=ingest,
        worker=worker,
        events=events,
        runner=JobRunner(
            connection,
            jobs=(*jobs, ingest_job(worker)),
            clock=clock,
            ids=ids,
            holder=process_name(),
        ),
        runs=JobRuns(connection),
    )


def ingest_job(worker: IngestWorker) -> Job:
    """The job that looks into the ingest folders."""
    return Job(
        name="ingest",
        does="takes in the files that were dropped for orchestrators",
        function=worker.run,
        without_store=worker.degrade,
    )


def language_model_of(settings: Settings) -> LanguageModel | None:
    """The language model that the settings name, if they name one.

    Raises:
        SettingsError: it has neither a key nor an address.
    """
    llm = settings.llm
    return build_language_model(
        llm.name, key=llm.api_key, url=llm.base_url, timeout_seconds=llm.timeout_seconds
    )


def policy_of(settings: Settings) -> Policy:
    """The policy before single numbers of it are overridden."""
    return Policy(entities=EntityPolicy(overrides=settings.entities.overrides))


def configuration_of(settings: Settings) -> Configuration:
    """What the settings say of the policy, and where they say it."""
    write = {
        "write.refuse_secrets": settings.write.refuse_secrets,
        "write.refuse_injection": settings.write.refuse_injection,
    }
    changed = {path: value for path, value in write.items() if not value or path in settings.places}
    # set in both sections: the environment counts more than the file, then the policy more than the
    # section
    stronger = {
        path
        for path in changed
        if path in settings.places and f"policy.{path}" not in settings.places
    }
    policy = {path: value for path, value in settings.policy.items() if path not in stronger}
    return Configuration(
        policy={**changed, **policy},
        write_section=frozenset(changed) - frozenset(policy),
        memory=settings.memory,
        orchestrators=settings.orchestrators,
        places=settings.places,
    )


def embedder_of(settings: Settings) -> Embedder:
    """The embedder that the settings name.

    Raises:
        SettingsError: it cannot be loaded.
    """
    wanted = settings.embedder
    return build_embedder(
        wanted.name,
        cache_folder=settings.server.cache_dir,
        threads=wanted.threads,
        openai_key=wanted.api_key,
        openai_url=wanted.base_url,
        timeout_seconds=wanted.timeout_seconds,
    )


def database_folder(settings: Settings) -> Path:
    """Where the embedded server keeps its files."""
    return settings.server.data_dir / "neo4j"


def database_password_path(settings: Settings) -> Path:
    """Where the password of the embedded server is kept."""
    return Neo4jHome(database_folder(settings)).password_path


def embedded_server(settings: Settings) -> EmbeddedNeo4j:
    """The embedded server that the settings describe, not yet started."""
    neo4j = settings.neo4j
    return EmbeddedNeo4j(
        EmbeddedOptions(
            folder=database_folder(settings),
            bolt_port=neo4j.bolt_port,
            http_port=neo4j.http_port,
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
    with closing(
        Connection(endpoint.uri, user=endpoint.user, password=endpoint.password)
    ) as connection:
        return isinstance(connection.problem(), StoreDamaged)


@contextmanager
def database(settings: Settings) -> Iterator[Connection]:
    """A connection for one command: to the running database, or to the embedded one started for it."""
    if settings.neo4j.uri or attach(database_folder(settings)):
        connection = connect(settings)
        try:
            yield connection
        finally:
            connection.close()
        return
    with embedded_server(settings) as endpoint:
        connection = Connection(endpoint.uri, user=endpoint.user, password=endpoint.password)
        try:
            yield connection
        finally:
            connection.close()


def admin_key(settings: Settings) -> str:
    """The first admin key: of the settings, or made once and kept in the data folder with mode 0600."""
    if settings.server.api_key:
        return settings.server.api_key
    path = admin_key_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text("utf-8").strip()
    with os.fdopen(handle, "w") as file:
        secret = new_secret()
        file.write(secret + "\n")
    return secret


def admin_key_path(settings: Settings) -> Path:
    """Where the first admin key is kept."""
    return settings.server.data_dir / "admin.key"


def process_name() -> str:
    """This process, for leases: host and pid."""
    return f"{socket.gethostname()}:{os.getpid()}"
