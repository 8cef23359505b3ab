"""Edges: typed relations are drawn, revised and removed between memories of one space."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.draft import Draft
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.validation import NOT_STORABLE, UID_FORM, is_uid
from graphmem.model.edge import Edge, EdgeType
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.space import Space
from graphmem.model.state import EdgeEnds, GraphState, Selection, edge_claim
from graphmem.model.trace import TraceKind
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
    kept_by: str | None = None  # the room that keeps the memory that it starts at

    @property
    def ends(self) -> EdgeEnds:
        """What it joins: the keys of its memories around its type."""
        return memory_key(self.space, self.from_uid), self.type, memory_key(self.space, self.to_uid)


def reasons_of(edges: Iterable[EdgeRequest]) -> list[str]:
    """The reasons that edges are drawn for, and their native types."""
    named = (text for edge in edges for text in (edge.reason, edge.link_type))
    return [text for text in named if text]


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnEdge:
    """An edge as it stands after a request."""

    edge: Edge
    is_new: bool


@dataclass(frozen=True, kw_only=True)
class DrawEdge(MemoryOperation[DrawnEdge]):
    """Draw an edge between two memories of a space, or revise the one that is there."""

    kind = TraceKind.EDGE

    request: EdgeRequest

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of both ends."""
        return (self.request.space,)

    @property
    def texts(self) -> Sequence[str]:
        """The reason, if one is given."""
        return reasons_of([self.request])

    def check(self) -> None:
        """Refuse what is wrong with the request.

        Raises:
            InvalidInput: see edge_problems.
        """
        if wrong := edge_problems(self.request):
            raise InvalidInput(wrong)

    def selection(self) -> Selection:
        """Both ends, the edges between them, and the edge of that uid."""
        return edge_selection([self.request])

    def decide(self, state: GraphState, now: datetime) -> Decided[DrawnEdge]:
        """Draw it.

        Raises:
            InvalidInput, Conflict: see draw_requested.
        """
        draft = Draft(before=state, now=now)
        is_new = not draft.has_edge(self.request.ends, self.request.uid)
        edge = draw_requested(draft, self.request)
        effect = Effect.EDGE_CREATED if is_new else Effect.EDGE_REVISED
        return Decided(
            answer=DrawnEdge(edge=edge, is_new=is_new),
            events=(_event(self.request.space, edge, effect),),
            memories=draft.decision(),
        )


@dataclass(frozen=True, kw_only=True)
class RemoveEdge(MemoryOperation[None]):
    """Remove an edge; what it superseded stays superseded until it is restored."""

    kind = TraceKind.EDGE

    space: Space
    edge: Edge

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of both ends."""
        return (self.space,)

    @property
    def ends(self) -> EdgeEnds:
        """What it joins."""
        start, end = (memory_key(self.space, uid) for uid in (self.edge.from_uid, self.edge.to_uid))
        return start, self.edge.type, end

    def selection(self) -> Selection:
        """Both ends, and the edges between them."""
        start, _, end = self.ends
        return Selection(memories=frozenset({start, end}), edges=frozenset({self.ends}))

    def decide(self, state: GraphState, now: datetime) -> Decided[None]:
        """Remove it.

        Raises:
            NotFound: it is no longer there.
            KeptByRoom: it starts at a memory that a room keeps, or superseded one.
        """
        found = [each for each in state.edges.get(self.ends, ()) if each.uid == self.edge.uid]
        if not found:
            raise NotFound
        _check_keepers(state.memories, self.ends, None)
        draft = Draft(before=state, now=now)
        draft.removed_edges.append((self.ends, self.edge.uid))
        return Decided(
            answer=None,
            events=(_event(self.space, found[0], Effect.EDGE_REMOVED),),
            memories=draft.decision(),
        )


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


def edge_selection(requests: Sequence[EdgeRequest]) -> Selection:
    """What drawing some edges locks and reads."""
    return Selection(
        memories=frozenset(key for each in requests for key in (each.ends[0], each.ends[2])),
        edges=frozenset(each.ends for each in requests),
        edge_uids=frozenset(edge_claim(each.space, each.uid) for each in requests if each.uid),
    )


def draw_requested(draft: Draft, request: EdgeRequest, *, path: str = "") -> Edge:
    """Draw an edge in a draft.

    ``path`` is where the request stands in a longer one, such as ``edges.3.``.

    Raises:
        InvalidInput: an end is not there, or both are the same.
        Conflict: a memory that is not current, or began earlier, would update one that is, or
            another edge of the space has that uid.
        KeptByRoom: it starts at a memory that a room keeps, or would supersede one.
    """
    start, _, end = request.ends
    wrong = {
        f"{path}{field}": ["There is no memory of that uid in this space."]
        for field, key in (("from", start), ("to", end))
        if key not in draft.memories
    }
    if start == end:
        wrong[f"{path}to"] = [_SAME_ENDS]
    if wrong:
        raise InvalidInput(wrong)
    _check_keepers(draft.memories, request.ends, request.kept_by)
    if request.type is EdgeType.UPDATES and draft.memories[end].status is Status.ACTIVE:
        if (status := draft.memories[start].status) is not Status.ACTIVE:
            message = f"The memory {request.from_uid} is {status}: it cannot update a current one."
            raise Conflict(message)
        if draft.memories[start].is_before(draft.memories[end]):
            message = f"The memory {request.from_uid} began before {request.to_uid}, not after it."
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


def _check_keepers(memories: Mapping[str, Memory], ends: EdgeEnds, room: str | None) -> None:
    """Refuse an edge that starts at a memory, or supersedes one, that another room keeps."""
    start, edge_type, end = ends
    for key in (start, end) if edge_type is EdgeType.UPDATES else (start,):
        check_keeper(memories[key], room)


def _event(space: Space, edge: Edge, effect: Effect) -> Event:
    return Event(
        space=space.key,
        subject=edge.uid,
        about=Subject.EDGE,
        effect=effect,
        detail={
            "type": edge.type.value,
            "from": edge.from_uid,
            "to": edge.to_uid,
            "weight": edge.weight,
            "reason": edge.reason,
        },
    )
