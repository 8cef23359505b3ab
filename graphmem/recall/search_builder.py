"""Search builder: what the graph is asked for a question, by the ranker's numbers."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from graphmem.model.memory import MemoryType, Status
from graphmem.model.source import CapturedBy
from graphmem.model.tokens import ends_after_ms, epoch_ms
from graphmem.ports import Vector
from graphmem.recall.lucene_query import Facets, Moments, lucene_query
from graphmem.recall.question import Question
from graphmem.recall.request import RankerName, RecallRequest
from graphmem.store.candidates import Search
from graphmem.text.analysis import word_forms

# how far down light factors may lift a candidate from, without another round trip
_SPARE_PAYLOAD = 10
_SPARE_WITH_TURNS = 40  # what stands behind turns is known once its content is
_TIMES_WITH_TURNS = 2  # candidates of an arm where one thing is there as a turn and as a fact
_CHUNKS_PER_MEMORY = 5  # how many chunks are asked for to fill a large limit
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def search_of(question: Question, vector: Vector | None, *, terms_max: int) -> Search:
    """What both arms are asked."""
    request, policy = question.request, question.policy
    keys = [space.key for space in question.spaces]
    begins_by, ends_after = _interval(request, question.now)
    is_fused = question.ranker is RankerName.FUSED
    numbers = policy.fused if is_fused else policy.rrf
    least = numbers.text_candidates * (_TIMES_WITH_TURNS if question.keeps_turns else 1)
    texts = request.candidates_text or max(least, request.limit)
    return Search(
        vector=vector,
        text=lucene_query(
            request.query,
            spaces=keys,
            statuses=_indexed_statuses(request),
            facets=_facets(question),
            moments=_moments(request, question.now, begins_by, ends_after),
            terms_max=terms_max,
        ),
        spaces=keys,
        statuses=_values(request.statuses),
        now_ms=epoch_ms(question.now),
        vector_limit=_chunks(question),
        vector_memories=_vector_memories(question),
        text_limit=min(texts, policy.candidates_max),
        k=numbers.k,
        vector_weight=policy.fused.vector_weight if is_fused else 1.0,
        text_weight=policy.fused.text_weight if is_fused else 1.0,
        payload=_payload(question),
        looked=0 if _knows_its_results(question) else 2 * policy.candidates_max,
        with_edges=_knows_its_results(question),
        types=_values(request.types or MemoryType),
        captured_by=_values(request.captured_by or CapturedBy),
        conversation_id=request.conversation_id,
        tags=list(request.tags),
        entities=[list(meant) for meant in question.entities],
        begins_by=begins_by,
        ends_after=ends_after,
        known_at=request.known_at,
        words=word_forms(request.query, limit=terms_max) if request.known_at else (),
        card_statuses=_values(current_or_as_of(request.as_of)),
        seeds=policy.graph.seeds if request.graph else 0,
        hub=policy.graph.hub,
        graph_limit=policy.graph.candidates,
    )


def _chunks(question: Question) -> int:
    """How many chunks are asked for at first."""
    request, policy = question.request, question.policy
    least = policy.fused.vector_candidates * (_TIMES_WITH_TURNS if question.keeps_turns else 1)
    if request.candidates_vector:
        return max(least, 2 * request.candidates_vector)
    return min(max(least, request.limit * _CHUNKS_PER_MEMORY), policy.candidates_max)


def _vector_memories(question: Question) -> int | None:
    """How many memories the vector arm ranks (002, topKVector); ``fused`` counts chunks."""
    request, policy = question.request, question.policy
    if question.ranker is RankerName.FUSED:
        return request.candidates_vector
    numbers = policy.blend if question.ranker is RankerName.BLEND else policy.rrf
    return request.candidates_vector or max(numbers.vector_candidates, request.limit)


def current_or_as_of(as_of: datetime | None) -> tuple[Status, ...]:
    """The statuses of facts: what was true at a past time may be superseded since."""
    return (Status.ACTIVE, Status.SUPERSEDED) if as_of else (Status.ACTIVE,)


def _payload(question: Question) -> int:
    """How many candidates come whole."""
    if not _knows_its_results(question):
        return 0
    spare = _SPARE_WITH_TURNS if question.keeps_turns else _SPARE_PAYLOAD
    return question.request.limit + spare


def _knows_its_results(question: Question) -> bool:
    """Whether the first candidates are nearly what is returned, so that they come whole.

    Elsewhere all are looked at, and what belongs to the results is fetched for them alone.
    """
    return question.ranker is RankerName.FUSED and not question.request.known_at


def _values(members: Iterable[StrEnum]) -> list[str]:
    return [member.value for member in members]


def _interval(request: RecallRequest, now: datetime) -> tuple[datetime, datetime]:
    """The validity window: latest start and earliest end.

    Both are now, or the moment that was asked for. A request for superseded memories too has a
    window without ends.
    """
    if request.as_of is None and request.include_superseded:
        return _LATEST, _EARLIEST
    moment = request.as_of or now
    return moment, moment


def _moments(
    request: RecallRequest, now: datetime, begins_by: datetime, ends_after: datetime
) -> Moments:
    """The validity window of the text index, which does not know past versions."""
    if request.known_at:
        return Moments(now=epoch_ms(now))
    return Moments(
        now=epoch_ms(now), begins_by=epoch_ms(begins_by), ends_after=ends_after_ms(ends_after)
    )


def _indexed_statuses(request: RecallRequest) -> Sequence[Status]:
    if request.known_at:
        return (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
    return request.statuses


def _facets(question: Question) -> Facets:
    request = question.request
    groups: list[tuple[str, Sequence[str]]] = []
    if request.types:
        groups.append(("type", _values(request.types)))
    if request.captured_by:
        groups.append(("captured_by", _values(request.captured_by)))
    if request.conversation_id:
        groups.append(("conversation_id", [request.conversation_id]))
    groups.extend(("tag", [tag]) for tag in request.tags)
    groups.extend(("entity", keys) for keys in question.entity_keys)
    return Facets(groups=groups)
