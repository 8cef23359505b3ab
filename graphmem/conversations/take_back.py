"""Take back: turns are retracted, and with them what is remembered of them alone.

A memory that another turn or source carries loses only what is taken back.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from graphmem.errors import NotFound
from graphmem.gateway.claims import source_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.reactions import read_resting
from graphmem.gateway.sources import drop_source
from graphmem.gateway.turns import check_conversation_keeper
from graphmem.gateway.workbench import Workbench
from graphmem.model.conversation import (
    Conversation,
    FromTurn,
    Turn,
    conversation_key,
    turn_key,
)
from graphmem.model.event import Effect, Event, Reason, Subject
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.store.turns import Resting, find_turn, newest_turn, resting_on, turn_heads
from graphmem.store.writes import read_state

_KEYED = "key|"  # before the key of a source, in its name


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenBack:
    """The turns that were taken back, newest first, and the uids of the memories of them.

    ``retracted`` went with them, ``kept`` are carried by others.
    """

    turns: tuple[Turn, ...] = ()
    retracted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class _Records(NamedTuple):
    turns: tuple[Turn, ...]
    resting: tuple[Resting, ...]


@dataclass(frozen=True, kw_only=True)
class _TakeBack(MemoryOperation[TakenBack]):
    """Take back turns of a conversation, which has to be there."""

    kind = TraceKind.TURN
    frees_message = False

    space: Space
    conversation_id: str
    policy: Policy

    @property
    def key(self) -> str:
        """The key of the conversation."""
        return conversation_key(self.space, self.conversation_id)

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the conversation."""
        return (self.space,)

    @abstractmethod
    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The turns that are taken back, newest first."""

    def check_found(self, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Refuse what cannot be taken back."""

    def closed(self, conversation: Conversation) -> Conversation:
        """What the conversation is afterwards."""
        return conversation

    def selection(self) -> Selection:
        """The conversation; its turns tell which memories are read."""
        return Selection(conversations=frozenset({self.key}))

    def read(self, transaction: Workbench) -> GraphState:
        """Lock the conversation and the memories of its turns; those found meanwhile as well."""
        turns = self.turns(transaction)
        while True:
            memories = frozenset(each.memory for each in resting_on(transaction, turns))
            state = read_state(
                transaction,
                replace(self.selection(), memories=memories),
                now=transaction.now,
            )
            turns = self.turns(transaction)
            resting = resting_on(transaction, turns)
            if {each.memory for each in resting} <= memories:
                break
        rooms = read_resting(
            transaction,
            transaction.reactions,
            memories=sorted(state.memories),
            turns=[turn.key for turn in turns],
        )
        return replace(state, records=_Records(turns, resting), resting=rooms)

    def decide(self, state: GraphState, now: datetime) -> Decided[TakenBack]:
        """Take the turns back.

        Raises:
            NotFound: there is no such conversation or turn.
            KeptByRoom: a room keeps the conversation, and this is not everybody's right.
        """
        turns, resting = state.records
        conversation = state.conversations.get(self.key)
        if conversation is None or conversation.created_at is None:
            raise NotFound
        self.check_found(conversation, turns)
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        for turn in turns:
            draft.turns.take_back(turn, frees_message=self.frees_message)
        draft.turns.put(self.closed(draft.turns.conversations[self.key]))
        by_memory: Mapping[str, list[Resting]] = defaultdict(list)
        for each in resting:
            by_memory[each.memory].append(each)
        answer = TakenBack(turns=turns)
        for key, rows in sorted(by_memory.items()):
            answer = self._leave(draft, answer, draft.memories[key], rows)
        return Decided(answer=answer, events=self._events(answer), memories=draft.decision())

    def _leave(
        self, draft: Draft, answer: TakenBack, memory: Memory, rows: Sequence[Resting]
    ) -> TakenBack:
        """Let a memory be of these turns no longer."""
        for row in rows:
            draft.turns.unlinked.add(
                FromTurn(memory=row.memory, turn=row.turn, said_by=row.said_by)
            )
        if self.frees_message:
            draft.forgotten_claims |= {
                source_claim(memory.space, row.said_by.removeprefix(_KEYED), memory.kept_by)
                for row in rows
                if row.said_by.startswith(_KEYED)
            }
        if memory.status is Status.RETRACTED:
            return answer
        gone = {row.said_by for row in rows if not row.again}
        left = [source for source in memory.sources if source.name not in gone]
        has_more = memory.sources_total > len(memory.sources)
        if not (left or has_more or any(row.others for row in rows)):
            draft.set_status(memory, Status.RETRACTED, Reason.TURN_TAKEN_BACK)
            return replace(answer, retracted=(*answer.retracted, memory.uid))
        for source in memory.sources if left else ():
            if source.name in gone:
                memory = drop_source(draft, memory, source)
        counted = max(1, memory.mention_count - len(rows))
        draft.put(
            replace(
                memory,
                mention_count=counted,
                updated_at=draft.now,
                version=memory.version + 1,
            )
        )
        return replace(answer, kept=(*answer.kept, memory.uid))

    def _events(self, answer: TakenBack) -> tuple[Event, ...]:
        return tuple(
            Event(
                space=self.space.key,
                subject=turn.uid,
                about=Subject.TURN,
                effect=Effect.RETRACTED,
            )
            for turn in answer.turns
        )


@dataclass(frozen=True, kw_only=True)
class PopTurn(_TakeBack):
    """Take the newest turn of a conversation back; its message may be said again."""

    frees_message = True

    kept_by: str | None = None  # the room that does it

    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The newest one."""
        found = newest_turn(transaction, self.key)
        return (found,) if found else ()

    def check_found(self, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Refuse where there is none, or a room keeps the conversation.

        Raises:
            NotFound, KeptByRoom: so it is.
        """
        check_conversation_keeper(conversation, self.kept_by)
        if not turns:
            raise NotFound


@dataclass(frozen=True, kw_only=True)
class DeleteTurn(_TakeBack):
    """Delete one turn of a conversation."""

    uid: str

    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """That one."""
        found = find_turn(transaction, self.key, turn_key(self.space, self.uid))
        return (found,) if found else ()

    def check_found(self, conversation: Conversation, turns: Sequence[Turn]) -> None:  # noqa: ARG002
        """Refuse where it is not there.

        Raises:
            NotFound: so it is.
        """
        if not turns:
            raise NotFound


@dataclass(frozen=True, kw_only=True)
class DeleteTurns(_TakeBack):
    """Delete some of the turns of a conversation up to a number, and it with the last of them."""

    upto: int
    most: int

    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The newest of them."""
        return turn_heads(transaction, self.key, upto=self.upto, limit=self.most)

    def closed(self, conversation: Conversation) -> Conversation:
        """Nothing is left of a conversation without turns but the order of later ones."""
        if conversation.turns:
            return conversation
        return replace(conversation, created_at=None, title=None, user=None, kept_by=None)
