"""The catalogue: every job that there is, and what it does. ``jobs/schedule.py`` says when."""

from graphmem.gateway.gateway import Gateway
from graphmem.model.policy import Policy
from graphmem.ports import Clock, Embedder, IdSource
from graphmem.store.connection import Connection
from graphmem.store.job_runs import JobRuns
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Traces
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.archival import ARCHIVAL, DECAY
from graphmem.upkeep.curating import Curator
from graphmem.upkeep.embedding import PendingEmbedding
from graphmem.upkeep.expiry import Expiry
from graphmem.upkeep.retention import Retention
from graphmem.upkeep.runs import Job
from graphmem.upkeep.sweep import Sweep


def all_jobs(
    connection: Connection,
    *,
    gateway: Gateway,
    embedder: Embedder,
    clock: Clock,
    ids: IdSource,
    policy: Policy,
    policies: SpacePolicies,
    keep_days: int,
) -> tuple[Job, ...]:
    """Every job, over a connection."""
    sweep = Sweep(connection, gateway=gateway, clock=clock, policies=policies)
    expiry = Expiry(connection, sweep=sweep, clock=clock)
    pending = PendingEmbedding(connection, gateway=gateway, embedder=embedder, policy=policy.index)
    curator = Curator(
        Upkeep(connection),
        gateway=gateway,
        embedder=embedder,
        clock=clock,
        ids=ids,
        policies=policies,
        index=policy.index,
    )
    retention = Retention(Traces(connection), JobRuns(connection), clock=clock, keep_days=keep_days)
    return (
        Job(
            name="embed_pending",
            does="gives memories their vectors that were stored while the model did not answer",
            function=pending.run,
        ),
        Job(name="expire", does="archives memories whose expires_at has passed", function=expiry.run),
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
        Job(name="prune_traces", does="removes old traces and records of runs", function=retention.run),
    )
