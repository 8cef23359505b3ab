"""The room of intake: what orchestrators drop, hear and ask becomes memories (002)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from graphmem.adapters.workspaces import Workspaces
from graphmem.intake.context import ContextMaker
from graphmem.intake.entity_transfer import EntityTransfer
from graphmem.intake.export_import import EdgeTransfer, MemoryTransfer
from graphmem.intake.ingest import Ingest
from graphmem.intake.ingest_job import IngestWorker
from graphmem.intake.lineage_transfer import LineageTransfer
from graphmem.intake.relation_transfer import RelationTransfer
from graphmem.intake.write_back_writer import WriteBackWriter
from graphmem.model.job import Every, Job, Run
from graphmem.recall.bulletin_maker import BulletinMaker
from graphmem.rooms import Core, Prune, Room
from graphmem.store.bulletins import Bulletins
from graphmem.store.forgetting import Forgetting

_MINUTE = 60


@dataclass(frozen=True, kw_only=True)
class Intake:
    """What the room does: the ingest folder, contexts and bulletins."""

    ingest: Ingest
    worker: IngestWorker
    write_backs: WriteBackWriter
    contexts: ContextMaker
    bulletin_maker: BulletinMaker


def build(core: Core) -> Room:
    """The room over a core."""
    bulletins = Bulletins(core.connection)
    intake = _intake(core, bulletins)
    return Room(
        name="intake",
        service=intake,
        jobs=(_ingest_job(core, intake.worker),),
        prunes=_prunes(core),
        transfers=(
            EntityTransfer(entities=core.entities, register=core.entity_register),
            MemoryTransfer(memories=core.memories, sources=core.sources, writing=core.writing),
            EdgeTransfer(edges=core.edges, memories=core.memories, writing=core.writing),
            RelationTransfer(relations=core.relation_reader.relations, keeper=core.relation_keeper),
            LineageTransfer(gateway=core.gateway, connection=core.connection),
        ),
    )


def _intake(core: Core, bulletins: Bulletins) -> Intake:
    ingest = Ingest(
        core.writing,
        core.memories,
        workspaces=core.workspaces,
        policies=core.policies,
        events=core.events,
        is_away=lambda: core.connection.problem() is not None,
    )
    maker = BulletinMaker(
        core.recall,
        core.memories,
        bulletins,
        workspaces=core.workspaces,
        events=core.events,
        clock=core.clock,
    )
    write_backs = WriteBackWriter(writing=core.writing, memories=core.memories)
    contexts = ContextMaker(
        write_backs, core.recall, maker, workspaces=core.workspaces, clock=core.clock
    )
    worker = IngestWorker(ingest, workspaces=core.workspaces, events=core.events)
    return Intake(
        ingest=ingest,
        worker=worker,
        write_backs=write_backs,
        contexts=contexts,
        bulletin_maker=maker,
    )


def _ingest_job(core: Core, worker: IngestWorker) -> Job:
    """The job that looks into the ingest folders (memory.worker_interval_seconds)."""
    usual = core.policy.memory.worker_interval_seconds
    seconds = int(core.settings.memory.get("worker_interval_seconds", usual))
    return Job(
        name="ingest",
        does="takes in the files that were dropped for orchestrators",
        schedule=Every(seconds=seconds, grace_seconds=max(seconds, _MINUTE)),
        function=worker.run,
        without_store=worker.degrade,
    )


def _prunes(core: Core) -> tuple[Prune, ...]:
    """Bulletins, and the files of bulletins and investigations."""

    def forget_bulletins(before: datetime, run: Run) -> int:
        return Forgetting(connection=core.connection, run=run).older(
            "bulletins.forget", "bulletins.count_before", before=before
        )

    def forget_files(before: datetime, run: Run) -> int:
        old = list(_files_before(core.workspaces, before))
        for path in old:
            if not run.dry_run:
                path.unlink(missing_ok=True)
        return len(old)

    return (
        Prune(counted_as="bulletins_forgotten", forget=forget_bulletins),
        Prune(counted_as="files_forgotten", forget=forget_files),
    )


def _files_before(workspaces: Workspaces, moment: datetime) -> Iterator[Path]:
    for space in workspaces.present():
        workspace = workspaces.of(space)
        for folder in (workspace.bulletins, workspace.diagnostics):
            files = folder.glob("*.json")
            yield from (path for path in files if path.stat().st_mtime < moment.timestamp())
