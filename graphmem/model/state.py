"""What a write transaction reads before it decides, and what it then applies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphmem.model.edge import Edge, EdgeType, LineageType
from graphmem.model.memory import Memory, Revision
from graphmem.model.writing import WriteResult

EdgeKey = tuple[
    str, EdgeType | LineageType, str
]  # key of the memory it starts from, its type, key of the memory it ends at


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What a write locks and reads: claim keys, memories, conversations, turns within them, and edges."""

    claims: frozenset[str] = frozenset()
    memories: frozenset[str] = frozenset()
    conversations: frozenset[str] = frozenset()
    anchors: frozenset[str] = frozenset()  # turns that new ones are put behind
    updated: frozenset[str] = frozenset()  # memories whose updaters are read as well
    corrections: frozenset[str] = (
        frozenset()
    )  # memories of which it is read whether they update another
    edges: frozenset[EdgeKey] = frozenset()
    with_turns: bool = (
        True  # whether the turns around the memories are read, whose contexts may change
    )
    entities: frozenset[str] = (
        frozenset()
    )  # space without persona | entity key: those that may have been merged


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphState:
    """The part of the graph that was selected.

    Memories are by key, claims point to their memory.
    """

    memories: Mapping[str, Memory] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    previous_turns: Mapping[str, str] = field(default_factory=dict)  # turn → the turn before it
    last_turns: Mapping[str, str] = field(default_factory=dict)  # conversation → its last turn
    updaters: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # memory → those that UPDATES it
    corrections: frozenset[str] = frozenset()  # those of the asked ones that update another memory
    edges: Mapping[EdgeKey, Edge] = field(default_factory=dict)
    became: Mapping[str, str] = field(default_factory=dict)  # merged entity → key of what it became


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What a write does, as data. Memories are given in their final form."""

    results: tuple[WriteResult, ...] = ()
    created: tuple[Memory, ...] = ()
    changed: tuple[Memory, ...] = ()
    counted: frozenset[str] = (
        frozenset()
    )  # of the changed ones: only how often they were said, which no index repeats
    revisions: tuple[Revision, ...] = ()
    edges: tuple[tuple[Memory, Edge], ...] = ()  # with the memory they start from
    removed_edges: tuple[EdgeKey, ...] = ()
    claims: Mapping[str, str] = field(default_factory=dict)  # to be set
    released: frozenset[str] = frozenset()  # memories whose content and logical claims end
    links: tuple[tuple[str, str], ...] = ()  # NEXT edges to be there
    unlinked: tuple[tuple[str, str], ...] = ()  # NEXT edges to be gone
    last_turns: Mapping[str, str] = field(default_factory=dict)
    mentioning: frozenset[str] = frozenset()  # memories whose mentions are to be drawn anew
    vectors_of: Mapping[str, int] = field(
        default_factory=dict
    )  # memory → index of the item it is embedded from
    events: tuple[Mapping[str, object], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return not (self.created or self.changed or self.edges or self.removed_edges or self.claims)
