"""Take in: conversations and turns that another system kept join those that are here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, GraphmemError
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.conversation import (
    Conversation,
    Saying,
    Turn,
    conversation_key,
    turn_key,
)
from graphmem.model.memory import Memory, memory_key
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.store.turns import note_turns, turns_by_key

Outcomes = tuple[str | GraphmemError, ...]
UNCHANGED = "unchanged"  # else what was added, as lines of an import are counted


@dataclass(frozen=True, kw_only=True)
class TakeInConversations(MemoryOperation[Outcomes]):
    """Begin conversations as another system kept them; those that are here stay as they are."""

    kind = TraceKind.TURN

    space: Space
    conversations: Sequence[Conversation]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the conversations."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """What they are called, and whose they are."""
        names = ((each.id, each.title, each.user) for each in self.conversations)
        return [text for each in names for text in each if text]

    def selection(self) -> Selection:
        """The conversations as they are here, without their turns."""
        keys = frozenset(each.key for each in self.conversations)
        return Selection(conversations=keys, with_turns=False)

    def decide(self, state: GraphState, now: datetime) -> Decided[Outcomes]:
        """Begin those that are not here."""
        draft = Draft(before=state, now=now)
        outcomes = tuple(_begun(draft, each) for each in self.conversations)
        return Decided(answer=outcomes, memories=draft.decision())


def _begun(draft: Draft, conversation: Conversation) -> str:
    known = draft.turns.conversations[conversation.key]
    if known.created_at:
        return UNCHANGED
    draft.turns.put(replace(conversation, numbered=known.numbered))
    return "conversations"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptTurn:
    """A turn that another system kept; ``memories`` are pairs of a uid and the name of a source."""

    conversation_id: str
    saying: Saying
    memories: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, kw_only=True)
class TakeInTurns(MemoryOperation[Outcomes]):
    """Add turns that another system kept; those that are here by uid stay as they are."""

    kind = TraceKind.TURN

    space: Space
    turns: Sequence[KeptTurn]
    screened: Sequence[str]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the turns."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """All that is said, and how it is called."""
        return self.screened

    def selection(self) -> Selection:
        """The conversations and the messages."""
        keys = [conversation_key(self.space, each.conversation_id) for each in self.turns]
        named = zip(keys, self.turns, strict=True)
        return Selection(
            conversations=frozenset(keys),
            memories=frozenset(
                memory_key(self.space, uid) for each in self.turns for uid, _ in each.memories
            ),
            with_turns=False,
            messages=frozenset(
                (key, each.saying.message_id) for key, each in named if each.saying.message_id
            ),
        )

    def read_records(self, transaction: Workbench) -> dict[str, Turn]:
        """The turns that are here by their keys."""
        return turns_by_key(
            transaction, {turn_key(self.space, each.saying.uid) for each in self.turns}
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[Outcomes]:
        """Add each turn in order; one that is refused takes no other with it."""
        draft = Draft(before=state, now=now)
        outcomes = tuple(self._added(draft, state.records, each) for each in self.turns)
        return Decided(answer=outcomes, memories=draft.decision())

    def _added(self, draft: Draft, here: dict[str, Turn], kept: KeptTurn) -> str | GraphmemError:
        saying, key = kept.saying, conversation_key(self.space, kept.conversation_id)
        place = turn_key(self.space, saying.uid)
        known = here.get(place) or draft.turns.created.get(place)
        if known and (known.conversation_key, known.digest) != (key, saying.digest):
            message = f"Another turn of this space has the uid {saying.uid}."
            return Conflict(message)
        if known is None:
            draft.turns.room = draft.turns.conversations[key].kept_by
            try:
                draft.turns.check(key, saying)
            except Conflict as error:
                return error
        turn = known or draft.turns.say(self.space, kept.conversation_id, saying)
        if not turn.is_retracted:
            for memory, said_by in self._memories(draft, kept):
                draft.turns.link(memory, turn, said_by, is_known=known is not None)
        return UNCHANGED if known or turn.uid != saying.uid else "turns"

    def _memories(self, draft: Draft, kept: KeptTurn) -> Iterator[tuple[Memory, str]]:
        """The memories of a turn that are here, with the names of the sources that said them."""
        for uid, said_by in kept.memories:
            memory = draft.memories.get(memory_key(self.space, uid))
            if memory:
                yield memory, said_by

    def apply_records(self, transaction: Workbench, decided: Decided[Outcomes]) -> None:
        """Note on memories their newest turns, which did not come in the order of their times."""
        note_turns(transaction, {link.memory for link in decided.memories.turns.links})
