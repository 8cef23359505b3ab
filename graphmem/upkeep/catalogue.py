"""The catalogue: every job that there is, and what it does. ``jobs/schedule.py`` says when."""

from graphmem.adapters.workspaces import Workspaces
from graphmem.gateway.entities import EntityKeeper
from graphmem.gateway.gateway import Gateway
from graphmem.model.policy import Policy
from graphmem.ports import Clock, Embedder, IdSource, LanguageModel
from graphmem.store.bulletins import Bulletins
from graphmem.store.connection import Connection
from graphmem.store.inspection import Inspection
from graphmem.store.job_runs import JobRuns
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Traces
from graphmem.store.upkeep import Upkeep
from graphmem.store.vectors import VectorSlot
from graphmem.upkeep.archival import ARCHIVAL, DECAY
from graphmem.upkeep.checking import ContradictionCheck
from graphmem.upkeep.consolidation import Consolidation
from graphmem.upkeep.curating import Curator
from graphmem.upkeep.embedding import PendingEmbedding
from graphmem.upkeep.expiry import Expiry
from graphmem.upkeep.gathering import Gatherer
from graphmem.upkeep.integrity import Integrity
from graphmem.upkeep.questions import Asker
from graphmem.upkeep.reembedding import REEMBED, Reembedding
from graphmem.upkeep.retention import Retention
from graphmem.upkeep.runs import Job
from graphmem.upkeep.sweep import Sweep


def all_jobs(
    connection: Connection,
    *,
    gateway: Gateway,
    embedder: Embedder,
    slot: VectorSlot,
    language_model: LanguageModel | None,
    clock: Clock,
    ids: IdSource,
    policy: Policy,
    policies: SpacePolicies,
    workspaces: Workspaces,
    keep_days: int,
) -> tuple[Job, ...]:
    """Every job, over a connection."""
    upkeep, memories = Upkeep(connection, slot), Memories(connection)
    sweep = Sweep(connection, upkeep, gateway=gateway, clock=clock, policies=policies)
    expiry = Expiry(connection, sweep=sweep, clock=clock)
    pending = PendingEmbedding(connection, gateway=gateway, embedder=embedder, policy=policy.index)
    asker = Asker(model=language_model, write=policy.write) if language_model else None
    gatherer = Gatherer(gateway, embedder=embedder, index=policy.index)
    consolidation = Consolidation(
        upkeep=upkeep,
        memories=memories,
        gateway=gateway,
        keeper=EntityKeeper(connection=connection, clock=clock, ids=ids),
        sweep=sweep,
        gatherer=gatherer,
        asker=asker,
        clock=clock,
        ids=ids,
        policies=policies,
    )
    check = ContradictionCheck(
        upkeep=upkeep,
        memories=memories,
        gateway=gateway,
        asker=asker,
        clock=clock,
        policies=policies,
    )
    curator = Curator(
        upkeep, gateway=gateway, gatherer=gatherer, clock=clock, ids=ids, policies=policies
    )
    integrity = Integrity(Inspection(connection), gateway=gateway, clock=clock, ids=ids)
    reembedding = Reembedding(connection, embedder=embedder, slot=slot, policy=policy.index)
    retention = Retention(
        Traces(connection),
        JobRuns(connection),
        Bulletins(connection),
        workspaces=workspaces,
        clock=clock,
        keep_days=keep_days,
    )
    return (
        *_vector_jobs(pending, reembedding),
        *_quieting_jobs(expiry, sweep),
        *_tending_jobs(curator, consolidation, check),
        *_housekeeping_jobs(integrity, retention),
    )


def _vector_jobs(pending: PendingEmbedding, reembedding: Reembedding) -> tuple[Job, ...]:
    """Jobs that make vectors."""
    return (
        Job(
            name="embed_pending",
            does="gives memories their vectors that were stored while the model did not answer",
            function=pending.run,
        ),
        Job(
            name=REEMBED,
            does="makes the vectors of another embedder beside the present ones, and switches to them; by hand",
            function=reembedding.run,
            budget_seconds=12 * 3600.0,
            spans_spaces=True,
            by_command_only=True,
        ),
    )


def _quieting_jobs(expiry: Expiry, sweep: Sweep) -> tuple[Job, ...]:
    """Jobs that let memories go quiet, each by itself."""
    return (
        Job(
            name="expire", does="archives memories whose expires_at has passed", function=expiry.run
        ),
        Job(
            name="decay_commitments",
            does="archives commitments that nobody refreshed for 90 days",
            function=lambda run: sweep.run(DECAY, run),
        ),
        Job(
            name="archive",
            does="archives old, unimportant, hardly recalled facts",
            function=lambda run: sweep.run(ARCHIVAL, run),
        ),
    )


def _tending_jobs(
    curator: Curator, consolidation: Consolidation, check: ContradictionCheck
) -> tuple[Job, ...]:
    """Jobs that look after the spaces that are due."""
    return (
        Job(
            name="curate_dedupe",
            does="archives exact repeats in spaces that are due: after a day or 25 new memories",
            function=curator.dedupe,
        ),
        Job(
            name="curate_fold",
            does="folds three facts or more of one entity into one, after the repeats were put away",
            function=curator.fold,
        ),
        Job(
            name="consolidate",
            does="merges near-duplicates and fragments of entities, makes summaries and topics",
            function=consolidation.run,
        ),
        Job(
            name="detect_contradictions",
            does="draws CONTRADICTS between memories of one entity whose values differ",
            function=check.run,
        ),
    )


def _housekeeping_jobs(integrity: Integrity, retention: Retention) -> tuple[Job, ...]:
    """Jobs that keep the graph sound and small."""
    return (
        Job(
            name="integrity",
            does="reports where the graph disagrees with itself, and mends it with repair",
            function=integrity.run,
        ),
        Job(
            name="prune_traces",
            does="removes old traces, bulletins and records of runs",
            function=retention.run,
            spans_spaces=True,
        ),
    )
