"""The recall: resolve spaces, embed the cue, fetch candidates in one round trip, rank, bundle."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import InvalidInput, ModelUnavailable, SourcePathDenied
from graphmem.model.caller import Caller, Role
from graphmem.model.edge import Edge
from graphmem.model.entity import EntityRef, entity_ref
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.ports import Clock, Embedder, Events, IdSource, Vector
from graphmem.recall.candidates import Candidate, Scored
from graphmem.recall.cards import Card, entity_cards
from graphmem.recall.expansion import fused_cues, rarest, words_to_count
from graphmem.recall.planner import Plan
from graphmem.recall.question import Question, question_of
from graphmem.recall.ranking import ranked
from graphmem.recall.reasons import kept_candidates, kept_request, trace_of_shown
from graphmem.recall.request import Bundle, Explanation, Mode, RankerName, RecallItem, RecallRequest
from graphmem.recall.search_builder import current_or_as_of, search_of
from graphmem.recall.spaces import has_orchestrator, readable_spaces
from graphmem.recall.warm_up import FEW, MANY, warm_up
from graphmem.store.candidates import (
    CandidateRow,
    Candidates,
    CandidateSet,
    CardNumbers,
    EdgesOf,
    Search,
)
from graphmem.store.entities import CardQuestion, Entities, KnownOf
from graphmem.store.spaces import SpacePolicies
from graphmem.store.traces import Journal
from graphmem.text.secrets import redacted

log = logging.getLogger(__name__)

_CHUNKS_MOST = 5_000  # asked for where fewer are of too few memories


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """What the graph gave, what it was asked for, and whether by index or one by one."""

    fetched: CandidateSet
    search: Search
    way: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Whole:
    """The memories of the results by key, their edges, and the cards beside them."""

    memories: Mapping[str, Memory]
    edges: EdgesOf
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The answer of a recall, its trace, and whether its results count as recalled.

    ``chosen`` are its results as candidates, best first.
    """

    bundle: Bundle
    chosen: tuple[Candidate, ...]
    trace: TraceRecord
    counts: bool


class Recall:
    """Answers cues: the one read path."""

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
        traced: int,
    ) -> None:
        """``traced`` is how many candidates behind the result a trace keeps."""
        self._candidates = candidates
        self._entities = entities
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._base = policy
        self._policies = policies
        self._overrides = policy.entities.overrides
        self._journal = journal
        self._workspaces = workspaces
        self._events = events
        self._traced = traced

    def recall(self, request: RecallRequest, *, caller: Caller) -> Bundle:
        """Answer a cue with ranked memories of the spaces that it names.

        Raises:
            InvalidInput: a space, filter or number is not valid.
            Forbidden: the key may not read one of the spaces.
            ScopeDenied: an orchestrator space stands beside another.
            MemoryDisabled: the memory of the orchestrator is off.
            SourcePathDenied: a memory cites a file that its orchestrator may not cite.
            StoreUnavailable: the database does not answer.
        """
        found = self.find(request, caller=caller)
        self.note(found, [item.memory.key for item in found.bundle.items])
        return found.bundle

    def find(self, request: RecallRequest, *, caller: Caller) -> Found:
        """The same without a note of it, for who shows only a part of what is found.

        Candidates alone are enough for who wants none of the results ``whole``.

        Raises:
            InvalidInput, Forbidden, ScopeDenied, MemoryDisabled, SourcePathDenied,
            StoreUnavailable: see recall.
        """
        question = self._question(request, caller)
        if question.plan is Plan.NO_RECALL:
            return self._found(question, self._nothing(question), (), ())
        answer, scored, degraded = self._answered(question)
        cues = self._rare_words(question)
        by_word = [self._ranked_for(question, word) for word in cues]
        scored = fused_cues(scored, by_word, k=question.policy.fused.k)
        question = replace(question, words=cues)
        chosen = _chosen(scored, question.request)
        bundle = self._bundle(question, answer, chosen)
        self._check_paths(bundle, question.spaces)
        bundle = replace(bundle, degraded=(*degraded, *bundle.degraded))
        return self._found(question, bundle, scored, chosen)

    def note(self, found: Found, shown: Sequence[str]) -> None:
        """Leave a trace and the counts, which are written behind, of memories that were shown."""
        self._journal.remember(trace_of_shown(found.trace, shown), shown if found.counts else [])

    def check_enabled(self, space: Space) -> None:
        """Refuse a call about an orchestrator whose memory is off.

        Raises:
            MemoryDisabled: its memory is off.
        """
        self._policies.check_enabled(space)

    def known_of(
        self,
        ref: EntityRef,
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
        question = CardQuestion(
            limit=limit,
            importance=self._policies.of(spaces[0]).recall.cards.importance,
            now_ms=epoch_ms(now),
            begins_by=as_of or now,
            ends_after=as_of or now,
            statuses=current_or_as_of(as_of),
            known_at=known_at,
        )
        meant = self._overrides.get(ref.key)
        return self._entities.known_of(spaces, EntityRef(key=meant) if meant else ref, question)

    def entities_meant(
        self, names: Sequence[str], spaces: Sequence[Space], *, field: str = "entities"
    ) -> list[tuple[str, ...]]:
        """The entities that names mean in some spaces, one by owner, as keys within their space.

        Names are normalised and overridden; merged ones are what they became.

        Raises:
            InvalidInput: a name is not an entity key.
        """
        try:
            refs = [entity_ref(name, overrides=self._overrides) for name in names]
        except ValueError as error:
            raise InvalidInput({field: [str(error)]}) from error
        return self._entities.meant(spaces, refs)

    def warm_up(self) -> None:
        """Let the database plan its queries, so that no caller waits for a plan."""
        self._policies.reload()
        request = RecallRequest(spaces=(), query="warm up")
        vector, _ = self._vector(request)
        caller = Caller(key_id="-", tenant="-", role=Role.READER, spaces=())
        few, many = (
            self._search(
                question_of(
                    request, caller=caller, spaces=spaces, policy=self._base, now=self._clock.now()
                ),
                vector,
            )
            for spaces in (FEW, MANY)
        )
        warm_up(self._candidates, self._entities, few=few, many=many)

    def _question(self, request: RecallRequest, caller: Caller) -> Question:
        spaces = readable_spaces(request.spaces, caller, events=self._events)
        now = self._clock.now()
        policy = self._policies.of(spaces[0])
        self.check_enabled(spaces[0])
        question = question_of(request, caller=caller, spaces=spaces, policy=policy, now=now)
        if not request.entities or question.plan is Plan.NO_RECALL:
            return question
        return replace(question, entities=self.entities_meant(request.entities, spaces))

    def _nothing(self, question: Question) -> Bundle:
        return Bundle(
            ranker=question.ranker,
            plan=question.plan,
            trace_id=self._ids.new("trace"),
            mode=Mode.NONE,
        )

    def _vector(self, request: RecallRequest) -> tuple[Vector | None, tuple[str, ...]]:
        """The vector of a cue, and what did not work where there is none."""
        if request.text_only:
            return None, ()
        try:
            return self._embedder.embed_query(request.query), ()
        except ModelUnavailable as error:
            log.warning("recall without vectors: %s", error.message)
            return None, ("embedder_unavailable",)

    def _search(self, question: Question, vector: Vector | None) -> Search:
        return search_of(question, vector, terms_max=self._base.index.terms_max)

    def _ask(self, search: Search, request: RecallRequest) -> _Answer:
        """Ask by index; one by one where it cannot filter, or did not fill the limit.

        Who is asked twice brings all of the results, so that nobody is asked a third time.
        """
        if search.known_at:
            fetched = self._candidates.known_at(search)
            return _Answer(fetched=fetched, search=search, way="exact")
        if not (search.tags or search.entities):
            narrowed = request.types or request.captured_by or request.conversation_id
            by_index = self._candidates.by_index_filtered if narrowed else self._candidates.by_index
            fetched = by_index(search)
            if _falls_short(fetched, search):
                search = replace(_with_all(search, request), vector_limit=_CHUNKS_MOST)
                fetched = by_index(search)
            if not _may_lack(fetched, search, request):
                return _Answer(fetched=fetched, search=search, way="index")
            search = _with_all(search, request)
        return _Answer(fetched=self._candidates.exact(search), search=search, way="exact")

    def _rare_words(self, question: Question) -> tuple[str, ...]:
        """The words of a question that are cues too, where it is to be expanded."""
        expansion = question.request.expansion
        if expansion is None or not (words := words_to_count(question.request.query, expansion)):
            return ()
        asked = [replace(question, request=replace(question.request, query=word)) for word in words]
        counts = self._candidates.counts([self._search(each, None) for each in asked])
        return rarest(dict(zip(words, counts, strict=True)), expansion)

    def _ranked_for(self, question: Question, word: str) -> list[Scored]:
        """The candidates of a word of a question, in its ranker's order."""
        question = replace(question, request=replace(question.request, query=word))
        _, scored, _ = self._answered(question)
        return scored

    def _answered(self, question: Question) -> tuple[_Answer, list[Scored], tuple[str, ...]]:
        """What the graph gives for a question, in its ranker's order, and what did not work."""
        vector, degraded = self._vector(question.request)
        answer = self._ask(self._search(question, vector), question.request)
        return answer, ranked(answer.fetched, answer.search, question), degraded

    def _bundle(self, question: Question, answer: _Answer, chosen: Sequence[Scored]) -> Bundle:
        # what an orchestrator may not cite stands in the memories
        is_whole = question.request.whole or has_orchestrator(question.spaces)
        keys = [each.candidate.key for each in chosen] if is_whole else []
        whole = self._whole(question, answer, keys)
        items = tuple(
            _item(each, whole.memories[each.candidate.key])
            for each in chosen
            if each.candidate.key in whole.memories
        )
        pending = answer.fetched.pending
        cut = len(whole.edges.cut & {item.memory.key for item in items})
        said = {"embedding_pending": pending, "edges_cut": cut}
        return Bundle(
            items=items,
            edges=_edges_of(whole.edges, items, question.ranker),
            cards=whole.cards,
            mode=_mode(answer.fetched.rows, answer.search),
            ranker=question.ranker,
            search=answer.way,
            plan=question.plan,
            trace_id=self._ids.new("trace"),
            degraded=tuple(f"{what}: {number}" for what, number in said.items() if number),
        )

    def _whole(self, question: Question, answer: _Answer, keys: Sequence[str]) -> _Whole:
        """The results of some keys: what did not come with the candidates is fetched now."""
        fetched = answer.fetched
        memories = self._candidates.payload(fetched, keys)
        missing = [key for key in keys if key not in memories]
        has_edges = answer.search.with_edges or not question.request.edges
        without_edges = missing if has_edges else keys
        about = keys if question.request.cards else ()
        if not (missing or without_edges or about):
            return _Whole(memories=memories, edges=fetched.edges)
        policy = question.policy.cards
        more = self._candidates.card_rows(
            answer.search,
            keys=about,
            missing=missing,
            without_edges=without_edges,
            numbers=CardNumbers(
                rows=policy.rows, importance=policy.importance, relations=policy.relations
            ),
        )
        found = {
            key: memory
            for key, memory in more.memories.items()
            if _may_be_shown(memory, answer.search)
        }
        return _Whole(
            memories=memories | found,
            edges=fetched.edges | more.edges,
            cards=entity_cards(more.entities, more.facts, policy, more.relations),
        )

    def _check_paths(self, bundle: Bundle, spaces: Sequence[Space]) -> None:
        """Fail a recall that cites a file which its orchestrator may not cite (002, access)."""
        if not has_orchestrator(spaces):
            return
        sources = (source for item in bundle.items for source in item.memory.sources)
        paths = {source.path for source in sources if source.path}
        denied = [path for path in paths if not self._workspaces.may_cite(spaces[0], path)]
        if denied:
            self._events.emit("memory.recall.source_path_denied", spaces[0], path=min(denied))
            raise SourcePathDenied

    def _found(
        self,
        question: Question,
        bundle: Bundle,
        scored: Sequence[Scored],
        chosen: Sequence[Scored],
    ) -> Found:
        keys = tuple(space.key for space in question.spaces)
        trace = TraceRecord(
            uid=bundle.trace_id,
            kind=TraceKind.RECALL,
            tenant=question.caller.tenant,
            spaces=keys,
            key_id=question.caller.key_id,
            created_at=question.now,
            events=kept_candidates(scored[: len(chosen) + self._traced], keys),
            query=redacted(question.request.query),
            request=kept_request(question, returned=len(chosen), candidates=len(scored)),
        )
        return Found(
            bundle=bundle,
            chosen=tuple(each.candidate for each in chosen),
            trace=trace,
            counts=question.policy.access_tracking_enabled,
        )


def _may_be_shown(memory: Memory, search: Search) -> bool:
    """Whether a memory is still in a status that was asked for, when it is read as a result."""
    if search.known_at:
        return memory.status is not Status.RETRACTED
    return memory.status.value in search.statuses


def _with_all(search: Search, request: RecallRequest) -> Search:
    """A search whose candidates come whole and with their edges, where memories are wanted."""
    if not request.whole:
        return search
    return replace(search, payload=search.payload or search.looked, looked=0, with_edges=True)


def _falls_short(fetched: CandidateSet, search: Search) -> bool:
    """Whether the index has more chunks, and those that it gave are of too few memories."""
    if not search.vector_memories or search.vector is None:
        return False
    found = [row.chunks for row in fetched.rows if row.vector_rank is not None]
    return len(found) < search.vector_memories and sum(found) >= search.vector_limit


def _may_lack(fetched: CandidateSet, search: Search, request: RecallRequest) -> bool:
    """Whether the index was cut before it gave as many memories as were asked for."""
    was_cut = sum(row.chunks for row in fetched.rows) >= search.vector_limit
    is_short = len(fetched.rows) < request.limit
    return was_cut and is_short and request.candidates_vector is None


def _chosen(scored: Sequence[Scored], request: RecallRequest) -> Sequence[Scored]:
    """The best candidates, as many as were asked for, without those of a low score."""
    least = request.min_score
    passed = [each for each in scored if least <= 0 or round(each.score, 6) >= least]
    return passed[: request.limit]


def _item(scored: Scored, memory: Memory) -> RecallItem:
    candidate = scored.candidate
    return RecallItem(
        memory=memory,
        score=round(scored.score, 6),
        contradicted=candidate.contested,
        explanation=Explanation(
            vector=candidate.vector,
            text=candidate.text,
            graph=candidate.graph,
            factors=scored.factors,
        ),
    )


def _edges_of(edges: EdgesOf, items: Sequence[RecallItem], ranker: RankerName) -> tuple[Edge, ...]:
    """The edges of results: all that touch one (002), or those among them (the other rankers)."""
    uids = {item.memory.uid for item in items}
    enough = any if ranker is RankerName.RRF else all
    return tuple(
        edge
        for edge in edges.in_order()
        if enough(uid in uids for uid in (edge.from_uid, edge.to_uid))
    )


def _mode(found: Sequence[CandidateRow], search: Search) -> Mode:
    if search.vector is None or not any(row.vector_rank for row in found):
        return Mode.FULL_TEXT_ONLY
    return Mode.VECTOR_ONLY if search.text.startswith("+space_token:none0") else Mode.HYBRID
