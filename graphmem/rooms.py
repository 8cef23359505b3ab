"""Rooms: what each is given, and what it adds to the house.

``graphmem/<room>/room.py`` has one function ``build(core) → Room``; ``bootstrap.ROOMS`` lists them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from graphmem.adapters.event_log import EventLog
from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import GraphmemError
from graphmem.gateway.declaring import EntityRegister
from graphmem.gateway.entities import EntityKeeper
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.reactions import Reaction
from graphmem.gateway.relations import RelationKeeper
from graphmem.gateway.workbench import MemoryIndex
from graphmem.gateway.writing import Writing
from graphmem.model.caller import Caller
from graphmem.model.job import Job, Run
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.ports import Clock, Embedder, IdSource, LanguageModel
from graphmem.recall.explainer import Explainer
from graphmem.recall.recall import Recall
from graphmem.recall.relations import RelationReader
from graphmem.settings import Settings
from graphmem.store.connection import Connection
from graphmem.store.edges import Edges
from graphmem.store.entities import Entities
from graphmem.store.history import Histories
from graphmem.store.memories import Memories
from graphmem.store.migrations import MigrationStep
from graphmem.store.sources import Sources
from graphmem.store.spaces import SpacePolicies, Spaces
from graphmem.store.traces import Journal, Traces


@dataclass(frozen=True, kw_only=True)
class Core:
    """What every room is given, built once."""

    settings: Settings
    policy: Policy  # of spaces that have none of their own
    connection: Connection
    clock: Clock
    ids: IdSource
    embedder: Embedder
    language_model: LanguageModel | None
    index: MemoryIndex
    policies: SpacePolicies
    gateway: Gateway
    writing: Writing
    entity_keeper: EntityKeeper
    entity_register: EntityRegister
    relation_keeper: RelationKeeper
    relation_reader: RelationReader
    recall: Recall
    memories: Memories
    edges: Edges
    histories: Histories
    sources: Sources
    entities: Entities
    spaces: Spaces
    traces: Traces
    journal: Journal
    explainer: Explainer
    workspaces: Workspaces
    events: EventLog


@dataclass(frozen=True, kw_only=True, slots=True)
class Prune:
    """What retention forgets. ``forget`` takes a time and a run, and says how many are from before.

    A dry run only counts. ``counted_as`` is the name in the counts of the run.
    """

    counted_as: str
    forget: Callable[[datetime, Run], int]


class Transfer(Protocol):
    """One kind of line that export writes and import reads: ``{"<kind>": {…}}``."""

    @property
    def kind(self) -> str:
        """The name of its lines."""

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """What a space holds of it, in the order in which it must be written again."""

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Write what lines hold, which may be anything that JSON can say.

        For each, in order, its outcome, or what is wrong with it. To write again changes nothing.
        """


@dataclass(frozen=True, kw_only=True)
class Room:
    """What a room adds.

    ``queries`` and ``migrations`` are the folders where its Cypher lies; ``steps`` are migrations
    in Python, by number. ``reactions`` run inside the operations that cause them. ``trace_days``
    says how many days its own traces are kept, by their kind; ``own_traces`` are kinds that it
    forgets itself.
    """

    name: str
    service: Any = None
    jobs: Sequence[Job] = ()
    prunes: Sequence[Prune] = ()
    trace_days: Mapping[str, int] = field(default_factory=dict)
    own_traces: Sequence[str] = ()
    warm_ups: Sequence[Callable[[], None]] = ()
    transfers: Sequence[Transfer] = ()
    queries: Traversable | None = None
    migrations: Traversable | None = None
    steps: Mapping[int, MigrationStep] | None = None
    reactions: Sequence[Reaction] = ()
    policy: Any = None  # its section of the policy, a frozen dataclass with rules beside its values
    restores_kept: bool = False  # whether anybody may restore what it keeps and was retracted


BuildRoom = Callable[[Core], Room]
