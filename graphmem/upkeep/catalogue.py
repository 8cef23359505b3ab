"""The catalogue: every job that there is, and what it does. ``jobs/schedule.py`` says when."""

from graphmem.gateway.gateway import Gateway
from graphmem.model.policy import Policy
from graphmem.ports import Clock, Embedder
from graphmem.store.connection import Connection
from graphmem.store.job_runs import JobRuns
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Traces
from graphmem.upkeep.archival import ARCHIVAL, DECAY
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
    policy: Policy,
    policies: SpacePolicies,
    keep_days: int,
) -> tuple[Job, ...]:
    """Every job, over a connection."""
    sweep = Sweep(connection, gateway=gateway, clock=clock, policies=policies)
    expiry = Expiry(connection, sweep=sweep, clock=clock)
    pending = PendingEmbedding(connection, gateway=gateway, embedder=embedder, policy=policy.index)
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
        Job(name="prune_traces", does="removes old traces and records of runs", function=retention.run),
    )
