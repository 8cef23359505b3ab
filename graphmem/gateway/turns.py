"""Turns: what is said in a conversation is kept word for word, and what is remembered of it. Pure.

A write of a memory with a conversation writes a turn each time it is said.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.errors import Conflict, KeptByRoom, RetractedSource
from graphmem.model.conversation import (
    TURNS_SHOWN,
    Conversation,
    FromTurn,
    Saying,
    Turn,
    TurnChanges,
    TurnRole,
    turn_key,
    words_digest,
)
from graphmem.model.memory import Memory, Status
from graphmem.model.source import CapturedBy, Source
from graphmem.model.space import Space
from graphmem.model.state import Message, SaidPlace
from graphmem.model.writing import WriteRequest
from graphmem.text.normalise import content_hash

if TYPE_CHECKING:
    from graphmem.gateway.draft import Draft
    from graphmem.gateway.item import Item


def was_said(source: Source) -> bool:
    """Whether a source is something that somebody said in a conversation."""
    return source.conversation_id is not None and source.captured_by is not CapturedBy.EXTRACTOR


def role_of(source: Source) -> TurnRole:
    """Who spoke, as far as a source tells."""
    return TurnRole.USER if source.captured_by is CapturedBy.USER else TurnRole.ASSISTANT


def saying_of(request: WriteRequest, content: str, uid: str) -> Saying | None:
    """What a request to remember something says in its conversation, with its content as sent.

    What an extractor or a room put into words nobody said.
    """
    is_told = request.has_turns or request.status is Status.RETRACTED
    if not was_said(request.source) or request.kept_by or is_told:
        return None
    return Saying(
        uid=uid,
        role=role_of(request.source),
        content=content,
        actor=request.actor,
        at=request.occurred_at,
        recorded_at=request.created_at,
    )


@dataclass(kw_only=True)
class TurnDraft:
    """The conversations of a decision as they change.

    ``messages`` are the turns whose message ids are asked for, also those that were taken back;
    ``known`` the turns that sources said before.
    """

    now: datetime
    room: str | None = None  # whose operation it is
    conversations: dict[str, Conversation] = field(default_factory=dict)
    messages: dict[Message, Turn] = field(default_factory=dict)
    known: dict[SaidPlace, Turn] = field(default_factory=dict)
    created: dict[str, Turn] = field(default_factory=dict)  # by key
    reworded: dict[str, tuple[Turn, Turn]] = field(default_factory=dict)
    retracted: list[Turn] = field(default_factory=list)
    links: dict[FromTurn, FromTurn] = field(default_factory=dict)  # each with its newest words
    unlinked: set[FromTurn] = field(default_factory=set)
    left_sources: set[tuple[str, str]] = field(default_factory=set)  # of memories, by name
    taken_words: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by memory
    _changed: set[str] = field(default_factory=set)

    def check(self, conversation: str, saying: Saying) -> None:
        """Refuse what may not be said, before anything of the draft is changed.

        Raises:
            KeptByRoom: another room keeps the conversation.
            RetractedSource: a message of that id was taken back.
            Conflict: a message of that id says something else.
        """
        check_conversation_keeper(self.conversations.get(conversation), self.room)
        self.check_not_taken_back(conversation, saying)
        turn = self._message(conversation, saying)
        if turn and turn.digest != saying.digest:
            message = f"The message {turn.message_id} of this conversation says something else."
            raise Conflict(message)

    def check_not_taken_back(self, conversation: str, saying: Saying) -> None:
        """Refuse a message that was said and deleted.

        Raises:
            RetractedSource: so it was.
        """
        turn = self._message(conversation, saying)
        if turn and turn.is_retracted:
            message = f"The message {turn.message_id} was taken back."
            raise RetractedSource(message)

    def say(self, space: Space, conversation_id: str, saying: Saying) -> Turn:
        """The turn of what is said, which was checked: a new one, or that of the message or uid."""
        started = self._started(Conversation(id=conversation_id, space=space, kept_by=self.room))
        known = self.created.get(turn_key(space, saying.uid))
        if known := known or self._message(started.key, saying):
            return known
        recorded_at = saying.recorded_at or self.now
        turn = Turn(
            uid=saying.uid,
            space=space,
            conversation_id=conversation_id,
            number=started.numbered + 1,
            role=saying.role,
            content=saying.content,
            digest=saying.digest,
            is_forgotten=saying.forgotten is not None,
            at=saying.at or recorded_at,
            recorded_at=recorded_at,
            changed_at=recorded_at,
            actor=saying.actor,
            metadata=saying.metadata,
            message_id=saying.message_id,
            native=saying.native,
        )
        self.created[turn.key] = turn
        if turn.message_id:
            self.messages[started.key, turn.message_id] = turn
        self.put(
            replace(
                started,
                turns=started.turns + 1,
                numbered=turn.number,
                created_at=started.created_at or recorded_at,
                updated_at=max(started.updated_at or recorded_at, recorded_at),
            )
        )
        return turn

    def said_before(self, memory: str, conversation: str, said_by: str) -> Turn | None:
        """The newest turn in which a source said a memory in a conversation."""
        turn = self.known.get((memory, conversation, said_by))
        return self._as_it_is(turn) if turn else None

    def _as_it_is(self, turn: Turn) -> Turn:
        reworded = self.reworded.get(turn.key)
        return reworded[1] if reworded else self.created.get(turn.key, turn)

    def reword(self, turn: Turn, content: str) -> None:
        """Give a turn other words; the former ones stay in its history, unless they are new."""
        digest = words_digest(content)
        if digest == turn.digest:
            return
        after = replace(turn, content=content, digest=digest)
        if turn.key in self.created:
            self.created[turn.key] = after
        else:
            before = self.reworded.get(turn.key, (turn,))[0]
            changed_at = max(self.now, turn.changed_at)
            after = replace(after, changed_at=changed_at, version=before.version + 1)
            self.reworded[turn.key] = (before, after)
        if turn.message_id:
            self.messages[turn.conversation_key, turn.message_id] = after
        self._touch(turn.conversation_key)

    def take_back(self, turn: Turn, *, frees_message: bool) -> None:
        """Retract a turn; with ``frees_message`` its message id may be said again."""
        gone = replace(turn, is_retracted=True, changed_at=max(self.now, turn.changed_at))
        self.retracted.append(replace(gone, message_id=None) if frees_message else gone)
        conversation = self.conversations[turn.conversation_key]
        self.put(replace(conversation, turns=max(0, conversation.turns - 1)))
        self._touch(turn.conversation_key)

    def link(self, memory: Memory, turn: Turn, said_by: str, *, is_known: bool = False) -> None:
        """Note that a memory is of a turn, in the words that it has, unless those may be known."""
        words = "" if is_known else content_hash(memory.content)
        link = FromTurn(memory=memory.key, turn=turn.key, said_by=said_by, words=words)
        self.links[link] = link
        self.known[memory.key, turn.conversation_key, said_by] = turn

    def move(self, turn: Turn, said_by: str, *, start: Memory, end: Memory) -> None:
        """Let another memory be of a turn, or the same one in other words."""
        if start.key != end.key:
            self.unlinked.add(FromTurn(memory=start.key, turn=turn.key, said_by=said_by))
        self.link(end, turn, said_by)

    def _message(self, conversation: str, saying: Saying) -> Turn | None:
        return self.messages.get((conversation, saying.message_id)) if saying.message_id else None

    def _started(self, new: Conversation) -> Conversation:
        known = self.conversations.get(new.key)
        if known is None or known.created_at is None:
            numbered = known.numbered if known else 0
            return replace(new, numbered=numbered)
        return known

    def put(self, conversation: Conversation) -> None:
        """Change a conversation itself."""
        self.conversations[conversation.key] = conversation
        self._changed.add(conversation.key)

    def _touch(self, key: str) -> None:
        if conversation := self.conversations.get(key):
            updated_at = max(conversation.updated_at or self.now, self.now)
            self.put(replace(conversation, updated_at=updated_at))

    def changes(self) -> TurnChanges:
        """What is to be written."""
        return TurnChanges(
            conversations=tuple(self.conversations[key] for key in sorted(self._changed)),
            created=tuple(self.created.values()),
            reworded=tuple(self.reworded.values()),
            retracted=tuple(self.retracted),
            links=tuple(sorted(self.links.values())),
            unlinked=tuple(sorted(self.unlinked)),
            left_sources=frozenset(self.left_sources),
            taken_words=tuple(sorted(self.taken_words.items())),
        )


def check_conversation_keeper(conversation: Conversation | None, room: str | None) -> None:
    """Refuse to write in a conversation that another room keeps, or none does.

    Raises:
        KeptByRoom: so it is.
    """
    is_there = conversation is not None and conversation.created_at is not None
    if not conversation or not is_there or conversation.kept_by == room:
        return
    keeper = f"The room {conversation.kept_by} keeps" if conversation.kept_by else "No room keeps"
    message = f"{keeper} the conversation {conversation.id}."
    raise KeptByRoom(message)


def check_said(draft: "Draft", item: "Item", known: Memory | None) -> None:
    """Refuse an item whose turn may not be written; ``known`` is the memory that it revises.

    Raises:
        KeptByRoom, RetractedSource, Conflict: see TurnDraft.check.
    """
    turns, said = draft.turns, item.said
    if said is None:
        return
    if _said_before(draft, item, known):
        check_conversation_keeper(turns.conversations.get(item.conversation), turns.room)
    elif turn_key(item.space, said.uid) not in turns.created:
        turns.check(item.conversation, said)


def keep_said(draft: "Draft", item: "Item", known: Memory | None, memory: Memory) -> Memory:
    """A memory with the turn of what an item said: that of ``known``, reworded, or a new one."""
    if item.said is None:
        return memory
    said_by = item.request.source.name
    turn = _said_before(draft, item, known)
    if known and turn:
        draft.turns.reword(turn, item.said.content)
        draft.turns.move(turn, said_by, start=known, end=memory)
    else:
        conversation_id = item.request.source.conversation_id or ""
        turn = draft.turns.say(item.space, conversation_id, item.said)
        draft.turns.link(memory, turn, said_by)
    memory = draft.memories[memory.key]
    newest = tuple(dict.fromkeys((*memory.turns, turn.uid)))[-TURNS_SHOWN:]
    memory = draft.memories[memory.key] = replace(memory, turns=newest)
    return memory


def _said_before(draft: "Draft", item: "Item", known: Memory | None) -> Turn | None:
    """The turn in which the source of an item said the memory that it revises."""
    if known is None:
        return None
    return draft.turns.said_before(known.key, item.conversation, item.request.source.name)
