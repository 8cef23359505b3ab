"""Asking: what the graph is asked for a request, by the ranker's numbers."""

from collections.abc import Sequence
from datetime import UTC, datetime

from graphmem.model.memory import MemoryType, Status
from graphmem.model.policy import RecallPolicy
from graphmem.model.source import CapturedBy
from graphmem.model.space import Space
from graphmem.model.tokens import ends_after_ms, epoch_ms
from graphmem.ports import Vector
from graphmem.recall.lucene_query import Facets, Moments, lucene_query
from graphmem.recall.request import RankerName, RecallRequest
from graphmem.store.candidates import Search

_SPARE_PAYLOAD = (
    10  # how far down light factors may lift a candidate from, without another round trip
)
_CHUNKS_PER_MEMORY = 5  # how many chunks are asked for to fill a large limit
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def search_of(
    request: RecallRequest,
    spaces: Sequence[Space],
    vector: Vector | None,
    ranker: RankerName,
    policy: RecallPolicy,
    *,
    now: datetime,
    terms_max: int,
) -> Search:
    """What both arms are asked; the entities of the request are resolved keys."""
    is_fused = ranker is RankerName.FUSED
    fused, numbers = policy.fused, policy.fused if is_fused else policy.rrf
    keys = [space.key for space in spaces]
    chunks = max(fused.vector_candidates, request.limit * _CHUNKS_PER_MEMORY)
    texts = request.candidates_text or max(numbers.text_candidates, request.limit)
    begins_by, ends_after = _interval(request, now)
    return Search(
        vector=vector,
        text=lucene_query(
            request.query,
            spaces=keys,
            statuses=_indexed_statuses(request),
            facets=_facets(request),
            moments=_moments(request, now, begins_by, ends_after),
            terms_max=terms_max,
        ),
        spaces=keys,
        statuses=[status.value for status in request.statuses],
        now_ms=epoch_ms(now),
        vector_limit=min(request.candidates_vector or chunks, policy.candidates_max),
        text_limit=min(texts, policy.candidates_max),
        k=numbers.k,
        vector_weight=fused.vector_weight if is_fused else 1.0,
        text_weight=fused.text_weight if is_fused else 1.0,
        payload=request.limit + _SPARE_PAYLOAD
        if is_fused and not request.known_at
        else 2 * policy.candidates_max,
        types=[memory_type.value for memory_type in request.types or MemoryType],
        captured_by=[who.value for who in request.captured_by or CapturedBy],
        conversation_id=request.conversation_id,
        tags=list(request.tags),
        entities=list(request.entities),
        begins_by=begins_by,
        ends_after=ends_after,
        known_at=request.known_at,
        card_statuses=[Status.ACTIVE.value, *([Status.SUPERSEDED.value] if request.as_of else [])],
        seeds=policy.graph.seeds if request.graph else 0,
        hub=policy.graph.hub,
        graph_limit=policy.graph.candidates,
    )


def _interval(request: RecallRequest, now: datetime) -> tuple[datetime, datetime]:
    """By when a memory must have begun to be true, and when it must still have been.

    Now, or as of the moment that was asked for. Who wants superseded memories too wants them from
    any time.
    """
    if request.as_of is None and request.include_superseded:
        return _LATEST, _EARLIEST
    moment = request.as_of or now
    return moment, moment


def _moments(
    request: RecallRequest, now: datetime, begins_by: datetime, ends_after: datetime
) -> Moments:
    """The same for the words.

    Those of a past version are compared in the graph, not in the index.
    """
    if request.known_at:
        return Moments(now=epoch_ms(now))
    return Moments(
        now=epoch_ms(now), begins_by=epoch_ms(begins_by), ends_after=ends_after_ms(ends_after)
    )


def _indexed_statuses(request: RecallRequest) -> Sequence[Status]:
    if request.known_at:
        return (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
    return request.statuses


def _facets(request: RecallRequest) -> Facets:
    groups: list[tuple[str, Sequence[str]]] = []
    if request.types:
        groups.append(("type", [memory_type.value for memory_type in request.types]))
    if request.captured_by:
        groups.append(("captured_by", [who.value for who in request.captured_by]))
    if request.conversation_id:
        groups.append(("conversation_id", [request.conversation_id]))
    groups.extend(("tag", [tag]) for tag in request.tags)
    groups.extend(("entity", [key]) for key in request.entities)
    return Facets(groups=groups)
