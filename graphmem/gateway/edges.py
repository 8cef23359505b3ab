"""Edges: typed relations are drawn, revised and removed between memories of one space."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.draft import Draft
from graphmem.model.edge import Edge, EdgeType
from graphmem.model.memory import Status, memory_key
from graphmem.model.space import Space
from graphmem.model.state import Decision, EdgeKey, GraphState, Selection


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeRequest:
    """An edge to be drawn. ``weight`` is 0 to 1; ``link_type`` is the native name of another vocabulary."""

    space: Space
    from_uid: str
    to_uid: str
    type: EdgeType
    weight: float = 1.0
    reason: str | None = None
    uid: str | None = None
    link_type: str | None = None

    @property
    def place(self) -> EdgeKey:
        """Where it stands: one edge for each start, type and end."""
        return memory_key(self.space, self.from_uid), self.type, memory_key(self.space, self.to_uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnEdge:
    """An edge as it stands after a request, and the trace of it."""

    edge: Edge
    is_new: bool
    trace_id: str


def edge_selection(request: EdgeRequest) -> Selection:
    """What drawing an edge locks and reads."""
    start, _, end = request.place
    return Selection(memories=frozenset({start, end}), edges=frozenset({request.place}))


def decide_edge(state: GraphState, request: EdgeRequest, *, now: datetime) -> Decision:
    """Draw an edge or revise the one that is there; UPDATES supersedes the memory at its end.

    Raises:
        InvalidInput: an end is not there, or both are the same.
        Conflict: a memory that is not current would update one that is.
    """
    start, _, end = request.place
    missing = {
        field: ["There is no memory of that uid in this space."]
        for field, key in (("from", start), ("to", end))
        if key not in state.memories
    }
    if start == end:
        missing["to"] = ["Must be another memory than from."]
    if missing:
        raise InvalidInput(missing)
    draft = Draft(before=state, now=now)
    if request.type is EdgeType.UPDATES and state.memories[end].status is Status.ACTIVE:
        if state.memories[start].status is not Status.ACTIVE:
            message = (
                f"The memory {request.from_uid} is {state.memories[start].status}: it cannot update a current one."
            )
            raise Conflict(message)
        draft.supersede(state.memories[start], state.memories[end])
    edge = draft.draw(
        draft.memories[start],
        request.type,
        draft.memories[end],
        uid=request.uid,
        weight=request.weight,
        reason=request.reason,
        link_type=request.link_type,
    )
    outcome = "edge_revised" if request.place in state.edges else "edge_created"
    return draft.decision(events=[_event(edge, outcome)])


def decide_removal(state: GraphState, place: EdgeKey, *, now: datetime) -> Decision:
    """Remove an edge; what it superseded stays superseded until it is restored.

    Raises:
        NotFound: it is no longer there.
    """
    if place not in state.edges:
        raise NotFound
    draft = Draft(before=state, now=now)
    draft.removed_edges.append(place)
    return draft.decision(events=[_event(state.edges[place], "edge_removed")])


def _event(edge: Edge, outcome: str) -> dict[str, object]:
    return {
        "outcome": outcome,
        "edge": edge.uid,
        "type": edge.type.value,
        "from": edge.from_uid,
        "to": edge.to_uid,
        "weight": edge.weight,
        "reason": edge.reason,
    }
