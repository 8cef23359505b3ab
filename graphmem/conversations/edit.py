"""Edit: what a conversation is called, and whose it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import NotFound
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.turns import check_conversation_keeper
from graphmem.model.conversation import Conversation, conversation_key
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind


@dataclass(frozen=True, kw_only=True)
class EditConversation(MemoryOperation[Conversation]):
    """Give a conversation another title or user; None takes it away."""

    kind = TraceKind.TURN

    space: Space
    conversation_id: str
    changes: Mapping[str, str | None]
    kept_by: str | None = None  # the room that does it

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the conversation."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """The title and the user."""
        return [text for text in self.changes.values() if text]

    def selection(self) -> Selection:
        """The conversation as it is, without its turns."""
        key = conversation_key(self.space, self.conversation_id)
        return Selection(conversations=frozenset({key}), with_turns=False)

    def decide(self, state: GraphState, now: datetime) -> Decided[Conversation]:
        """Change what is named.

        Raises:
            NotFound: there is no such conversation.
            KeptByRoom: a room keeps it.
        """
        (known,) = state.conversations.values()
        if known.created_at is None:
            raise NotFound
        check_conversation_keeper(known, self.kept_by)
        changed = replace(known, **self.changes)  # type: ignore[arg-type]
        if changed == known:
            return Decided(answer=known)
        updated_at = max(known.updated_at or now, now)
        draft = Draft(before=state, now=now)
        draft.turns.put(changed := replace(changed, updated_at=updated_at))
        event = Event(
            space=self.space.key,
            subject=self.conversation_id,
            about=Subject.CONVERSATION,
            effect=Effect.REVISED,
        )
        return Decided(answer=changed, events=(event,), memories=draft.decision())
