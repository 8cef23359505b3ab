"""The keeper of contexts: recalls for a session, and builds what an agent should know."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from graphmem.adapters.asking import Ask
from graphmem.errors import ModelUnavailable, StoreUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.lifecycle.artefacts import artefact_limit
from graphmem.lifecycle.context import (
    CHARS_PER_TOKEN,
    Context,
    ContextInput,
    build_context,
    said_once,
)
from graphmem.lifecycle.feedback import NoteLastRecall
from graphmem.lifecycle.recalled import (
    Recalled,
    recalled_from_candidate,
    recalled_from_memory,
)
from graphmem.lifecycle.rerank import reranked
from graphmem.model.caller import Caller
from graphmem.model.feedback import LastRecall, query_hash
from graphmem.model.notebook import NotedQuestion
from graphmem.model.policy import LifecycleConfig, Policy
from graphmem.model.space import Space, SpaceKind, shared_space
from graphmem.ports import Clock, LanguageModel
from graphmem.recall.expansion import Expansion
from graphmem.recall.planner import Plan, plan
from graphmem.recall.recall import Found, Recall
from graphmem.recall.request import Bundle, RankerName, RecallRequest
from graphmem.recall.spaces import readable_spaces
from graphmem.store.questions import Questions
from graphmem.store.session_context import SessionContextReader
from graphmem.store.spaces import SpacePolicies

log = logging.getLogger(__name__)

_RECALLED_MAX = 150  # memories of a context
_BY_MEANING = 60  # of them that the vectors rank; words find the rest
_LINE_CHARS = 64  # of a memory, as it is thought of before any is read
_QUESTIONS_SHOWN = 3
_ORDERED_LEAST = 2  # memories, of which an order can be asked
NEWEST = "newest"  # the mode of a context for which nothing was recalled


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldContext:
    """A context, and how it came about."""

    context: Context
    plan: Plan
    mode: str
    degraded: tuple[str, ...]
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class ContextKeeper:
    """Tells what an agent should know before it answers."""

    recall: Recall
    gateway: Gateway
    policies: SpacePolicies
    clock: Clock
    reader: SessionContextReader
    questions: Questions
    model: LanguageModel | None = None

    def of(
        self,
        space: Space,
        session: str | None,
        query: str,
        *,
        max_tokens: int | None,
        caller: Caller,
    ) -> ToldContext:
        """The context of a query in a space, of at most so many tokens.

        It reads the space and the shared one, where the caller may. What a session was told last is
        remembered for feedback.

        Raises:
            Forbidden, MemoryDisabled, SourcePathDenied, StoreUnavailable: see Recall.recall.
        """
        policy = self.policies.of(space)
        config = policy.lifecycle
        most = max_tokens or config.max_memory_tokens
        chosen = plan(query, policy.recall.plan) if config.recall_planner_enabled else Plan.FULL
        spaces = [each.name for each in self._spaces(space, caller)]
        found = self._found(spaces, query, chosen, policy, most, caller)
        bundle = found.bundle
        if chosen is Plan.NO_RECALL:
            self.recall.note(found, ())
            return _told(Context(), chosen, bundle, mode=bundle.mode.value)
        # one that lies too deep to be looked at says nothing
        recalled = [recalled_from_candidate(each) for each in found.chosen if each.said_at]
        recalled, failed = self._reranked(query, recalled, config)
        mode = bundle.mode.value
        if not recalled:
            wider = readable_spaces(spaces, caller)
            newest = self.reader.newest(wider, limit=_RECALLED_MAX, now=self.clock.now())
            recalled = [recalled_from_memory(each) for each in newest]
            mode = NEWEST if recalled else mode
        given = self._given(space, said_once(recalled, space), chosen, config)
        context = build_context(given, max_tokens=most)
        self.recall.note(found, context.memories)
        if session is not None:
            failed = (*failed, *self._remember(space, session, query, bundle, context, caller))
        bundle = replace(bundle, degraded=(*bundle.degraded, *failed))
        return _told(context, chosen, bundle, mode=mode)

    def _spaces(self, space: Space, caller: Caller) -> list[Space]:
        """The space, and the shared one of its tenant unless it is a wall of its own."""
        shared = shared_space(space.tenant)
        widens = space.kind is not SpaceKind.ORCHESTRATOR and space != shared
        return [space, shared] if widens and caller.may_see(shared) else [space]

    def _found(
        self,
        spaces: Sequence[str],
        query: str,
        chosen: Plan,
        policy: Policy,
        max_tokens: int,
        caller: Caller,
    ) -> Found:
        room = max_tokens * CHARS_PER_TOKEN // _LINE_CHARS
        full = max(policy.recall.plan.full_limit, min(_RECALLED_MAX, room))
        limit = policy.recall.plan.minimal_limit if chosen is Plan.MINIMAL else full
        request = RecallRequest(
            spaces=spaces,
            query=query,
            limit=limit,
            candidates_vector=_BY_MEANING,
            ranker=RankerName.LIFECYCLE,
            graph=chosen is Plan.GRAPH_MODE,
            edges=False,
            kept=False,
            whole=False,
            expansion=_expansion(policy.lifecycle),
            plan=chosen is Plan.NO_RECALL,
        )
        return self.recall.find(request, caller=caller)

    def _reranked(
        self, query: str, recalled: list[Recalled], config: LifecycleConfig
    ) -> tuple[list[Recalled], tuple[str, ...]]:
        """Memories in a model's order where that is wanted and works, and what did not."""
        if not config.rerank_enabled or len(recalled) < _ORDERED_LEAST:
            return recalled, ()
        if self.model is None:
            return recalled, ("rerank_without_model",)
        ask = Ask(model=self.model, seconds=config.rerank_timeout_ms / 1_000)
        try:
            return reranked(ask, query, recalled, most=config.rerank_max_candidates), ()
        except ModelUnavailable as error:
            log.warning("context without rerank: %s", error.message)
            return recalled, ("rerank_unavailable",)

    def _given(
        self, space: Space, recalled: Sequence[Recalled], chosen: Plan, config: LifecycleConfig
    ) -> ContextInput:
        now = self.clock.now()
        quotable = recalled if config.verbatim_artifacts_enabled else ()
        days = timedelta(days=config.box_recall_days)
        since = now - days if config.memory_boxes_enabled else None
        beside = self.reader.beside(space, [each.key for each in quotable], since=since, now=now)
        most = artefact_limit(chosen, len(recalled), config.verbatim_artifacts_max_recall)
        words = dict(beside.artefacts)
        quoted = [(each.key, words[each.key]) for each in recalled if each.key in words]
        return ContextInput(
            recalled=recalled,
            artefacts=quoted[:most],
            profile=beside.profile,
            boxes=beside.boxes,
            questions=self._asked(space) if config.inject_questions else (),
        )

    def _asked(self, space: Space) -> Sequence[NotedQuestion]:
        page = self.questions.page(
            space, limit=_QUESTIONS_SHOWN, now=self.clock.now(), is_open=True
        )
        return page.items

    def _remember(
        self,
        space: Space,
        session: str,
        query: str,
        bundle: Bundle,
        context: Context,
        caller: Caller,
    ) -> tuple[str, ...]:
        """Remember what a session was told; what did not work, for no reader waits for it."""
        last = LastRecall(
            space=space,
            session=session,
            recall=bundle.trace_id,
            memories=context.memories,
            query_hash=query_hash(query),
            at=self.clock.now(),
        )
        try:
            self.gateway.execute(NoteLastRecall(last=last), caller)
        except StoreUnavailable as error:
            log.warning("what a session was told is not remembered: %s", error.message)
            return ("last_recall_not_kept",)
        return ()


def _expansion(config: LifecycleConfig) -> Expansion | None:
    if not config.query_expansion_enabled:
        return None
    return Expansion(
        cues=config.query_expansion_max_queries, letters=config.query_expansion_min_token_len
    )


def _told(context: Context, chosen: Plan, bundle: Bundle, *, mode: str) -> ToldContext:
    return ToldContext(
        context=context,
        plan=chosen,
        mode=mode,
        degraded=bundle.degraded,
        trace_id=bundle.trace_id,
    )
