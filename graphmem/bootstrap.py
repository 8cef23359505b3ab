"""Bootstrap: the one place that picks adapters and builds a core, and rooms over it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import graphmem.companion.room
import graphmem.conversations.room
import graphmem.corpus.room
import graphmem.governance.room
import graphmem.intake.room
import graphmem.lifecycle.room
import graphmem.upkeep.room
from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedders import build_embedder
from graphmem.adapters.event_log import EventLog
from graphmem.adapters.ids import TimeOrderedIds
from graphmem.adapters.language_models import build_language_model
from graphmem.adapters.workspaces import Workspaces
from graphmem.database import process_name
from graphmem.errors import GraphmemError, SchemaOutdated, StoreLoginRefused, StoreUnavailable
from graphmem.gateway.declaring import EntityRegister
from graphmem.gateway.entities import EntityKeeper
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.gateway.preparation import Preparation
from graphmem.gateway.relations import RelationKeeper
from graphmem.gateway.workbench import MemoryIndex
from graphmem.gateway.writing import Writing
from graphmem.model.memory import Memory
from graphmem.model.policy import EntityPolicy, Policy
from graphmem.model.policy.layers import Configuration
from graphmem.ports import Clock, Embedder, IdSource, LanguageModel
from graphmem.recall.explainer import Explainer
from graphmem.recall.recall import Recall
from graphmem.recall.relations import RelationReader
from graphmem.rooms import BuildRoom, Core, Room, Transfer
from graphmem.settings import SOURCE_ROOTS, Settings
from graphmem.store.candidates import Candidates
from graphmem.store.connection import LOGIN_SECONDS, Connection
from graphmem.store.edges import Edges
from graphmem.store.entities import Entities
from graphmem.store.history import Histories
from graphmem.store.job_runs import JobRuns
from graphmem.store.keys import ApiKeys
from graphmem.store.memories import Memories
from graphmem.store.migrations import (
    MigrationSet,
    Report,
    SchemaState,
    apply_migrations,
    check_schema,
    core_migrations,
    migration_set,
    schema_state,
)
from graphmem.store.relations import Relations
from graphmem.store.secret import ServiceSecret
from graphmem.store.sources import Sources
from graphmem.store.spaces import SpacePolicies, Spaces
from graphmem.store.traces import Journal, Traces
from graphmem.store.vectors import VectorSlot
from graphmem.upkeep.bounds import prunes
from graphmem.upkeep.job_runner import JobRunner
from graphmem.upkeep.retention import Retention, retention_job

ROOMS: tuple[BuildRoom, ...] = (
    graphmem.upkeep.room.build,
    graphmem.intake.room.build,
    graphmem.conversations.room.build,
    graphmem.lifecycle.room.build,
    graphmem.companion.room.build,
    graphmem.governance.room.build,
    graphmem.corpus.room.build,
)

_RETRY_SECONDS = 0.2
Service = TypeVar("Service")


@dataclass(frozen=True, kw_only=True)
class Graphmem(Core):
    """The built service: what the API, the jobs process and the command line work with."""

    rooms: tuple[Room, ...]
    keys: ApiKeys
    secret: ServiceSecret
    runner: JobRunner
    runs: JobRuns

    def of(self, kind: type[Service]) -> Service:
        """The service of a kind that a room brings."""
        return next(room.service for room in self.rooms if isinstance(room.service, kind))

    def restores_kept(self, memory: Memory) -> bool:
        """Whether the room that keeps a memory lets anybody restore it after it was retracted."""
        return any(room.restores_kept for room in self.rooms if room.name == memory.kept_by)

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """What export writes and import reads, in this order."""
        return tuple(transfer for room in self.rooms for transfer in room.transfers)

    @property
    def migrations(self) -> tuple[MigrationSet, ...]:
        """The migrations of the core and of the rooms that have some."""
        of_rooms = (migration_set(room.name, room.migrations, room.steps) for room in self.rooms)
        return (core_migrations(CORE_STEPS), *(each for each in of_rooms if each.migrations))

    def prepare(self, *, report: Report | None = None) -> SchemaState:
        """Bring the schema up to date.

        Raises:
            SchemaMismatch: see apply_migrations.
        """
        options = {"report": report} if report else {}
        return apply_migrations(
            self.connection,
            self.migrations,
            embedder=self.embedder,
            clock=self.clock,
            holder=process_name(),
            **options,
        )

    def check_schema(self) -> None:
        """Refuse to work on a schema or an embedder that does not match.

        Raises:
            SchemaMismatch: it does not.
        """
        check_schema(schema_state(self.connection), self.migrations, self.embedder)

    def warm_up(self) -> None:
        """Let the database plan its queries before the first caller asks."""
        self.recall.warm_up()
        for room in self.rooms:
            for warm_up in room.warm_ups:
                warm_up()

    def close(self) -> None:
        """Write down the recalls that are still to be noted, and close the connection."""
        self.journal.close()
        self.events.close()
        self.connection.close()


def wait_until_prepared(
    graphmem: Graphmem, *, when_away: Callable[[GraphmemError], None] = lambda _: None
) -> None:
    """Return as soon as the database answers and its schema is up to date, however long that takes.

    ``when_away`` is told again and again why it does not return yet.

    Raises:
        SchemaMismatch: the database is newer, or has vectors of another embedder; waiting would
            not help.
    """
    while True:
        problem: GraphmemError | None = None
        try:
            if problem := graphmem.connection.problem():
                when_away(problem)
            else:
                graphmem.check_schema()
                return
        except (SchemaOutdated, StoreUnavailable) as error:
            problem = error
            when_away(error)
        is_refused = isinstance(problem, StoreLoginRefused)
        time.sleep(LOGIN_SECONDS if is_refused else _RETRY_SECONDS)


def build(
    settings: Settings,
    connection: Connection,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    embedder: Embedder | None = None,
    policy: Policy | None = None,
    language_model: LanguageModel | None = None,
    rooms: Sequence[BuildRoom] = ROOMS,
) -> Graphmem:
    """Build the service over a connection.

    Raises:
        SettingsError: the embedder cannot be loaded.
    """
    core = build_core(
        settings,
        connection,
        clock=clock or SystemClock(),
        ids=ids or TimeOrderedIds(),
        embedder=embedder or embedder_of(settings),
        policy=policy or policy_of(settings),
        language_model=language_model or language_model_of(settings),
    )
    built = tuple(build_room(core) for build_room in rooms)
    for room in built:
        if room.queries:
            connection.add_queries(room.queries)
        if room.policy:
            core.policies.add_section(room.name, room.policy)
    core.gateway.react_with([reaction for room in built for reaction in room.reactions])
    return Graphmem(
        **vars(core),
        rooms=built,
        secret=ServiceSecret(connection),
        keys=ApiKeys(connection, clock=core.clock, ids=core.ids),
        runner=_runner(core, built),
        runs=JobRuns(connection),
    )


def _runner(core: Core, rooms: Sequence[Room]) -> JobRunner:
    """What runs the jobs of all rooms, and lets retention forget what they say."""
    trace_days = {kind: days for room in rooms for kind, days in room.trace_days.items()}
    own_traces = [kind for room in rooms for kind in room.own_traces]
    retention = Retention(
        prunes=[
            *prunes(core, trace_days, own_traces),
            *(each for room in rooms for each in room.prunes),
        ],
        clock=core.clock,
        keep_days=core.settings.traces.keep_days,
    )
    return JobRunner(
        core.connection,
        jobs=(*(job for room in rooms for job in room.jobs), retention_job(retention)),
        clock=core.clock,
        ids=core.ids,
        holder=process_name(),
    )


def build_core(
    settings: Settings,
    connection: Connection,
    *,
    clock: Clock,
    ids: IdSource,
    embedder: Embedder,
    policy: Policy,
    language_model: LanguageModel | None,
) -> Core:
    """What every room is given."""
    policies = SpacePolicies(connection, policy, configuration_of(settings))
    base = policies.base
    slot = VectorSlot(connection, embedder.name)
    index = MemoryIndex(embedder=embedder, slot=slot, policy=base.index)
    journal = Journal(
        connection,
        whole_per_second=settings.traces.whole_per_second,
        counts_most=base.recall.access_tracking_buffer_max_size,
    )
    traces, histories = Traces(connection), Histories(connection)
    edges, entities = Edges(connection), Entities(connection)
    workspaces = workspaces_of(settings)
    events = EventLog(workspaces, clock=clock)
    gateway = Gateway(connection, index=index, clock=clock, ids=ids, policies=policies, log=events)
    preparation = Preparation(
        embedder=embedder, ids=ids, policy=base, policies=policies, workspaces=workspaces
    )
    recall = Recall(
        Candidates(connection, slot),
        entities,
        embedder=embedder,
        clock=clock,
        ids=ids,
        policy=base,
        policies=policies,
        journal=journal,
        workspaces=workspaces,
        events=events,
        traced=settings.traces.candidates,
    )
    return Core(
        settings=settings,
        policy=base,
        connection=connection,
        clock=clock,
        ids=ids,
        embedder=embedder,
        language_model=language_model,
        index=index,
        policies=policies,
        gateway=gateway,
        writing=Writing(
            gateway=gateway,
            preparation=preparation,
            policy=base,
            edges=edges,
            traces=traces,
            clock=clock,
            ids=ids,
        ),
        entity_keeper=EntityKeeper(gateway=gateway, ids=ids),
        entity_register=EntityRegister(gateway=gateway, overrides=base.entities.overrides),
        recall=recall,
        relation_keeper=RelationKeeper(gateway=gateway, ids=ids, overrides=base.entities.overrides),
        relation_reader=RelationReader(relations=Relations(connection), recall=recall, clock=clock),
        memories=Memories(connection),
        edges=edges,
        histories=histories,
        sources=Sources(connection),
        entities=entities,
        spaces=Spaces(connection),
        traces=traces,
        journal=journal,
        explainer=Explainer(traces, journal, histories),
        workspaces=workspaces,
        events=events,
    )


def language_model_of(settings: Settings) -> LanguageModel | None:
    """The language model that the settings name, if they name one.

    Raises:
        SettingsError: it has neither a key nor an address.
    """
    llm = settings.llm
    return build_language_model(
        llm.name,
        key=llm.api_key,
        url=llm.base_url,
        api=llm.api,
        timeout_seconds=llm.timeout_seconds,
    )


def policy_of(settings: Settings) -> Policy:
    """The policy before single numbers of it are overridden."""
    return Policy(entities=EntityPolicy(overrides=settings.entities.overrides))


def configuration_of(settings: Settings) -> Configuration:
    """What the settings say of the policy, and where they say it."""
    secrets, orders = settings.write.refuse_secrets, settings.write.refuse_injection
    write = {
        "write.refuse_secrets": ("write.refuse_secrets", secrets, not secrets),
        "screening.instructions": (
            "write.refuse_injection",
            "refuse" if orders else "mark",
            orders,
        ),
    }
    changed = {
        path: (setting, value)
        for path, (setting, value, is_set) in write.items()
        if is_set or setting in settings.variables
    }
    # set in both sections: the environment counts more than the file, then the policy more than the
    # section
    stronger = {
        path
        for path, (setting, _) in changed.items()
        if setting in settings.variables and f"policy.{path}" not in settings.variables
    }
    policy = {path: value for path, value in settings.policy.items() if path not in stronger}
    return Configuration(
        policy={**{path: value for path, (_, value) in changed.items()}, **policy},
        write_section={
            path: setting for path, (setting, _) in changed.items() if path not in policy
        },
        memory=settings.memory,
        orchestrators={
            name: {key: value for key, value in values.items() if key != SOURCE_ROOTS}
            for name, values in settings.orchestrators.items()
        },
        variables=settings.variables,
    )


def workspaces_of(settings: Settings) -> Workspaces:
    """The folders of orchestrators, and what they may cite."""
    return Workspaces(
        settings.server.data_dir,
        shared_roots=settings.write.source_roots,
        own_roots={
            name: values.get(SOURCE_ROOTS, ()) for name, values in settings.orchestrators.items()
        },
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
