"""The room of upkeep: its jobs."""

from graphmem.model.job import ByHand, Daily, Every, Job
from graphmem.rooms import Core, Room
from graphmem.store.idempotency import RetryKeys
from graphmem.store.inspection import Inspection
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.archival import ARCHIVAL, DECAY
from graphmem.upkeep.batch_rules import BatchRules
from graphmem.upkeep.consolidation import Consolidation
from graphmem.upkeep.contradiction_job import ContradictionJob
from graphmem.upkeep.curator import Curator
from graphmem.upkeep.embedding import PendingEmbedding
from graphmem.upkeep.expiry import Expiry
from graphmem.upkeep.integrity import Integrity
from graphmem.upkeep.model_judge import ModelJudge
from graphmem.upkeep.reembedding import REEMBED, Reembedding
from graphmem.upkeep.rollup import RollupWriter


def build(core: Core) -> Room:
    """The room over a core."""
    upkeep = Upkeep(core.connection, core.index.slot)
    rules = BatchRules(
        core.connection,
        upkeep,
        gateway=core.gateway,
        clock=core.clock,
        policies=core.policies,
    )
    return Room(
        name="upkeep",
        service=upkeep,
        jobs=(
            *_vector_jobs(core),
            *_quieting_jobs(core, rules),
            *_tending_jobs(core, upkeep, rules),
            _integrity_job(core),
        ),
    )


def _vector_jobs(core: Core) -> tuple[Job, ...]:
    """Jobs that make vectors."""
    pending = PendingEmbedding(
        core.connection, gateway=core.gateway, embedder=core.embedder, policy=core.index.policy
    )
    reembedding = Reembedding(
        core.connection,
        embedder=core.embedder,
        slot=core.index.slot,
        policy=core.index.policy,
    )
    return (
        Job(
            name="embed_pending",
            does="gives memories their vectors that were stored while the model did not answer",
            schedule=Every(minutes=1, grace_seconds=60),
            function=pending.run,
        ),
        Job(
            name=REEMBED,
            does=(
                "makes the vectors of another embedder beside the present ones,"
                " and switches to them; by hand"
            ),
            schedule=ByHand(),
            function=reembedding.run,
            budget_seconds=12 * 3600.0,
            spans_spaces=True,
            by_command_only=True,
        ),
    )


def _quieting_jobs(core: Core, rules: BatchRules) -> tuple[Job, ...]:
    """Jobs that let memories go quiet, each by itself."""
    expiry = Expiry(RetryKeys(core.connection), rules=rules, clock=core.clock)
    return (
        Job(
            name="expire",
            does="archives memories whose expires_at has passed",
            schedule=Every(minutes=5),
            function=expiry.run,
        ),
        Job(
            name="decay_commitments",
            does="archives commitments that nobody refreshed for 90 days",
            schedule=Daily(hour=2, minute=50),
            function=lambda run: rules.run(DECAY, run),
        ),
        Job(
            name="archive",
            does="archives old, unimportant, hardly recalled facts",
            schedule=Daily(hour=3, minute=0),
            function=lambda run: rules.run(ARCHIVAL, run),
        ),
    )


def _tending_jobs(core: Core, upkeep: Upkeep, rules: BatchRules) -> tuple[Job, ...]:
    """Jobs that look after the spaces that are due."""
    model = core.language_model
    judge = ModelJudge(model=model, policy=core.policy) if model else None
    rollups = RollupWriter(core.gateway, embedder=core.embedder, index=core.index.policy)
    curator = Curator(
        upkeep,
        gateway=core.gateway,
        rollups=rollups,
        clock=core.clock,
        ids=core.ids,
        policies=core.policies,
    )
    consolidation = Consolidation(
        upkeep=upkeep,
        memories=core.memories,
        gateway=core.gateway,
        keeper=core.entity_keeper,
        rules=rules,
        rollups=rollups,
        judge=judge,
        clock=core.clock,
        ids=core.ids,
        policies=core.policies,
    )
    check = ContradictionJob(
        upkeep=upkeep,
        memories=core.memories,
        gateway=core.gateway,
        judge=judge,
        clock=core.clock,
        policies=core.policies,
    )
    return (
        Job(
            name="curate_dedupe",
            does="archives exact repeats in spaces that are due: after a day or 25 new memories",
            schedule=Every(minutes=10, where="where a space is due"),
            function=curator.dedupe,
        ),
        Job(
            name="curate_fold",
            does=(
                "folds three facts or more of one entity into one, after the repeats were put away"
            ),
            schedule=Every(minutes=10, offset=2, where="where repeats were put away"),
            function=curator.fold,
        ),
        Job(
            name="consolidate",
            does="merges near-duplicates and fragments of entities, makes summaries and topics",
            schedule=Every(minutes=10, offset=4, where="where a space is due"),
            function=consolidation.run,
        ),
        Job(
            name="detect_contradictions",
            does="draws CONTRADICTS between memories of one entity whose values differ",
            schedule=Every(minutes=10, offset=6, where="where a space was consolidated"),
            function=check.run,
        ),
    )


def _integrity_job(core: Core) -> Job:
    integrity = Integrity(Inspection(core.connection), gateway=core.gateway, clock=core.clock)
    return Job(
        name="integrity",
        does="reports where the graph disagrees with itself, and mends it with repair",
        schedule=Daily(hour=4, minute=0),
        function=integrity.run,
    )
