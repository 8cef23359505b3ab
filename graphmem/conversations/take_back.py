"""Take back: turns are retracted, and with them what is remembered of them alone.

A memory that another turn or source carries loses only what is taken back. Long turns have many
memories: a step takes some of them, and retracts the turns of which nothing is left.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from graphmem.errors import NotFound
from graphmem.gateway.claims import source_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.reactions import read_resting
from graphmem.gateway.rollups import WITHOUT_VECTORS
from graphmem.gateway.sources import drop_source_named
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
from graphmem.store.turns import (
    Former,
    Resting,
    find_turn,
    former_versions,
    newest_turn,
    resting_on,
    turn_heads,
)
from graphmem.store.writes import read_state
from graphmem.text.normalise import content_hash

MEMORIES_AT_ONCE = 30  # whose index entries a step changes
_KEYED = "key|"  # before the key of a source, in its name
# what a memory says, without what the service counts and when it holds
_SAID = (
    *("content", "summary", "type", "actor", "importance", "confidence", "authority"),
    *("entities", "tags", "metadata", "native"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenBack:
    """What a step took back: turns, newest first, and the uids of memories of them.

    ``retracted`` went with them, ``kept`` are carried by others. ``has_more`` says that there is
    more to be taken back of the turns ``asked`` for.
    """

    turns: tuple[Turn, ...] = ()
    retracted: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    has_more: bool = False
    asked: tuple[Turn, ...] = ()


class _Records(NamedTuple):
    turns: tuple[Turn, ...]  # that go in this step
    resting: tuple[Resting, ...]  # of the memories of this step
    former: Mapping[str, Former]  # what these were before
    asked: tuple[Turn, ...]  # all that this step looked at
    has_more: bool


@dataclass(frozen=True, kw_only=True)
class _TakeBack(MemoryOperation[TakenBack]):
    """Take back turns of a conversation, which has to be there."""

    kind = TraceKind.TURN
    frees_message: ClassVar[bool] = False

    space: Space
    conversation_id: str
    policy: Policy
    also: Sequence[Space] = ()  # in which memories rest on its turns

    @property
    def key(self) -> str:
        """The key of the conversation."""
        return conversation_key(self.space, self.conversation_id)

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the conversation, and those of what rests on it elsewhere."""
        return (self.space, *self.also)

    @abstractmethod
    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The turns that are taken back, newest first."""

    def _turn(self, transaction: Workbench, uid: str) -> tuple[Turn, ...]:
        found = find_turn(transaction, self.key, turn_key(self.space, uid))
        return (found,) if found else ()

    def has_more_turns(self, turns: Sequence[Turn]) -> bool:  # noqa: ARG002
        """Whether there may be turns behind these."""
        return False

    def check_found(self, conversation: Conversation, *, is_found: bool) -> None:
        """Refuse what cannot be taken back."""

    def closed(self, conversation: Conversation) -> Conversation:
        """What the conversation is afterwards."""
        return conversation

    def selection(self) -> Selection:
        """The conversation; its turns tell which memories are read."""
        return Selection(conversations=frozenset({self.key}))

    def read(self, transaction: Workbench) -> GraphState:
        """Lock the conversation and the memories of its turns; those found meanwhile as well."""
        resting = resting_on(transaction, self.turns(transaction), limit=MEMORIES_AT_ONCE)
        while True:
            memories = frozenset(each.memory for each in resting)
            selection = replace(self.selection(), memories=memories)
            state = read_state(transaction, selection, now=transaction.now)
            turns = self.turns(transaction)
            resting = resting_on(transaction, turns, limit=MEMORIES_AT_ONCE)
            if {each.memory for each in resting} <= memories:
                break
        records = self._records(transaction, turns, resting)
        rooms = read_resting(
            transaction,
            transaction.reactions,
            memories=sorted(state.memories),
            turns=[turn.key for turn in records.turns],
        )
        return replace(state, records=records, resting=rooms)

    def _records(
        self, transaction: Workbench, turns: tuple[Turn, ...], resting: tuple[Resting, ...]
    ) -> _Records:
        """What this step takes: turns of which no memory is left behind it."""
        memories = {each.memory for each in resting}
        is_all = len(memories) < MEMORIES_AT_ONCE
        uids = {key.rpartition("|")[2] for key in memories}
        gone = turns if is_all else tuple(each for each in turns if set(each.memories) <= uids)
        return _Records(
            turns=gone,
            resting=resting,
            former=former_versions(transaction, memories),
            asked=turns,
            has_more=len(gone) < len(turns) or self.has_more_turns(turns),
        )

    def decide(self, state: GraphState, now: datetime) -> Decided[TakenBack]:
        """Take the turns back.

        Raises:
            NotFound: there is no such conversation or turn.
            KeptByRoom: a room keeps the conversation, and this is not everybody's right.
        """
        records: _Records = state.records
        conversation = state.conversations.get(self.key)
        if conversation is None or conversation.created_at is None:
            raise NotFound
        self.check_found(conversation, is_found=bool(records.turns or records.resting))
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        for turn in records.turns:
            draft.turns.take_back(turn, frees_message=self.frees_message)
        if not records.has_more:
            draft.turns.put(self.closed(draft.turns.conversations[self.key]))
        by_memory: Mapping[str, list[Resting]] = defaultdict(list)
        for each in records.resting:
            by_memory[each.memory].append(each)
        stays = {
            draft.memories[key].uid: self._leave(
                draft, draft.memories[key], rows, records.former.get(key, Former())
            )
            for key, rows in sorted(by_memory.items())
        }
        answer = TakenBack(
            turns=records.turns,
            retracted=frozenset(uid for uid, is_kept in stays.items() if is_kept is False),
            kept=frozenset(uid for uid, is_kept in stays.items() if is_kept),
            has_more=records.has_more,
            asked=records.asked,
        )
        return Decided(answer=answer, events=self._events(answer), memories=draft.decision())

    def _leave(
        self, draft: Draft, memory: Memory, rows: Sequence[Resting], former: Former
    ) -> bool | None:
        """Let a memory be of these turns no longer; whether others carry it, None if it is away.

        Where these turns alone gave it its words, it is again what it was before.
        """
        gone = {row.said_by for row in rows if not row.again}
        for row in rows:
            draft.turns.unlinked.add(
                FromTurn(memory=row.memory, turn=row.turn, said_by=row.said_by)
            )
        if self.frees_message:
            draft.forgotten_claims |= {(claim, memory.key) for claim in _claims(memory, gone)}
        if memory.status is Status.RETRACTED:
            return None
        if not (memory.sources_total > len(gone) or any(row.others for row in rows)):
            draft.set_status(memory, Status.RETRACTED, Reason.TURN_TAKEN_BACK)
            return False
        taken = {row.words for row in rows if row.words and not row.in_words}
        draft.turns.taken_words[memory.key] = tuple(sorted(taken))
        earlier = _before_these_words(memory, rows, former, gone, taken)
        if memory.sources_total > len(gone):
            for name in sorted(gone):
                memory = drop_source_named(draft, draft.memories[memory.key], name)
        changed = replace(
            memory,
            mention_count=max(1, memory.mention_count - len(rows)),
            updated_at=draft.now,
            version=memory.version + 1,
        )
        if earlier:
            self._say_again(draft, changed, earlier)
        else:
            draft.put(changed)
        return True

    def _say_again(self, draft: Draft, memory: Memory, earlier: Memory) -> None:
        """Let a memory be what it was before; its vectors are made later."""
        again: dict[str, Any] = {name: getattr(earlier, name) for name in _SAID}
        changed = replace(memory, **again, embedded=False)
        draft.put(changed)
        draft.release(memory)
        if memory.status is Status.ACTIVE:
            draft.take_claims(changed, also_from=memory)
        draft.vectors_of[memory.key] = WITHOUT_VECTORS
        draft.mark_neighbours(changed)

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


def _claims(memory: Memory, names: set[str]) -> set[str]:
    """The claims of those of some sources, by their names, that have a key."""
    keys = {name.removeprefix(_KEYED) for name in names if name.startswith(_KEYED)}
    return {source_claim(memory.space, key, memory.kept_by) for key in keys}


def _before_these_words(
    memory: Memory, rows: Sequence[Resting], former: Former, gone: set[str], taken: set[str]
) -> Memory | None:
    """What a memory was before these turns gave it its words; None where others said them too."""
    present = content_hash(memory.content)
    began = next(
        (until for each, until in former.versions if content_hash(each.content) != present), None
    )
    if began is None or present not in taken:
        return None
    brought = any(row.words == present and row.said_at <= began for row in rows)
    others = (each for each in memory.sources if each.name not in gone)
    if not brought or any(each.at and each.at >= began for each in others):
        return None
    outdated = {present, *taken, *former.taken_words}
    versions = (each for each, _ in former.versions)
    return next((each for each in versions if content_hash(each.content) not in outdated), None)


@dataclass(frozen=True, kw_only=True)
class PopTurn(_TakeBack):
    """Take the newest turn of a conversation back; its message may be said again."""

    frees_message = True

    kept_by: str | None = None  # the room that does it
    uid: str | None = None  # of the turn, once it was picked

    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The newest one, or the one that was picked."""
        if self.uid:
            return self._turn(transaction, self.uid)
        newest = newest_turn(transaction, self.key)
        return (newest,) if newest else ()

    def check_found(self, conversation: Conversation, *, is_found: bool) -> None:
        """Refuse where there is none, or a room keeps the conversation.

        Raises:
            NotFound, KeptByRoom: so it is.
        """
        check_conversation_keeper(conversation, self.kept_by)
        if not is_found:
            raise NotFound


@dataclass(frozen=True, kw_only=True)
class DeleteTurn(_TakeBack):
    """Delete one turn of a conversation."""

    uid: str

    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The turn of that uid, or none."""
        return self._turn(transaction, self.uid)

    def check_found(self, conversation: Conversation, *, is_found: bool) -> None:  # noqa: ARG002
        """Refuse where it is not there.

        Raises:
            NotFound: so it is.
        """
        if not is_found:
            raise NotFound


@dataclass(frozen=True, kw_only=True)
class DeleteTurns(_TakeBack):
    """Delete some of the turns of a conversation up to a number, and it with the last of them."""

    upto: int
    most: int

    def turns(self, transaction: Workbench) -> tuple[Turn, ...]:
        """The newest of them."""
        return turn_heads(transaction, self.key, upto=self.upto, limit=self.most)

    def has_more_turns(self, turns: Sequence[Turn]) -> bool:
        """Whether there may be turns behind these."""
        return len(turns) == self.most

    def closed(self, conversation: Conversation) -> Conversation:
        """Nothing is left of a conversation without turns but the order of later ones."""
        if conversation.turns:
            return conversation
        return replace(conversation, created_at=None, title=None, user=None, kept_by=None)
