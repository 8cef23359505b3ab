"""The room of the lifecycle: from a conversation turn to a kept fact (003)."""

from datetime import datetime, timedelta

from graphmem.conversations.room import keeper_over
from graphmem.lifecycle.context_keeper import ContextKeeper
from graphmem.lifecycle.extract_job import ExtractJob
from graphmem.lifecycle.extractor import Extractor
from graphmem.lifecycle.feedback_keeper import FeedbackKeeper
from graphmem.lifecycle.feedback_transfer import FeedbackTransfer
from graphmem.lifecycle.forgetting import EmptyExtractions, OldLastRecalls, SpokenWords
from graphmem.lifecycle.keeper import LifecycleKeeper
from graphmem.lifecycle.linking import Linking
from graphmem.lifecycle.note_reconsolidation import NoteReconsolidation
from graphmem.lifecycle.notebook_keeper import NotebookKeeper
from graphmem.lifecycle.notebook_transfer import (
    ArtefactTransfer,
    BoxTransfer,
    IdentityTransfer,
    ProfileTransfer,
    QuestionTransfer,
    TopicTraceTransfer,
)
from graphmem.lifecycle.notebook_upkeep import NotebookUpkeep
from graphmem.lifecycle.reaction import ForgetTurns
from graphmem.lifecycle.sharing import Sharing
from graphmem.lifecycle.transfer import BufferTransfer, ExtractionTransfer, ThreadTransfer
from graphmem.model.job import Every, Job, Run
from graphmem.rooms import Core, Prune, Room
from graphmem.store.activity import ActivityReader
from graphmem.store.artefacts import Artefacts
from graphmem.store.boxes import Boxes
from graphmem.store.buffers import Buffers
from graphmem.store.entity_index import EntityIndexReader
from graphmem.store.extractions import Extractions
from graphmem.store.feedback import FeedbackReader
from graphmem.store.last_recalls import LastRecalls
from graphmem.store.questions import Questions
from graphmem.store.session_context import SessionContextReader
from graphmem.store.statements import NearStatements
from graphmem.store.threads import ThreadReader
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.consolidation import Consolidation, DueSpace
from graphmem.upkeep.room import (
    consolidation_steps_over,
    contradictions_over,
    pending_embedding_over,
)

_CALLS = 4  # of a model that one extraction may wait for


def build(core: Core) -> Room:
    """The room over a core."""
    conversations = keeper_over(core)
    extractions = Extractions(core.connection)
    near = NearStatements(core.connection, core.index.slot)
    extractor = Extractor(
        gateway=core.gateway,
        preparation=core.writing.preparation,
        policies=core.policies,
        policy=core.policy,
        ids=core.ids,
        entities=core.entities,
        extractions=extractions,
        linking=Linking(near=near, clock=core.clock, model=core.language_model),
        model=core.language_model,
        claimed_for=timedelta(seconds=60 + _CALLS * core.settings.llm.timeout_seconds),
    )
    notebooks = NotebookKeeper(
        gateway=core.gateway,
        policies=core.policies,
        clock=core.clock,
        ids=core.ids,
        boxes=Boxes(core.connection),
        artefacts=Artefacts(core.connection),
        questions=Questions(core.connection),
        index=EntityIndexReader(core.connection),
        connection=core.connection,
    )
    keeper = LifecycleKeeper(
        conversations=conversations,
        extractor=extractor,
        policies=core.policies,
        clock=core.clock,
        ids=core.ids,
        buffers=Buffers(core.connection),
        extractions=extractions,
        threads=ThreadReader(core.connection),
        entities=core.entities,
        activities=ActivityReader(core.connection),
        notebooks=notebooks,
        contexts=ContextKeeper(
            recall=core.recall,
            gateway=core.gateway,
            policies=core.policies,
            clock=core.clock,
            reader=SessionContextReader(core.connection),
            questions=notebooks.questions,
            model=core.language_model,
        ),
        sharing=Sharing(
            gateway=core.gateway,
            preparation=core.writing.preparation,
            policies=core.policies,
            policy=core.policy,
            clock=core.clock,
        ),
        feedback=FeedbackKeeper(
            gateway=core.gateway,
            policies=core.policies,
            explainer=core.explainer,
            last_recalls=LastRecalls(core.connection),
        ),
    )
    return Room(
        name="lifecycle",
        service=keeper,
        jobs=(
            Job(
                name="extract",
                does="reads turns that wait: what a crash or a caller left, and quiet buffers",
                schedule=Every(minutes=1, grace_seconds=60),
                function=ExtractJob(keeper=keeper).run,
            ),
            Job(
                name="seal_boxes",
                does="seals boxes of spaces in which nothing was told for half an hour",
                schedule=Every(minutes=1, grace_seconds=60),
                function=notebooks.seal_quiet,
            ),
            Job(
                name="consolidate",
                does=(
                    "merges near-duplicates and fragments of entities, lets newer notes take the"
                    " place of older ones, finds contradictions, makes summaries and topics"
                ),
                schedule=Every(minutes=10, offset=4, where="where a space is due"),
                function=_consolidation(core).run,
            ),
        ),
        prunes=_prunes(core),
        transfers=(
            BufferTransfer(buffers=keeper.buffers, gateway=core.gateway),
            ExtractionTransfer(extractions=extractions, gateway=core.gateway),
            ThreadTransfer(threads=keeper.threads, gateway=core.gateway),
            TopicTraceTransfer(boxes=notebooks.boxes, gateway=core.gateway),
            BoxTransfer(boxes=notebooks.boxes, gateway=core.gateway),
            ArtefactTransfer(artefacts=notebooks.artefacts, gateway=core.gateway),
            ProfileTransfer(connection=core.connection, gateway=core.gateway),
            IdentityTransfer(connection=core.connection, gateway=core.gateway),
            QuestionTransfer(questions=notebooks.questions, gateway=core.gateway),
            FeedbackTransfer(feedback=FeedbackReader(core.connection), gateway=core.gateway),
        ),
        reactions=(ForgetTurns(),),
    )


def _consolidation(core: Core) -> Consolidation:
    """The pass over a space, in the order of 003."""
    steps = consolidation_steps_over(core)
    notebooks = NotebookUpkeep(
        gateway=core.gateway, connection=core.connection, model=core.language_model
    )
    pending = pending_embedding_over(core)

    def count_recalls(_: DueSpace, run: Run) -> None:
        if not run.dry_run:
            core.journal.flush()

    def embed(due: DueSpace, run: Run) -> None:
        pending.run_in(due.space.key, run)

    return Consolidation(
        upkeep=Upkeep(core.connection, core.index.slot),
        clock=core.clock,
        policies=core.policies,
        steps=(
            count_recalls,
            steps.merge,
            _reconsolidation(core).run,
            contradictions_over(core).check,
            steps.join_fragments,
            steps.summarise_entities,
            notebooks.tend_profile,
            steps.decay_commitments,
            steps.expire,
            steps.archive,
            notebooks.shorten_identity,
            steps.summarise,
            steps.make_topics,
            embed,
        ),
    )


def _reconsolidation(core: Core) -> NoteReconsolidation:
    return NoteReconsolidation(
        upkeep=Upkeep(core.connection, core.index.slot),
        memories=core.memories,
        gateway=core.gateway,
        policies=core.policies,
    )


def _prunes(core: Core) -> tuple[Prune, ...]:
    """What retention forgets: extractions that kept nothing, and words of turns where asked for."""
    empty = EmptyExtractions(connection=core.connection)
    words = SpokenWords(
        connection=core.connection,
        upkeep=Upkeep(core.connection, core.index.slot),
        policies=core.policies,
        clock=core.clock,
    )

    def forget_empty(_: datetime, run: Run) -> int:
        days = core.settings.traces.keep_days
        return empty.forget(core.clock.now() - timedelta(days=days), run)

    last_recalls = OldLastRecalls(connection=core.connection)

    def forget_last_recalls(_: datetime, run: Run) -> int:
        days = core.settings.traces.keep_days
        return last_recalls.forget(core.clock.now() - timedelta(days=days), run)

    return (
        Prune(counted_as="last_recalls", forget=forget_last_recalls),
        Prune(counted_as="empty_extractions", forget=forget_empty),
        Prune(counted_as="turn_words", forget=lambda _, run: words.forget(run)),
    )
