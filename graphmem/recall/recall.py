"""The recall: resolve spaces, embed the cue, fetch candidates in one round trip, rank, bundle."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import InvalidInput, ModelUnavailable, SourcePathDenied
from graphmem.model.caller import Caller
from graphmem.model.edge import Edge
from graphmem.model.entity import entity_key
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import CardPolicy, Policy
from graphmem.model.space import Space, SpaceKind
from graphmem.model.tokens import epoch_ms
from graphmem.model.trace import TraceKind, TraceRecord, redacted
from graphmem.ports import Clock, Embedder, Events, IdSource, Vector
from graphmem.recall.candidates import Scored
from graphmem.recall.cards import Card, entity_cards
from graphmem.recall.explain import kept_candidates, kept_request
from graphmem.recall.planner import Plan, plan, plan_limit
from graphmem.recall.ranking import ranked
from graphmem.recall.request import Bundle, Explanation, Mode, RankerName, RecallItem, RecallRequest
from graphmem.recall.search_builder import search_of
from graphmem.recall.spaces import has_orchestrator, readable_spaces
from graphmem.store.candidates import Candidates, CardNumbers, Found, Harvest, Search
from graphmem.store.entities import CardQuestion, Entities, KnownOf
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Journal

log = logging.getLogger(__name__)


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
        entities: Entities,
        *,
        embedder: Embedder,
        clock: Clock,
        ids: IdSource,
        policy: Policy,
        policies: SpacePolicies,
        journal: Journal,
        workspaces: Workspaces,
        events: Events,
    ) -> None:
        self._candidates = candidates
        self._entities = entities
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._base = policy.recall
        self._policies = policies
        self._overrides = policy.entities.overrides
        self._terms_max = policy.index.terms_max
        self._journal = journal
        self._workspaces = workspaces
        self._events = events

    def recall(self, request: RecallRequest, *, caller: Caller) -> Bundle:
        """Answer a cue with ranked memories of the spaces that it names.

        Raises:
            InvalidInput: a space, filter or number is not valid. Forbidden: the key may not read
            one of the spaces; ScopeDenied for mixed orchestrators; MemoryDisabled;
            SourcePathDenied.
            StoreUnavailable: the database does not answer.
        """
        spaces = readable_spaces(request.spaces, caller, events=self._events)
        now = self._clock.now()
        whole = self._policies.of(spaces[0])
        policy = whole.recall
        is_typed_graph = has_orchestrator(spaces)
        self.check_enabled(spaces[0])
        usual = whole.memory.retrieval.top_n if is_typed_graph else policy.limit
        request = replace(request, limit=request.limit or usual)
        ranker = request.ranker or (RankerName.RRF if is_typed_graph else RankerName.FUSED)
        chosen_plan = plan(request.query, policy.plan) if request.plan else None
        if chosen_plan is Plan.NO_RECALL:
            bundle = Bundle(
                ranker=ranker, plan=chosen_plan, trace_id=self._ids.new("trace"), mode=Mode.NONE
            )
            self._note(request, bundle, spaces, (), caller, now)
            return bundle
        if chosen_plan:
            limit = min(request.limit, plan_limit(chosen_plan, policy.plan))
            request = replace(
                request, limit=limit, graph=request.graph or chosen_plan is Plan.GRAPH_MODE
            )
        if request.entities:
            request = replace(request, entities=self.entity_keys(request.entities, spaces))
        vector, degraded = (None, ()) if request.text_only else self._vector(request.query)
        search = search_of(
            request, spaces, vector, ranker, policy, now=now, terms_max=self._terms_max
        )
        answer = self._ask(search, request)
        scored = ranked(answer.harvest, ranker, policy, now=now, search=search, request=request)
        passed = [
            e for e in scored if request.min_score <= 0 or round(e.score, 6) >= request.min_score
        ]
        bundle = self._bundle(
            answer, passed[: request.limit], ranker, search, request, policy.cards
        )
        if is_typed_graph:
            self._check_paths(bundle, spaces[0])
        bundle = replace(bundle, plan=chosen_plan, degraded=(*degraded, *bundle.degraded))
        self._note(request, bundle, spaces, scored, caller, now)
        return bundle

    def check_enabled(self, space: Space) -> None:
        """Refuse what asks an orchestrator whose memory is off.

        Raises:
            MemoryDisabled: it is.
        """
        self._policies.check_enabled(space)

    def _check_paths(self, bundle: Bundle, space: Space) -> None:
        """Let a recall fail whole that would cite a file which its orchestrator may not cite (002, access)."""
        paths = {item.memory.source.path for item in bundle.items if item.memory.source.path}
        if denied := sorted(path for path in paths if not self._workspaces.may_cite(space, path)):
            self._events.emit("memory.recall.source_path_denied", space, path=denied[0])
            raise SourcePathDenied

    def known_of(
        self,
        key: str,
        spaces: Sequence[Space],
        *,
        limit: int,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> KnownOf | None:
        """What is known of an entity: its most important facts in some spaces.

        None where nothing mentions it.
        """
        now = self._clock.now()
        statuses = (Status.ACTIVE, Status.SUPERSEDED) if as_of else (Status.ACTIVE,)
        question = CardQuestion(
            limit=limit,
            importance=self._policies.of(spaces[0]).recall.cards.importance,
            now_ms=epoch_ms(now),
            begins_by=as_of or now,
            ends_after=as_of or now,
            statuses=statuses,
            known_at=known_at,
        )
        return self._entities.known_of(spaces, self._overrides.get(key, key), question)

    def entity_keys(
        self, names: Sequence[str], spaces: Sequence[Space], *, field: str = "entities"
    ) -> list[str]:
        """The entities that names mean in some spaces: normalised, by the overrides, and as they were merged.

        Raises:
            InvalidInput: a name is not an entity key.
        """
        try:
            keys = [entity_key(name, self._overrides) for name in names]
        except ValueError as error:
            raise InvalidInput({field: [str(error)]}) from error
        return self._entities.resolved(spaces, keys)

    def warm_up(self) -> None:
        """Run every candidate query once for each plan it can get, so that no caller waits for a plan."""
        now = self._clock.now()
        few, many = (
            [
                Space(tenant="-", kind=SpaceKind.SYSTEM, owner=f"warm-up-{number}")
                for number in range(count)
            ]
            for count in (1, 11)
        )
        request = RecallRequest(spaces=[], query="warm up")
        vector, _ = self._vector(request.query)
        self._policies.reload()
        self._entities.resolved(few, ["other:-"])
        self._candidates.by_index(self._search(request, few, None, now))
        search = self._search(request, few, vector, now)
        for ask in (
            self._candidates.by_index,
            self._candidates.by_index_filtered,
            self._candidates.exact,
        ):
            ask(search)
        self._candidates.known_at(replace(search, known_at=now))
        search = self._search(request, many, vector, now)
        self._candidates.by_index(search)
        for known_at in (None, now):
            self._follow_up(
                replace(search, known_at=known_at, spaces=search.spaces[:1]),
                [],
                [],
                self._base.cards,
            )

    def _search(
        self, request: RecallRequest, spaces: Sequence[Space], vector: Vector | None, now: datetime
    ) -> Search:
        return search_of(
            request,
            spaces,
            vector,
            RankerName.FUSED,
            self._base,
            now=now,
            terms_max=self._terms_max,
        )

    def _vector(self, cue: str) -> tuple[Vector | None, tuple[str, ...]]:
        try:
            return self._embedder.embed_query(cue), ()
        except ModelUnavailable as error:
            log.warning("recall without vectors: %s", error.message)
            return None, ("embedder_unavailable",)

    def _ask(self, search: Search, request: RecallRequest) -> _Answer:
        """By index where the index can filter.

        One by one where it cannot, or where it did not fill the limit.
        """
        if search.known_at:
            return _Answer(harvest=self._candidates.known_at(search), way="exact")
        if search.tags or search.entities:
            return _Answer(harvest=self._candidates.exact(search), way="exact")
        narrowed = request.types or request.captured_by or request.conversation_id
        by_index = self._candidates.by_index_filtered if narrowed else self._candidates.by_index
        harvest = by_index(search)
        cut = sum(row.chunks for row in harvest.found) >= search.vector_limit
        if cut and len(harvest.found) < request.limit and request.candidates_vector is None:
            return _Answer(harvest=self._candidates.exact(search), way="exact")
        return _Answer(harvest=harvest, way="index")

    def _bundle(
        self,
        answer: _Answer,
        chosen: Sequence[Scored],
        ranker: RankerName,
        search: Search,
        request: RecallRequest,
        cards_policy: CardPolicy,
    ) -> Bundle:
        keys = [entry.candidate.key for entry in chosen]
        memories = self._candidates.payload(answer.harvest, keys)
        missing = [key for key in keys if key not in memories]
        cards: tuple[Card, ...] = ()
        if missing or (request.cards and keys):
            more, cards = self._follow_up(
                search, keys if request.cards else [], missing, cards_policy
            )
            memories |= more
        items = tuple(
            RecallItem(
                memory=memories[entry.candidate.key],
                score=round(entry.score, 6),
                contradicted=entry.candidate.contested,
                explanation=Explanation(
                    vector=entry.candidate.vector,
                    text=entry.candidate.text,
                    graph=entry.candidate.graph,
                    factors=entry.factors,
                ),
            )
            for entry in chosen
            if entry.candidate.key in memories
        )
        pending = answer.harvest.pending
        return Bundle(
            items=items,
            edges=_edges_of(answer.harvest, items, ranker),
            cards=cards,
            mode=_mode(answer.harvest.found, search),
            ranker=ranker,
            search=answer.way,
            trace_id=self._ids.new("trace"),
            degraded=(f"embedding_pending: {pending}",) if pending else (),
        )

    def _note(
        self,
        request: RecallRequest,
        bundle: Bundle,
        spaces: Sequence[Space],
        scored: Sequence[Scored],
        caller: Caller,
        now: datetime,
    ) -> None:
        """Leave a trace and the counts, which are written behind."""
        keys = [space.key for space in spaces]
        returned = len(bundle.items)
        kept = kept_request(request, bundle.ranker, returned=returned, plan=bundle.plan)
        trace = TraceRecord(
            uid=bundle.trace_id,
            kind=TraceKind.RECALL,
            tenant=caller.tenant,
            spaces=tuple(keys),
            key_id=caller.key_id,
            created_at=now,
            events=kept_candidates(scored, keys),
            query=redacted(request.query),
            request=kept,
        )
        self._journal.remember(trace, [item.memory.key for item in bundle.items])

    def _follow_up(
        self, search: Search, keys: Sequence[str], missing: Sequence[str], policy: CardPolicy
    ) -> tuple[dict[str, Memory], tuple[Card, ...]]:
        numbers = CardNumbers(rows=policy.rows, importance=policy.importance)
        found = self._candidates.follow_up(search, keys=keys, missing=missing, numbers=numbers)
        return dict(found.memories), entity_cards(found.entities, found.facts, policy)


def _edges_of(
    harvest: Harvest, items: Sequence[RecallItem], ranker: RankerName
) -> tuple[Edge, ...]:
    """002 returns every edge that touches a result, the others those among the results."""
    uids = {item.memory.uid for item in items}
    enough = any if ranker is RankerName.RRF else all
    return tuple(
        edge
        for edge in harvest.edges
        if enough(uid in uids for uid in (edge.from_uid, edge.to_uid))
    )


def _mode(found: Sequence[Found], search: Search) -> Mode:
    if search.vector is None or not any(row.vector_rank for row in found):
        return Mode.FULL_TEXT_ONLY
    return Mode.VECTOR_ONLY if search.text.startswith("+space_token:none0") else Mode.HYBRID
