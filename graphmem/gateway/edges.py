"""Edges: typed relations are drawn, revised and removed between memories of one space."""

import math
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.draft import Draft
from graphmem.gateway.validation import NOT_STORABLE, UID_FORM, is_uid
from graphmem.model.edge import Edge, EdgeType
from graphmem.model.memory import Status, memory_key
from graphmem.model.space import Space
from graphmem.model.state import Decision, EdgeKey, GraphState, Selection
from graphmem.text.normalise import is_storable

_SAME_ENDS = "Must be another memory than from."


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeRequest:
    """An edge to be drawn, or revised where it is there.

    ``weight`` is 0 to 1; ``link_type`` is the native name of another vocabulary.
    """

    space: Space
    from_uid: str
    to_uid: str
    type: EdgeType
    weight: float = 1.0
    reason: str | None = None
    uid: str | None = None
    link_type: str | None = None
    created_at: datetime | None = None  # of one that another system kept

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


def edge_problems(request: EdgeRequest, *, path: str = "") -> dict[str, list[str]]:
    """What is wrong with a request, by field path; empty when all is well."""
    found: dict[str, list[str]] = {}
    for field, uid in (("uid", request.uid), ("from", request.from_uid), ("to", request.to_uid)):
        if uid is not None and not is_uid(uid):
            found[f"{path}{field}"] = [UID_FORM]
    if request.from_uid == request.to_uid:
        found[f"{path}to"] = [_SAME_ENDS]
    if not (math.isfinite(request.weight) and 0 <= request.weight <= 1):
        found[f"{path}weight"] = ["Must be a number from 0 to 1 (EdgeWeightOutOfRange)."]
    if not all(is_storable(text) for text in (request.reason, request.link_type) if text):
        found[f"{path}reason"] = [NOT_STORABLE]
    return found


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
    draft = Draft(before=state, now=now)
    edge = draw_requested(draft, request)
    outcome = "edge_revised" if request.place in state.edges else "edge_created"
    return draft.decision(events=[_event(edge, outcome)])


def draw_requested(draft: Draft, request: EdgeRequest, *, path: str = "") -> Edge:
    """Draw an edge in a draft.

    ``path`` is where the request stands in a longer one, such as ``edges.3.``.

    Raises:
        InvalidInput: an end is not there, or both are the same.
        Conflict: a memory that is not current would update one that is.
    """
    start, _, end = request.place
    wrong = {
        f"{path}{field}": ["There is no memory of that uid in this space."]
        for field, key in (("from", start), ("to", end))
        if key not in draft.memories
    }
    if start == end:
        wrong[f"{path}to"] = [_SAME_ENDS]
    if wrong:
        raise InvalidInput(wrong)
    if request.type is EdgeType.UPDATES and draft.memories[end].status is Status.ACTIVE:
        if (status := draft.memories[start].status) is not Status.ACTIVE:
            message = f"The memory {request.from_uid} is {status}: it cannot update a current one."
            raise Conflict(message)
        draft.supersede(draft.memories[start], draft.memories[end])
    return draft.draw(
        draft.memories[start],
        request.type,
        draft.memories[end],
        uid=request.uid,
        weight=request.weight,
        reason=request.reason,
        link_type=request.link_type,
        created_at=request.created_at,
    )


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
