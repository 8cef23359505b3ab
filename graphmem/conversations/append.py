"""Append: what is said joins its conversation, and what is remembered of it the memories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.gateway.decide import decide_item
from graphmem.gateway.draft import Draft
from graphmem.gateway.item import Item, selection_for
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.model.conversation import Saying, Turn, conversation_key
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import WriteResult


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A turn as it was kept, whether it is new, and the uids of what is remembered of it."""

    turn: Turn
    is_new: bool
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AppendTurns(MemoryOperation[tuple[Said, ...]]):
    """Keep turns at the end of a conversation, all or none.

    ``items`` are the memories of turns that are new; each names its saying.
    """

    kind = TraceKind.TURN

    space: Space
    conversation_id: str
    sayings: Sequence[Saying]
    policy: Policy
    items: Sequence[Item] = ()
    kept_by: str | None = None
    screened: Sequence[str] = ()

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the conversation."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """All that is said, and how it is called."""
        return self.screened

    def selection(self) -> Selection:
        """The conversation, the messages that are named, and what the memories need."""
        key = conversation_key(self.space, self.conversation_id)
        named = {(key, each.message_id) for each in self.sayings if each.message_id}
        selected = selection_for(self.items)
        return replace(
            selected,
            conversations=selected.conversations | {key},
            messages=selected.messages | named,
            with_turns=bool(self.items),  # turns alone are in no chain of memories
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[tuple[Said, ...]]:
        """Keep each turn in order.

        Raises:
            KeptByRoom, RetractedSource, Conflict: see TurnDraft.check.
            GraphmemError: what is to be remembered of a turn may not be stored.
        """
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        draft.turns.room = self.kept_by
        key = conversation_key(self.space, self.conversation_id)
        turns: dict[str, Turn] = {}
        kept: list[tuple[Turn, bool]] = []
        for saying in self.sayings:
            draft.turns.check(key, saying)
            turn = draft.turns.say(self.space, self.conversation_id, saying)
            is_new = turn.uid == saying.uid
            kept.append((turn, is_new))
            if is_new:
                turns[saying.uid] = turn
        results = [
            self._remember(draft, item, turns[item.said.uid])
            for item in self.items
            if item.said and item.said.uid in turns
        ]
        decision = draft.decision(results)
        memories = _by_turn(decision.results)
        answer = tuple(
            Said(
                turn=turn,
                is_new=is_new,
                memories=memories.get(turn.uid) or turn.memories,
            )
            for turn, is_new in kept
        )
        return Decided(answer=answer, events=tuple(map(_event, answer)), memories=decision)

    def _remember(self, draft: Draft, item: Item, turn: Turn) -> WriteResult:
        request = replace(item.request, occurred_at=turn.at)
        result = decide_item(draft, replace(item, request=request), self.policy)
        if result.error:
            raise result.error
        return result


def _by_turn(results: Sequence[WriteResult]) -> dict[str, tuple[str, ...]]:
    """The uids of new memories by the uid of their turn."""
    found: dict[str, tuple[str, ...]] = {}
    for result in results:
        memory = result.memory
        if memory and memory.turns:
            found[memory.turns[-1]] = (*found.get(memory.turns[-1], ()), memory.uid)
    return found


def _event(said: Said) -> Event:
    return Event(
        space=said.turn.space.key,
        subject=said.turn.uid,
        about=Subject.TURN,
        effect=Effect.CREATED if said.is_new else Effect.UNCHANGED,
        detail={"memories": list(said.memories)},
    )
