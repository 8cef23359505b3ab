"""Judging: a message is read, outside any transaction, and what it says is kept in one operation.

A model reads it where there is one; rules take over while that is silent. Both go through the same
filters.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.adapters.asking import Ask
from graphmem.companion import judge_model, judge_rules
from graphmem.companion.judge import Judged, window_of
from graphmem.companion.judge_filters import Drop, DropReason, Filtered, filtered
from graphmem.companion.keeping import Judgement, KeepJudged, Kept
from graphmem.companion.planning import (
    PlannedFact,
    PlannedTodo,
    request_of_fact,
    request_of_todo,
    todo_key,
)
from graphmem.companion.todo_hygiene import TodoHygiene, TodoPlan
from graphmem.conversations.sayings import READ_MAX_CHARS
from graphmem.errors import ModelUnavailable, PolicyRefused
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.item import Item
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.preparation import Preparation, Prepared
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.companion import (
    CONVERSATION,
    ROOM,
    CompanionUser,
    Message,
    NewTodo,
    Persona,
    Todo,
    TodoKind,
    TodoStatus,
)
from graphmem.model.conversation import Turn, TurnRole, conversation_key
from graphmem.model.extraction import EngineName
from graphmem.model.policy import Policy
from graphmem.model.policy.companion import CompanionPolicy
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.model.writing import Outcome
from graphmem.ports import LanguageModel
from graphmem.store.companions import names_of
from graphmem.store.connection import Connection
from graphmem.store.memories import Memories
from graphmem.store.messages import claim_message, said_before
from graphmem.store.personas import Personas
from graphmem.store.spaces import SpacePolicies

log = logging.getLogger(__name__)

CLAIMED_FOR = timedelta(seconds=60)  # by a judge, beside the time of its model
_RULES_READ_INSTEAD = "model_unavailable"
_PERSONAS_MAX = 200  # whose names are no facts


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What became of a message: memories and todos that were kept, and what was not, by reason.

    ``habits`` are those that commitments became, ``ended`` todos that are no longer pending.
    """

    facts: tuple[Kept, ...] = ()
    todos: tuple[Kept, ...] = ()
    habits: tuple[Kept, ...] = ()
    ended: tuple[Todo, ...] = ()
    dropped: tuple[Drop, ...] = ()
    degraded: tuple[str, ...] = ()
    is_judged: bool = False  # not where another judge has it

    @property
    def kept(self) -> tuple[Kept, ...]:
        """All that was kept of it."""
        return (*self.facts, *self.todos, *self.habits)

    @property
    def completed(self) -> list[str]:
        """The uids of the commitments that were kept."""
        return [todo.uid for todo in self.ended if todo.status is TodoStatus.COMPLETED]

    @property
    def promoted(self) -> list[str]:
        """The uids of the habits that commitments became."""
        return [habit.memory.uid for habit in self.habits if habit.memory]

    @property
    def skipped(self) -> list[str]:
        """The uids of the threads that were small talk."""
        return [todo.uid for todo in self.ended if todo.status is TodoStatus.SKIPPED]


@dataclass(frozen=True, kw_only=True)
class ClaimMessage(Operation[Turn | None, Turn | None]):
    """Let one judge have a message that waits; None where another has it, or it is judged."""

    kind = TraceKind.COMPANION

    space: Space
    key: str
    claim: str
    claimed_for: timedelta

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the message, and that of its user."""
        return (self.space, self.space.without_persona)

    def read(self, transaction: Workbench) -> Turn | None:
        """The message, which is the judge's then."""
        now = transaction.now
        until = now + self.claimed_for
        return claim_message(transaction, self.key, claim=self.claim, now=now, until=until)

    def decide(self, state: Turn | None, now: datetime) -> Decided[Turn | None]:  # noqa: ARG002
        """Answer with it."""
        return Decided(answer=state)

    def apply(self, transaction: Workbench, decided: Decided[Turn | None]) -> None:
        """It was claimed as it was read."""


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Judges messages."""

    gateway: Gateway
    preparation: Preparation
    policy: Policy
    policies: SpacePolicies
    connection: Connection
    memories: Memories
    personas: Personas
    hygiene: TodoHygiene
    model: LanguageModel | None

    def claimed_for(self, config: CompanionPolicy) -> timedelta:
        """How long a judge may have a message before another takes it."""
        return CLAIMED_FOR + timedelta(seconds=2 * config.judge.timeout_seconds)

    def run(
        self, turn: Turn, persona: Persona, user: CompanionUser, *, claim: str, caller: Caller
    ) -> Verdict:
        """Read a message of a user that is claimed, and keep what it says.

        Raises:
            StoreUnavailable: the database does not answer; the message waits for the next judge.
        """
        config = self.policies.of(turn.space).companion
        present = _message(turn)
        window = window_of(self._said_before(turn, config), present, config.judge)
        names = self._names(persona)
        meant = {**self.policy.entities.overrides, **user.overrides}
        judged = self._read(present, window, names, config)
        left = self._filtered(judged, window, names, meant, turn.space, config)
        plan = self.hygiene.plan(turn, left.todos, config.todos)
        written = self._prepared(left, plan, judged, turn, caller)
        operation = KeepJudged(
            space=turn.space.without_persona,
            policy=self.policy,
            config=config,
            facts=written.facts,
            todos=written.todos,
            habits=written.habits,
            ends=written.plan.ends,
            turn=turn,
            claim=claim,
            names=names_of(
                self.connection,
                turn.space.without_persona,
                (ref for each in left.memories for ref in each.entity_refs),
            ),
            vectors=written.prepared.vectors,
        )
        kept = self.gateway.execute(operation, caller).answer
        degraded = dict.fromkeys((*judged.degraded, *plan.degraded))
        return _verdict(kept, (*left.dropped, *written.refused), tuple(degraded))

    def _said_before(self, turn: Turn, config: CompanionPolicy) -> list[Message]:
        policy = config.judge
        found = said_before(
            self.connection,
            conversation_key(turn.space, CONVERSATION),
            after=turn.at - timedelta(minutes=policy.window_minutes),
            before=turn.at,
            limit=policy.window_messages + 1,
        )
        return [_message(each) for each in found]

    def _names(self, persona: Persona) -> list[str]:
        """What the personas of the tenant are called."""
        others = self.personas.page(persona.tenant, limit=_PERSONAS_MAX).items
        called = (name for each in (persona, *others) for name in (each.name, each.slug))
        return list(dict.fromkeys(called))

    def _read(
        self,
        present: Message,
        window: Sequence[Message],
        names: Sequence[str],
        config: CompanionPolicy,
    ) -> Judged:
        if self.model is None:
            return judge_rules.read(present, window, personas=names)
        ask = Ask(model=self.model, seconds=config.judge.timeout_seconds)
        try:
            return judge_model.read(ask, present, window, personas=names)
        except ModelUnavailable as error:
            log.warning("rules judge instead: %s", error.message)
            judged = judge_rules.read(present, window, personas=names)
            return replace(judged, degraded=(*judged.degraded, _RULES_READ_INSTEAD))

    def _filtered(
        self,
        judged: Judged,
        window: Sequence[Message],
        names: Sequence[str],
        overrides: Mapping[str, str],
        space: Space,
        config: CompanionPolicy,
    ) -> Filtered:
        """What passes the filters, without todos that are pending already."""

        def passed(pending: frozenset[tuple[TodoKind, str]]) -> Filtered:
            return filtered(
                judged,
                window,
                personas=names,
                pending=pending,
                overrides=overrides,
                policy=config.judge,
            )

        left = passed(frozenset())
        claims = {logical_claim(space, todo_key(each), ROOM): each for each in left.todos}
        known = self.memories.known_claims(claims) if claims else set()
        if not known:
            return left
        return passed(frozenset((claims[each].kind, claims[each].signature) for each in known))

    def _prepared(
        self, left: Filtered, plan: TodoPlan, judged: Judged, turn: Turn, caller: Caller
    ) -> "_Written":
        """What is left with the items that write it; what may not be stored is dropped."""
        by_model = judged.engine is EngineName.MODEL
        owner, at = turn.space.without_persona, turn.at
        habits = [plan.habit] if plan.habit else []
        facts = [
            request_of_fact(each, space=owner, at=at, by_model=by_model) for each in left.memories
        ]
        todos = [
            request_of_todo(each, space=turn.space, at=at, by_model=by_model) for each in left.todos
        ]
        promoted = [request_of_todo(each, space=turn.space, at=at) for each in habits]
        prepared = self.preparation.embed(
            self.preparation.check([*facts, *todos, *promoted], caller)
        )
        items = {item.index: item for item in prepared.items}
        first_todo, first_habit = len(facts), len(facts) + len(todos)
        kept_habits = _planned_todos(habits, items, first=first_habit)
        return _Written(
            prepared=prepared,
            facts=[
                PlannedFact(fact=fact, item=items[number])
                for number, fact in enumerate(left.memories)
                if number in items
            ],
            todos=_planned_todos(left.todos, items, first=first_todo),
            habits=kept_habits,
            plan=plan if len(kept_habits) == len(habits) else plan.without_habit(),
            refused=[
                Drop(
                    reason=_reason(each.error),
                    what="memory" if each.index < first_todo else "loop",
                )
                for each in prepared.refused
            ],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    """What a message leads to, ready to be written, and what may not be."""

    prepared: Prepared
    facts: Sequence[PlannedFact]
    todos: Sequence[PlannedTodo]
    habits: Sequence[PlannedTodo]
    plan: TodoPlan
    refused: Sequence[Drop]


def _planned_todos(
    todos: Sequence[NewTodo], items: Mapping[int, Item], *, first: int
) -> list[PlannedTodo]:
    """Those todos that may be stored; ``first`` is the index of the first one."""
    return [
        PlannedTodo(todo=todo, item=items[number])
        for number, todo in enumerate(todos, start=first)
        if number in items
    ]


def _message(turn: Turn) -> Message:
    return Message(
        uid=turn.uid,
        is_user=turn.role is TurnRole.USER,
        content=turn.content[:READ_MAX_CHARS],
        at=turn.at,
    )


def _reason(error: Exception | None) -> DropReason:
    return DropReason.SCREENED if isinstance(error, PolicyRefused) else DropReason.INVALID


def _verdict(kept: Judgement | None, dropped: Sequence[Drop], degraded: Sequence[str]) -> Verdict:
    """What became of a message; todos that somebody else wrote meanwhile are dropped."""
    if kept is None:
        return Verdict()
    known = [each for each in kept.todos if each.outcome is Outcome.UNCHANGED]
    refused = [each for each in (*kept.facts, *kept.todos) if each.error]
    more = [
        *(Drop(reason=DropReason.KNOWN_LOOP, what="loop") for _ in known),
        *(Drop(reason=_reason(each.error), what="memory") for each in refused),
    ]
    return Verdict(
        facts=tuple(each for each in kept.facts if each.memory),
        todos=tuple(each for each in kept.todos if each.memory and each not in known),
        habits=tuple(each for each in kept.habits if each.outcome is Outcome.CREATED),
        ended=kept.ended,
        dropped=(*dropped, *more),
        degraded=tuple(degraded),
        is_judged=True,
    )
