"""What a recall is asked, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.model.edge import Edge
from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.source import CapturedBy
from graphmem.recall.candidates import Arm
from graphmem.recall.cards import Card
from graphmem.recall.expansion import Expansion
from graphmem.recall.planner import Plan


class RankerName(StrEnum):
    """The ways of scoring candidates."""

    FUSED = "fused"
    RRF = "rrf"
    BLEND = "blend"
    LIFECYCLE = "lifecycle"


class Mode(StrEnum):
    """Which arms an answer rests on."""

    HYBRID = "hybrid"
    FULL_TEXT_ONLY = "full_text_only"
    VECTOR_ONLY = "vector_only"
    NONE = "none"  # the planner saw nothing to recall


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallRequest:
    """The cue, the spaces and the filters of a recall.

    Empty filters filter nothing; ``ranker`` None and ``limit`` 0 are the defaults of the spaces.

    ``as_of`` asks for what was true then, ``known_at`` for what was recorded by then; both are now
    by default.
    """

    spaces: Sequence[str]
    query: str
    limit: int = 0
    ranker: RankerName | None = None
    candidates_vector: int | None = None
    candidates_text: int | None = None
    types: Sequence[MemoryType] = ()
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()
    captured_by: Sequence[CapturedBy] = ()
    conversation_id: str | None = None
    include_superseded: bool = False
    include_archived: bool = False
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_score: float = 0.0
    cards: bool = False
    graph: bool = False
    plan: bool = False
    text_only: bool = False  # by words alone, without vectors
    edges: bool = True  # whether the edges of the results are wanted
    kept: bool = True  # what rooms keep too; False: by rankers alone that see all contents
    whole: bool = True  # whether the results are wanted as memories; False: as candidates alone
    expansion: Expansion | None = None  # whether rare words of the query are cues too

    @property
    def statuses(self) -> tuple[Status, ...]:
        """The statuses that may come back; retracted ones never do."""
        was_true = (
            self.include_superseded or self.as_of is not None
        )  # what was true then may be superseded since
        extra = ((was_true, Status.SUPERSEDED), (self.include_archived, Status.ARCHIVED))
        return (Status.ACTIVE, *(status for wanted, status in extra if wanted))


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a memory has its rank: its rank in each arm, and every factor of its score."""

    vector: Arm | None
    text: Arm | None
    graph: Arm | None
    factors: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallItem:
    """One recalled memory."""

    memory: Memory
    score: float
    contradicted: bool
    explanation: Explanation


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """The answer of a recall.

    ``search`` says whether the vectors were compared by index or one by one.
    """

    mode: Mode
    ranker: RankerName
    trace_id: str
    items: tuple[RecallItem, ...] = ()
    edges: tuple[Edge, ...] = ()
    cards: tuple[Card, ...] = ()
    search: str = "none"
    plan: Plan | None = None
    degraded: tuple[str, ...] = field(default=())
