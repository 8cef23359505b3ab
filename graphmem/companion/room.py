"""The room of the companion: personas that remember their users (001)."""

from graphmem.companion.context import ContextKeeper
from graphmem.companion.curate_job import CurateJob
from graphmem.companion.curator import CompanionCurator
from graphmem.companion.following import Following
from graphmem.companion.judge_job import JudgeJob
from graphmem.companion.judging import Judging
from graphmem.companion.keeper import CompanionKeeper
from graphmem.companion.messages import Messages
from graphmem.companion.overrides import OverrideKeeper
from graphmem.companion.projection import FACT_TYPES
from graphmem.companion.reaction import MendSummaries
from graphmem.companion.recall import CompanionRecall
from graphmem.companion.session_job import SessionJob
from graphmem.companion.todo_hygiene import TodoHygiene
from graphmem.companion.todo_keeper import TodoKeeper
from graphmem.companion.transfer import transfers_over
from graphmem.conversations.room import keeper_over
from graphmem.model.companion import ROOM
from graphmem.model.job import Daily, Every, Job
from graphmem.rooms import Core, Room
from graphmem.store.curating import Curating
from graphmem.store.kept import KeptMemories
from graphmem.store.personas import Personas
from graphmem.store.sessions import Sessions
from graphmem.store.summaries import Summaries
from graphmem.store.upkeep import Upkeep


def build(core: Core) -> Room:
    """The room over a core."""
    personas = Personas(core.connection)
    kept = KeptMemories(core.connection, core.index.slot)
    todos = TodoKeeper(
        gateway=core.gateway,
        preparation=core.writing.preparation,
        policy=core.policy,
        kept=kept,
        memories=core.memories,
    )
    judging = Judging(
        gateway=core.gateway,
        preparation=core.writing.preparation,
        policy=core.policy,
        policies=core.policies,
        connection=core.connection,
        memories=core.memories,
        personas=personas,
        hygiene=TodoHygiene(todos=todos, model=core.language_model, clock=core.clock),
        model=core.language_model,
    )
    summaries = Summaries(core.connection)
    curator = CompanionCurator(
        gateway=core.gateway,
        policies=core.policies,
        curating=Curating(core.connection, kept_by=ROOM, types=FACT_TYPES),
        kept=kept,
        memories=core.memories,
        embedder=core.embedder,
        index=core.policy.index,
        ids=core.ids,
    )
    following = Following(
        gateway=core.gateway,
        summaries=summaries,
        curator=curator,
        policies=core.policies,
        model=core.language_model,
        clock=core.clock,
        ids=core.ids,
    )
    messages = Messages(
        conversations=keeper_over(core),
        judging=judging,
        following=following,
        policies=core.policies,
        sessions=Sessions(core.connection),
        clock=core.clock,
        ids=core.ids,
    )
    recall = CompanionRecall(
        kept=kept,
        embedder=core.embedder,
        policy=core.policy,
        policies=core.policies,
        journal=core.journal,
        clock=core.clock,
        ids=core.ids,
    )
    keeper = CompanionKeeper(
        gateway=core.gateway,
        preparation=core.writing.preparation,
        policy=core.policy,
        policies=core.policies,
        connection=core.connection,
        personas=personas,
        kept=kept,
        messages=messages,
        todos=todos,
        recall=recall,
        summaries=summaries,
        overrides=OverrideKeeper(
            gateway=core.gateway,
            connection=core.connection,
            entities=core.entity_keeper,
            register=core.entity_register,
        ),
        upkeep=Upkeep(core.connection, core.index.slot),
        contexts=ContextKeeper(connection=core.connection, recall=recall),
    )
    sessions = SessionJob(
        gateway=core.gateway,
        connection=core.connection,
        following=following,
        summaries=summaries,
        sessions=Sessions(core.connection),
        personas=personas,
        policies=core.policies,
        model=core.language_model,
        clock=core.clock,
    )
    return Room(
        name="companion",
        service=keeper,
        jobs=_jobs(messages, sessions, curator),
        reactions=(MendSummaries(policy=core.policy.companion.summaries),),
        transfers=transfers_over(core.gateway, core.connection),
        restores_kept=True,
    )


def _jobs(messages: Messages, sessions: SessionJob, curator: CompanionCurator) -> tuple[Job, ...]:
    return (
        Job(
            name="companion_judge",
            does="judges messages that nobody judged: what a crash or a caller left",
            schedule=Every(minutes=1, grace_seconds=60),
            function=JudgeJob(messages=messages).run,
        ),
        Job(
            name="companion_sessions",
            does="ends sessions after 30 minutes without a message, and sums them up",
            schedule=Every(minutes=1, grace_seconds=60),
            function=sessions.run,
        ),
        Job(
            name="companion_curate",
            does="archives repeats of what personas know of users, and folds facts of people",
            schedule=Daily(hour=3, minute=40),
            function=CurateJob(curator=curator).run,
        ),
    )
