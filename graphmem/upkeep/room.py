"""The room of upkeep: its jobs."""

from graphmem.model.job import ByHand, Daily, Every, Job
from graphmem.rooms import Core, Room
from graphmem.store.idempotency import RetryKeys
from graphmem.store.inspection import Inspection
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.archival import ARCHIVAL, DECAY
from graphmem.upkeep.batch_rules import BatchRules
from graphmem.upkeep.consolidation_steps import ConsolidationSteps
from graphmem.upkeep.contradiction_job import ContradictionJob
from graphmem.upkeep.curator import Curator
from graphmem.upkeep.embedding import PendingEmbedding
from graphmem.upkeep.expiry import Expiry
from graphmem.upkeep.integrity import Integrity
from graphmem.upkeep.model_judge import ModelJudge
from graphmem.upkeep.reembedding import REEMBED, Reembedding
from graphmem.upkeep.rollup import RollupWriter


def rules_over(core: Core) -> BatchRules:
    """What carries rules out batch by batch."""
    return BatchRules(
        core.connection,
        Upkeep(core.connection, core.index.slot),
        gateway=core.gateway,
        clock=core.clock,
        policies=core.policies,
    )


def consolidation_steps_over(core: Core) -> ConsolidationSteps:
    """The steps of a pass over a space, for the room that puts them in order."""
    return ConsolidationSteps(
        upkeep=Upkeep(core.connection, core.index.slot),
        memories=core.memories,
        gateway=core.gateway,
        keeper=core.entity_keeper,
        rules=rules_over(core),
        rollups=_rollups_over(core),
        judge=judge_over(core),
        ids=core.ids,
    )


def pending_embedding_over(core: Core) -> PendingEmbedding:
    """What gives memories their vectors that were stored without."""
    return PendingEmbedding(
        core.connection, gateway=core.gateway, embedder=core.embedder, policy=core.index.policy
    )


def contradictions_over(core: Core) -> ContradictionJob:
    """What looks for memories that disagree."""
    return ContradictionJob(
        upkeep=Upkeep(core.connection, core.index.slot),
        memories=core.memories,
        gateway=core.gateway,
        judge=judge_over(core),
        clock=core.clock,
        policies=core.policies,
    )


def _rollups_over(core: Core) -> RollupWriter:
    return RollupWriter(core.gateway, embedder=core.embedder, index=core.index.policy)


def judge_over(core: Core) -> ModelJudge | None:
    """What asks the language model, if there is one."""
    model = core.language_model
    return ModelJudge(model=model, policy=core.policy) if model else None


def build(core: Core) -> Room:
    """The room over a core."""
    upkeep = Upkeep(core.connection, core.index.slot)
    return Room(
        name="upkeep",
        service=upkeep,
        jobs=(
            *_vector_jobs(core),
            *_quieting_jobs(core, rules_over(core)),
            *_tending_jobs(core, upkeep),
            _integrity_job(core),
        ),
    )


def _vector_jobs(core: Core) -> tuple[Job, ...]:
    """Jobs that make vectors."""
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
            function=pending_embedding_over(core).run,
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


def _tending_jobs(core: Core, upkeep: Upkeep) -> tuple[Job, ...]:
    """Jobs that look after the spaces that are due."""
    curator = Curator(
        upkeep,
        gateway=core.gateway,
        rollups=_rollups_over(core),
        clock=core.clock,
        ids=core.ids,
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
            name="detect_contradictions",
            does="draws CONTRADICTS between memories of one entity whose values differ",
            schedule=Every(minutes=10, offset=6, where="where a space is never consolidated"),
            function=contradictions_over(core).run,
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
