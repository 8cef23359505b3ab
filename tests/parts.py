"""A built service with single parts exchanged: for what cannot be made to fail from outside."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from graphmem.adapters.drop_folder import is_being_written
from graphmem.adapters.workspaces import Workspaces
from graphmem.bootstrap import Graphmem
from graphmem.bootstrap import workspaces_of as the_workspaces_of
from graphmem.intake.context import ContextMaker
from graphmem.intake.file_writer import PartSizes
from graphmem.intake.ingest import Ingest
from graphmem.intake.ingest_pass import FileAccess
from graphmem.intake.room import Intake
from graphmem.recall.bulletin_maker import BulletinMaker
from graphmem.store.bulletins import Bulletins

# where the system cannot say whether a file is being written, no test waits for it to settle
AT_ONCE: Callable[[Path], bool] = partial(is_being_written, settled_seconds=0.0)


def workspaces_of(graphmem: Graphmem) -> Workspaces:
    """The folders of orchestrators, as the service has them."""
    return the_workspaces_of(graphmem.settings)


def with_intake(
    graphmem: Graphmem,
    *,
    writing: Any = None,
    memories: Any = None,
    chars: int | None = None,
    **access: Any,
) -> Graphmem:
    """The service with another way to take files in; more than ``chars`` count as a large file."""
    ingest = Ingest(
        writing or graphmem.writing,
        memories or graphmem.memories,
        workspaces=workspaces_of(graphmem),
        policies=graphmem.policies,
        events=graphmem.events,
        is_away=lambda: graphmem.connection.problem() is not None,
        files=FileAccess(**({"is_open": AT_ONCE} | access)),
        sizes=PartSizes() if chars is None else PartSizes(whole_chars=chars, part_chars=chars),
    )
    return with_service(graphmem, replace(graphmem.of(Intake), ingest=ingest))


def with_recall(graphmem: Graphmem, recall: Any) -> Graphmem:
    """The service with another recall, for bulletins and contexts too."""
    workspaces = workspaces_of(graphmem)
    bulletins = BulletinMaker(
        recall,
        graphmem.memories,
        Bulletins(graphmem.connection),
        workspaces=workspaces,
        events=graphmem.events,
        clock=graphmem.clock,
    )
    intake = graphmem.of(Intake)
    contexts = ContextMaker(
        intake.write_backs, recall, bulletins, workspaces=workspaces, clock=graphmem.clock
    )
    intake = replace(intake, bulletin_maker=bulletins, contexts=contexts)
    return with_service(replace(graphmem, recall=recall), intake)


def with_service(graphmem: Graphmem, service: Any) -> Graphmem:
    """The service with the room of one kind of service exchanged."""
    rooms = tuple(
        replace(room, service=service) if isinstance(room.service, type(service)) else room
        for room in graphmem.rooms
    )
    return replace(graphmem, rooms=rooms)
