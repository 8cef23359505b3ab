"""The recall: resolve spaces, embed the cue, fetch candidates in one round trip, rank, bundle."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Forbidden, InvalidInput, ModelUnavailable, ScopeDenied
from graphmem.model.caller import Caller, Role
from graphmem.model.entity import entity_key
from graphmem.model.memory import MemoryType
from graphmem.model.policy import RecallPolicy
from graphmem.model.source import CapturedBy
from graphmem.model.space import Space, SpaceKind, parse_space
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Clock, Embedder, IdSource, Vector
from graphmem.recall.candidates import Arm, Candidate, Scored
from graphmem.recall.query_text import Facets, query_text
from graphmem.recall.rankers.fused import fused
from graphmem.recall.rankers.rrf import rrf
from graphmem.recall.request import Bundle, Explanation, Mode, RankerName, RecallItem, RecallRequest
from graphmem.store.candidates import Candidates, Found, Harvest, Search

log = logging.getLogger(__name__)

_SPARE_PAYLOAD = 10  # how far down light factors may lift a candidate from, without another round trip
_CHUNKS_PER_MEMORY = 5  # how many chunks are asked for to fill a large limit


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """What the graph gave, and which way it was asked."""

    harvest: Harvest
    way: str


class Recall:
    """The one way out."""

    def __init__(
        self,
        candidates: Candidates,
        *,
        embedder: Embedder,
        clock: Clock,
        ids: IdSource,
        policy: RecallPolicy,
        terms_max: int,
    ) -> None:
        self._candidates = candidates
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._terms_max = terms_max

    def recall(self, request: RecallRequest, *, caller: Caller) -> Bundle:
        """Answer a cue with ranked memories of the spaces that it names.

        Raises:
            InvalidInput: a space, filter or number is not valid.
            Forbidden: the key may not read one of the spaces; ScopeDenied for mixed orchestrators.
            StoreUnavailable: the database does not answer.
        """
        spaces = readable_spaces(request.spaces, caller)
        now = self._clock.now()
        vector, degraded = self._vector(request.query)
        ranker = request.ranker or _default_ranker(spaces)
        search = self._search(request, spaces, vector, ranker, now)
        answer = self._ask(search, request)
        scored = self._rank(answer.harvest.found, ranker, now, search, request)
        chosen = [entry for entry in scored if round(entry.score, 6) >= request.min_score][: request.limit]
        return self._bundle(answer, chosen, ranker, search, degraded)

    def warm_up(self) -> None:
        """Run every candidate query once for each plan it can get, so that no caller waits for a plan."""
        now = self._clock.now()
        few, many = (
            [Space(tenant="-", kind=SpaceKind.SYSTEM, owner=f"warm-up-{number}") for number in range(count)]
            for count in (1, 11)
        )
        request = RecallRequest(spaces=[], query="warm up")
        vector, _ = self._vector(request.query)
        for given in dict.fromkeys([vector, None]):
            search = self._search(request, few, given, RankerName.FUSED, now)
            self._candidates.by_index(search)
            self._candidates.by_index_filtered(search)
            for tags, entities in (([], []), (["-"], []), ([], ["other:-"]), (["-"], ["other:-"])):
                self._candidates.exact(replace(search, tags=tags, entities=entities))
        self._candidates.by_index(self._search(request, many, vector, RankerName.FUSED, now))

    def _vector(self, cue: str) -> tuple[Vector | None, tuple[str, ...]]:
        try:
            return self._embedder.embed_query(cue), ()
        except ModelUnavailable as error:
            log.warning("recall without vectors: %s", error.message)
            return None, ("embedder_unavailable",)

    def _search(
        self,
        request: RecallRequest,
        spaces: Sequence[Space],
        vector: Vector | None,
        ranker: RankerName,
        now: datetime,
    ) -> Search:
        numbers = self._policy.fused if ranker is RankerName.FUSED else self._policy.rrf
        fused_numbers = self._policy.fused
        keys = [space.key for space in spaces]
        chunks = max(fused_numbers.vector_candidates, request.limit * _CHUNKS_PER_MEMORY)
        return Search(
            vector=vector,
            text=query_text(
                request.query,
                spaces=keys,
                statuses=request.statuses,
                facets=_facets(request),
                now_ms=epoch_ms(now),
                terms_max=self._terms_max,
            ),
            spaces=keys,
            statuses=[status.value for status in request.statuses],
            now_ms=epoch_ms(now),
            vector_limit=min(request.candidates_vector or chunks, self._policy.candidates_max),
            text_limit=min(
                request.candidates_text or max(numbers.text_candidates, request.limit), self._policy.candidates_max
            ),
            k=numbers.k,
            vector_weight=fused_numbers.vector_weight if ranker is RankerName.FUSED else 1.0,
            text_weight=fused_numbers.text_weight if ranker is RankerName.FUSED else 1.0,
            payload=request.limit + _SPARE_PAYLOAD if ranker is RankerName.FUSED else 2 * self._policy.candidates_max,
            types=[memory_type.value for memory_type in request.types or MemoryType],
            captured_by=[who.value for who in request.captured_by or CapturedBy],
            conversation_id=request.conversation_id,
            tags=list(request.tags),
            entities=_entity_keys(request.entities),
        )

    def _ask(self, search: Search, request: RecallRequest) -> _Answer:
        """By index where the index can filter; one by one where it cannot, or where it did not fill the limit."""
        if search.tags or search.entities:
            return _Answer(harvest=self._candidates.exact(search), way="exact")
        narrowed = request.types or request.captured_by or request.conversation_id
        by_index = self._candidates.by_index_filtered if narrowed else self._candidates.by_index
        harvest = by_index(search)
        cut = sum(row.chunks for row in harvest.found) >= search.vector_limit
        if cut and len(harvest.found) < request.limit and request.candidates_vector is None:
            return _Answer(harvest=self._candidates.exact(search), way="exact")
        return _Answer(harvest=harvest, way="index")

    def _rank(
        self, found: Iterable[Found], ranker: RankerName, now: datetime, search: Search, request: RecallRequest
    ) -> list[Scored]:
        candidates = [_candidate(row) for row in found]
        if ranker is RankerName.FUSED:
            return fused(candidates, self._policy.fused)
        policy = self._policy.rrf
        places = request.candidates_vector or max(policy.vector_candidates, request.limit)
        kept = [_within(candidate, places, search.text_limit) for candidate in candidates]
        return rrf([candidate for candidate in kept if candidate.vector or candidate.text], policy, now=now)

    def _bundle(
        self,
        answer: _Answer,
        chosen: Sequence[Scored],
        ranker: RankerName,
        search: Search,
        degraded: tuple[str, ...],
    ) -> Bundle:
        memories = self._candidates.payload(answer.harvest, [entry.candidate.key for entry in chosen])
        items = tuple(
            RecallItem(
                memory=memories[entry.candidate.key],
                score=round(entry.score, 6),
                contradicted=entry.candidate.contested,
                explanation=Explanation(
                    vector=entry.candidate.vector, text=entry.candidate.text, factors=entry.factors
                ),
            )
            for entry in chosen
            if entry.candidate.key in memories
        )
        uids = {item.memory.uid for item in items}
        edges = answer.harvest.edges
        pending = answer.harvest.pending
        return Bundle(
            items=items,
            # 002 returns every edge that touches a result, the others those among the results
            edges=tuple(
                edge
                for edge in edges
                if (any if ranker is RankerName.RRF else all)(uid in uids for uid in (edge.from_uid, edge.to_uid))
            ),
            mode=_mode(answer.harvest.found, search),
            ranker=ranker,
            search=answer.way,
            trace_id=self._ids.new("trace"),
            degraded=(*degraded, *([f"embedding_pending: {pending}"] if pending else [])),
        )


def readable_spaces(names: Sequence[str], caller: Caller, *, field: str = "spaces") -> tuple[Space, ...]:
    """The spaces that a request reads: those it names, and behind a persona its owner's (001).

    Raises:
        InvalidInput: a name is not valid.
        Forbidden: the key may not read one.
        ScopeDenied: an orchestrator space beside any other (002).
    """
    named = []
    for index, name in enumerate(names):
        try:
            named.append(parse_space(name, tenant=caller.tenant))
        except ValueError as error:
            raise InvalidInput({f"{field}.{index}": [str(error)]}) from error
    for space in named:
        if not caller.may(Role.READER, space):
            log.warning("recall denied: key %s may not read a space of kind %s", caller.key_id, space.kind)
            raise Forbidden
    if len(set(named)) > 1 and any(space.kind is SpaceKind.ORCHESTRATOR for space in named):
        log.warning("memory.recall.scope_denied: key %s named an orchestrator beside another space", caller.key_id)
        raise ScopeDenied
    widened = [wider for space in named for wider in space.readable_with_it() if caller.may(Role.READER, wider)]
    return tuple(dict.fromkeys(widened))


def _default_ranker(spaces: Iterable[Space]) -> RankerName:
    alone = any(space.kind is SpaceKind.ORCHESTRATOR for space in spaces)
    return RankerName.RRF if alone else RankerName.FUSED


def _facets(request: RecallRequest) -> Facets:
    groups: list[tuple[str, Sequence[str]]] = []
    if request.types:
        groups.append(("type", [memory_type.value for memory_type in request.types]))
    if request.captured_by:
        groups.append(("captured_by", [who.value for who in request.captured_by]))
    if request.conversation_id:
        groups.append(("conversation_id", [request.conversation_id]))
    groups.extend(("tag", [tag]) for tag in request.tags)
    groups.extend(("entity", [key]) for key in _entity_keys(request.entities))
    return Facets(groups=groups)


def _entity_keys(names: Sequence[str]) -> list[str]:
    try:
        return [entity_key(name) for name in names]
    except ValueError as error:
        raise InvalidInput({"entities": [str(error)]}) from error


def _candidate(row: Found) -> Candidate:
    return Candidate(
        key=row.key,
        uid=row.uid,
        importance=row.importance,
        confidence=row.confidence,
        updated_at=row.updated_at,
        contested=row.contested,
        vector=_arm(row.vector_rank, row.vector_score),
        text=_arm(row.text_rank, row.text_score),
    )


def _arm(rank: int | None, score: float | None) -> Arm | None:
    return Arm(rank=rank, score=score) if rank is not None and score is not None else None


def _within(candidate: Candidate, vector_places: int, text_places: int) -> Candidate:
    """A candidate without the arms in which it came behind the last place that counts."""
    return replace(
        candidate,
        vector=candidate.vector if candidate.vector and candidate.vector.rank <= vector_places else None,
        text=candidate.text if candidate.text and candidate.text.rank <= text_places else None,
    )


def _mode(found: Sequence[Found], search: Search) -> Mode:
    if search.vector is None or not any(row.vector_rank for row in found):
        return Mode.FULL_TEXT_ONLY
    return Mode.VECTOR_ONLY if search.text.startswith("+space_token:none0") else Mode.HYBRID
