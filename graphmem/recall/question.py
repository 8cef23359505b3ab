"""Question: a recall's request, with what its spaces, their policy and its plan make of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.model.caller import Caller
from graphmem.model.policy import Policy, RecallPolicy
from graphmem.model.space import Space
from graphmem.recall.planner import Plan, plan, plan_limit
from graphmem.recall.request import RankerName, RecallRequest
from graphmem.recall.spaces import has_orchestrator


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A request that is ready to be answered; its limit is set, and the plan is applied."""

    request: RecallRequest
    caller: Caller
    spaces: tuple[Space, ...]
    policy: RecallPolicy
    ranker: RankerName
    now: datetime
    plan: Plan | None = None
    keeps_turns: bool = False  # the first space has turns as memories beside the facts in them
    # those that its filter means: for each, one by owner, as keys within their space
    entities: Sequence[tuple[str, ...]] = ()
    words: Sequence[str] = ()  # of its query that are cues too

    @property
    def entity_keys(self) -> list[list[str]]:
        """The keys that those of the filter have, whoever owns them."""
        return [
            list(dict.fromkeys(each.partition("|")[2] for each in meant)) for meant in self.entities
        ]


def question_of(
    request: RecallRequest,
    *,
    caller: Caller,
    spaces: tuple[Space, ...],
    policy: Policy,
    now: datetime,
) -> Question:
    """A request as a question to some spaces; a typed graph has its own defaults (002)."""
    recall = policy.recall
    limit, ranker = recall.limit, RankerName.FUSED
    if has_orchestrator(spaces):
        limit, ranker = policy.memory.retrieval.top_n, RankerName.RRF
        # what a typed graph calls superseded may be archived
        is_wide = request.include_superseded or request.include_archived
        request = replace(request, include_archived=is_wide)
    request = replace(request, limit=request.limit or limit)
    chosen = plan(request.query, recall.plan) if request.plan else None
    if chosen and chosen is not Plan.NO_RECALL:
        request = replace(
            request,
            limit=min(request.limit, plan_limit(chosen, recall.plan)),
            graph=request.graph or chosen is Plan.GRAPH_MODE,
        )
    return Question(
        request=request,
        caller=caller,
        spaces=spaces,
        policy=recall,
        ranker=request.ranker or ranker,
        now=now,
        plan=chosen,
        keeps_turns=policy.lifecycle.keep_turns,
    )
