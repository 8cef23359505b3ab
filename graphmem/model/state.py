"""What a write transaction reads before it decides, and what it then applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model.conversation import Conversation, Turn, TurnChanges
from graphmem.model.edge import Edge, EdgeType, LineageType
from graphmem.model.entity import EntityRef
from graphmem.model.event import Event
from graphmem.model.memory import Memory, Revision
from graphmem.model.source import Source
from graphmem.model.space import Space
from graphmem.model.writing import WriteResult

# keys of the memories that an edge starts from and ends at, around its type
EdgeEnds = tuple[str, EdgeType | LineageType, str]
EdgePlace = tuple[EdgeEnds, str]  # the ends and the uid of one edge
SourcePlace = tuple[str, str]  # a memory and the name of one of its further sources
Message = tuple[str, str]  # the key of a conversation and the id of a message in it
# what a source said: keys of a memory and a conversation, and the name of the source
SaidPlace = tuple[str, str, str]


AT = "@"  # between a content claim and its time
MORE_SOURCES = 31  # of a memory, beside the first, that come with it


def edge_claim(space: Space, uid: str) -> str:
    """The claim of the uid of an edge, which is unique in its space."""
    return f"{space.key}|edge|{uid}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueAt:
    """A logical key at a time, or now where there is none."""

    space: str
    logical_key: str
    kept_by: str | None
    at: datetime | None
    other_than: str = ""  # the key of a memory that is not asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidAt:
    """Which turn is looked for: what a source said in a conversation, of a memory or its claim."""

    conversation: str
    said_by: str  # the name of the source
    memory: str | None = None
    claim: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """From which memories a copy in the shared space was made, by their keys.

    One ``is_replaced`` where another memory says the same since, or took its place.
    """

    origins: tuple[str, ...]
    is_replaced: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What a write locks and reads: claims, memories, conversations, their turns, and edges."""

    claims: frozenset[str] = frozenset()
    memories: frozenset[str] = frozenset()
    conversations: frozenset[str] = frozenset()
    messages: frozenset[Message] = frozenset()  # whose turns are read
    said_at: frozenset[SaidAt] = frozenset()  # turns that may be reworded
    anchors: frozenset[str] = frozenset()  # turns that new ones are put behind
    # memories of which it is read as well what updates them and what they update
    updated: frozenset[str] = frozenset()
    corrections: frozenset[str] = frozenset()  # of which it is read whether they update another
    said: frozenset[str] = frozenset()  # content claims of which the memories of any time are read
    values: frozenset["ValueAt"] = frozenset()  # logical keys of which the values around are read
    edges: frozenset[EdgeEnds] = frozenset()
    edge_uids: frozenset[str] = frozenset()  # claims of the uids of edges, wherever these stand
    # whether what rests on the memories is read: those around them in their conversations, also at
    # the ends of these, and what was made of them
    with_turns: bool = True
    # space without persona | entity key: those that may be meant, or may have been merged
    entities: frozenset[str] = frozenset()

    @property
    def locks(self) -> frozenset[str]:
        """The claims that are locked."""
        return self.claims | self.edge_uids


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphState:
    """The part of the graph that was selected. Memories are by key, claims point to their memory.

    ``records`` are those of the room whose operation it is. ``resting`` are records of rooms that
    rest on what was selected.
    """

    memories: Mapping[str, Memory] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)  # of sources, by their claims
    retracted: Mapping[str, str] = field(default_factory=dict)  # content claim → uid of a memory
    said: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # content claim → memories
    previous_turns: Mapping[str, str] = field(default_factory=dict)  # turn → the turn before it
    last_turns: Mapping[str, str] = field(default_factory=dict)  # conversation → its last turn
    conversations: Mapping[str, Conversation] = field(default_factory=dict)  # by key
    messages: Mapping[Message, Turn] = field(default_factory=dict)
    said_turns: Mapping[SaidPlace, Turn] = field(default_factory=dict)
    # memory → those that UPDATES it
    updaters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    updates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # memory → what it UPDATES
    corrections: frozenset[str] = frozenset()  # those of the asked ones that update another memory
    # folds and summaries of the selected memories → all that each was made of
    rollups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    copies: Mapping[str, Copied] = field(default_factory=dict)  # of the selected memories
    edges: Mapping[EdgeEnds, Sequence[Edge]] = field(default_factory=dict)  # oldest first
    edge_uids: Mapping[str, EdgeEnds] = field(default_factory=dict)  # by claim
    labels: Mapping[str, str] = field(default_factory=dict)  # of the entities that are there
    became: Mapping[str, str] = field(default_factory=dict)  # merged entity → what it became
    records: Any = None
    resting: tuple[tuple[Any, Any], ...] = ()

    def entity(self, owner: str, ref: EntityRef) -> str:
        """The key of the entity of an owner that is meant; a merged one is what it became."""
        key = ref.meant({key: self.labels.get(f"{owner}|{key}", "") for key in ref.keys})
        return self.became.get(f"{owner}|{key}", key)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What a write does, as data. Memories are given in their final form.

    A claim that was not locked is set only where nobody holds it.
    """

    results: tuple[WriteResult, ...] = ()
    created: tuple[Memory, ...] = ()
    changed: tuple[Memory, ...] = ()
    counted: frozenset[str] = frozenset()  # of the changed: only how often they were said
    revisions: tuple[Revision, ...] = ()
    edges: Mapping[EdgePlace, Edge] = field(default_factory=dict)
    unnamed_edges: frozenset[EdgePlace] = frozenset()  # of them: drawn without a uid
    removed_edges: tuple[EdgePlace, ...] = ()
    claims: Mapping[str, str] = field(default_factory=dict)  # to be set
    moved: frozenset[str] = frozenset()  # of the claims: sources that leave another memory
    digests: Mapping[str, str] = field(default_factory=dict)  # to be set, of claimed sources
    released: frozenset[str] = frozenset()  # memories whose content and logical claims end
    sources: Mapping[SourcePlace, Source | None] = field(default_factory=dict)  # None: gone
    sourced: tuple[Memory, ...] = ()  # memories whose sources change
    absorbed: tuple[tuple[str, str], ...] = ()  # memories whose sources all go to another one
    # content claims of memories that are taken back, and memories that no longer are
    retracted: tuple[tuple[str, str], ...] = ()
    unretracted: frozenset[str] = frozenset()
    links: tuple[tuple[str, str], ...] = ()  # NEXT edges to be there
    unlinked: tuple[tuple[str, str], ...] = ()  # NEXT edges to be gone
    left_turns: Mapping[str, str] = field(default_factory=dict)  # each with the turn before it
    last_turns: Mapping[str, str] = field(default_factory=dict)
    mentioning: frozenset[str] = frozenset()  # memories whose mentions are to be drawn anew
    vectors_of: Mapping[str, int] = field(default_factory=dict)  # memory → index of its item
    turns: TurnChanges = field(default_factory=TurnChanges)
    # claims of sources that may say something new again, each with the memory that holds it
    forgotten_claims: frozenset[tuple[str, str]] = frozenset()
    events: tuple[Event, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        changes = (self.created, self.changed, self.edges, self.removed_edges, self.claims)
        return not (any(changes) or self.sources or self.turns)
