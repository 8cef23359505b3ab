"""What the career corpus adds to the house: repositories that say only what was checked (000)."""

from graphmem.corpus.fallback import Fallback
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.transfer import transfers_over
from graphmem.corpus.verify_job import VerifyJob
from graphmem.model.corpus import ROOM
from graphmem.model.job import Every, Job
from graphmem.rooms import Core, Room
from graphmem.store.corpora import Corpora


def build(core: Core) -> Room:
    """The room over a core."""
    keeper = CorpusKeeper(
        gateway=core.gateway,
        connection=core.connection,
        corpora=Corpora(connection=core.connection),
        policies=core.policies,
        embedder=core.embedder,
        clock=core.clock,
        ids=core.ids,
        fallback=Fallback(folder=core.settings.server.data_dir / "corpus-fallback"),
    )
    return Room(
        name=ROOM,
        service=keeper,
        jobs=(
            Job(
                name="corpus_verify",
                does="proves or marks commits of corpora whose push was cut before its proof",
                schedule=Every(minutes=1, grace_seconds=60),
                function=VerifyJob(keeper=keeper).run,
            ),
        ),
        transfers=transfers_over(core.gateway, core.connection),
    )
