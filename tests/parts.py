"""A built service with single parts of it exchanged: for what cannot be made to fail from outside."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from graphmem.adapters.drop_folder import is_being_written
from graphmem.adapters.workspaces import Workspaces
from graphmem.bootstrap import Graphmem
from graphmem.intake.context import ContextMaker
from graphmem.intake.file_writing import FileWriter
from graphmem.intake.files import Ingest
from graphmem.recall.bulletins import BulletinMaker
from graphmem.store.bulletins import Bulletins
from graphmem.store.memories import Memories

# where the system cannot say whether a file is being written, no test waits for it to settle
AT_ONCE: Callable[[Path], bool] = partial(is_being_written, settled_seconds=0.0)


def workspaces_of(graphmem: Graphmem) -> Workspaces:
    """The folders of orchestrators, as the service has them."""
    settings = graphmem.settings
    return Workspaces(settings.server.data_dir, shared_roots=settings.write.source_roots)


def with_intake(
    graphmem: Graphmem,
    *,
    gateway: Any = None,
    memories: Any = None,
    chars: int | None = None,
    **parts: Any,
) -> Graphmem:
    """The service with another way to take files in; more than ``chars`` count as a large file."""
    sizes = {} if chars is None else {"whole_chars": chars, "part_chars": chars}
    memories = memories or Memories(graphmem.connection)
    ingest = Ingest(
        FileWriter(gateway or graphmem.gateway, memories, **sizes),
        memories,
        workspaces=workspaces_of(graphmem),
        policies=graphmem.policies,
        events=graphmem.events,
        is_away=lambda: graphmem.connection.problem() is not None,
        **({"is_open": AT_ONCE} | parts),
    )
    return replace(graphmem, ingest=ingest)


def with_recall(graphmem: Graphmem, recall: Any) -> Graphmem:
    """The service with another recall, for bulletins and contexts too."""
    workspaces = workspaces_of(graphmem)
    bulletins = BulletinMaker(
        recall,
        Memories(graphmem.connection),
        Bulletins(graphmem.connection),
        workspaces=workspaces,
        events=graphmem.events,
        clock=graphmem.clock,
    )
    contexts = ContextMaker(
        graphmem.gateway, recall, bulletins, workspaces=workspaces, clock=graphmem.clock
    )
    return replace(graphmem, recall=recall, bulletin_maker=bulletins, contexts=contexts)
