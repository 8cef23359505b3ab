"""The keeper of conversations: what is said is appended, read, taken back and deleted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.conversations.append import AppendTurns, Said
from graphmem.conversations.edit import EditConversation
from graphmem.conversations.sayings import (
    CALL_MAX_CHARS,
    id_problem,
    normalised,
    remembered,
    saying_problems,
    texts_of,
)
from graphmem.conversations.take_back import DeleteTurn, DeleteTurns, PopTurn, TakenBack
from graphmem.errors import GraphmemError, InvalidInput, NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Executed, Operation
from graphmem.gateway.preparation import Preparation
from graphmem.model.caller import Caller
from graphmem.model.conversation import Conversation, Saying, Turn, conversation_key, turn_key
from graphmem.model.policy import Policy
from graphmem.model.space import Space, parse_writable_space
from graphmem.model.state import GraphState
from graphmem.ports import IdSource
from graphmem.store.turns import Conversations, SomeTurns

_DELETED_AT_ONCE = 200
_EMBEDDED_AT_ONCE = 100  # memories; of more a job makes the vectors later


@dataclass(frozen=True, kw_only=True, slots=True)
class Deleted:
    """How many turns were deleted, and memories that went with them or stay; the last trace."""

    turns: int
    retracted: int
    kept: int
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class ConversationKeeper:
    """Keeps what is said, for callers."""

    gateway: Gateway
    preparation: Preparation
    policy: Policy
    ids: IdSource
    conversations: Conversations

    def append(
        self,
        space: Space,
        conversation_id: str,
        sayings: Sequence[Saying],
        *,
        caller: Caller,
        remember: bool = False,
    ) -> Executed[tuple[Said, ...]]:
        """Keep what was said, in order, all or none; with ``remember`` each is a memory too.

        Raises:
            InvalidInput: something is wrong with it, by ``turns.<number>.<field>``.
            PolicyRefused: it may not be stored.
            KeptByRoom, RetractedSource, Conflict: see AppendTurns.
        """
        operation = self.to_append(
            space, conversation_id, sayings, caller=caller, remember=remember
        )
        return self.gateway.execute(operation, caller)

    def to_append(
        self,
        space: Space,
        conversation_id: str,
        sayings: Sequence[Saying],
        *,
        caller: Caller,
        remember: bool,
    ) -> AppendTurns:
        """The operation that keeps turns, checked and embedded.

        Raises:
            InvalidInput, PolicyRefused: see append.
        """
        _check(space, conversation_id, sayings)
        said = [self._named(normalised(each)) for each in sayings]
        requests = [
            (number, request)
            for number, each in enumerate(said)
            if remember
            for request in remembered(space, conversation_id, each, self.ids.new("memory"))
        ]
        prepared = self.preparation.check([request for _, request in requests], caller)
        for refused in prepared.refused:
            if refused.error:
                raise _of_turn(refused.error, requests[refused.index][0])
        is_much = len(requests) > _EMBEDDED_AT_ONCE
        ready = prepared.without_vectors() if is_much else self.preparation.embed(prepared)
        return AppendTurns(
            space=space,
            conversation_id=conversation_id,
            sayings=said,
            policy=self.policy,
            items=ready.items,
            vectors=ready.vectors,
            screened=texts_of(conversation_id, said),
        )

    def _named(self, saying: Saying) -> Saying:
        return saying if saying.uid else replace(saying, uid=self.ids.new("turn"))

    def edit(
        self,
        space: Space,
        conversation_id: str,
        changes: Mapping[str, str | None],
        *,
        caller: Caller,
    ) -> Executed[Conversation]:
        """Change the title or user of a conversation.

        Raises:
            NotFound, KeptByRoom: see EditConversation.
        """
        operation = EditConversation(space=space, conversation_id=conversation_id, changes=changes)
        return self.gateway.execute(operation, caller)

    def find(self, space: Space, conversation_id: str) -> Conversation:
        """A conversation.

        Raises:
            NotFound: there is none of that id.
        """
        found = self.conversations.find(conversation_key(space, conversation_id))
        if found is None:
            raise NotFound
        return found

    def find_turn(self, space: Space, conversation_id: str, uid: str) -> Turn:
        """A turn of a conversation.

        Raises:
            NotFound: there is none of that uid.
        """
        key = conversation_key(space, conversation_id)
        found = self.conversations.find_turn(key, turn_key(space, uid))
        if found is None:
            raise NotFound
        return found

    def turns(
        self,
        space: Space,
        conversation_id: str,
        *,
        before: str | None = None,
        after: str | None = None,
        limit: int,
    ) -> tuple[SomeTurns, int]:
        """The newest turns of a conversation, or those before or behind one; how many it has.

        Raises:
            NotFound: there is no such conversation.
            InvalidInput: it has no turn of that uid.
        """
        total = self.find(space, conversation_id).turns
        key = conversation_key(space, conversation_id)
        read = self.conversations
        if after is not None:
            number = self._number_of(space, key, "after", after)
            return read.turns_after(key, number, limit=limit), total
        end = None if before is None else self._number_of(space, key, "before", before)
        return read.turns_before(key, end, limit=limit), total

    def _number_of(self, space: Space, key: str, field: str, uid: str) -> int:
        number = self.conversations.number_of(key, turn_key(space, uid))
        if number is None:
            raise InvalidInput({field: ["Must be the uid of a turn of this conversation."]})
        return number

    def pop(self, space: Space, conversation_id: str, *, caller: Caller) -> tuple[Turn, str]:
        """Take the newest turn back, whose message may be said again; that turn, and the trace.

        Raises:
            NotFound, KeptByRoom: see PopTurn.
        """
        operation = PopTurn(space=space, conversation_id=conversation_id, policy=self.policy)
        done = self.gateway.execute(operation, caller)
        (turn,) = done.answer.asked
        if done.answer.has_more:
            *_, done = self._steps(replace(operation, uid=turn.uid), caller)
        return turn, done.trace_id

    def delete_turn(
        self, space: Space, conversation_id: str, uid: str, *, caller: Caller
    ) -> Deleted:
        """Delete a turn; one with many memories goes in steps, as in delete.

        Raises:
            NotFound: there is no such conversation, or see DeleteTurn.
            Forbidden: what rests on it may not be written.
        """
        operation = DeleteTurn(
            space=space,
            conversation_id=conversation_id,
            policy=self.policy,
            uid=uid,
            also=_also(self.find(space, conversation_id)),
        )
        return _deleted(list(self._steps(operation, caller)))

    def delete(self, space: Space, conversation_id: str, *, caller: Caller) -> Deleted:
        """Delete a conversation with the turns that it has now, some at a time.

        Each step is whole; where one fails, the same call goes on.

        Raises:
            NotFound: there is none.
        """
        conversation = self.find(space, conversation_id)
        operation = DeleteTurns(
            space=space,
            conversation_id=conversation_id,
            policy=self.policy,
            also=_also(conversation),
            upto=conversation.numbered,
            most=_DELETED_AT_ONCE,
        )
        return _deleted(list(self._steps(operation, caller)))

    def _steps(
        self, operation: Operation[GraphState, TakenBack], caller: Caller
    ) -> Iterator[Executed[TakenBack]]:
        """Run an operation until it has taken everything back."""
        has_more = True
        while has_more:
            done = self.gateway.execute(operation, caller)
            yield done
            has_more = done.answer.has_more


def _also(conversation: Conversation) -> tuple[Space, ...]:
    """Where else memories of a conversation may lie: a room's personas share a user."""
    space = conversation.space
    return (space.without_persona,) if conversation.kept_by and space.persona else ()


def _deleted(steps: Sequence[Executed[TakenBack]]) -> Deleted:
    answers = [step.answer for step in steps]
    retracted = frozenset().union(*(each.retracted for each in answers))
    kept = frozenset().union(*(each.kept for each in answers)) - retracted
    return Deleted(
        turns=sum(len(each.turns) for each in answers),
        retracted=len(retracted),
        kept=len(kept),
        trace_id=steps[-1].trace_id,
    )


def _of_turn(error: GraphmemError, number: int) -> GraphmemError:
    """The error of a memory of a turn, with the path of that."""
    if not isinstance(error, InvalidInput):
        return error
    return InvalidInput({f"turns.{number}.{path}": texts for path, texts in error.fields.items()})


def _check(space: Space, conversation_id: str, sayings: Sequence[Saying]) -> None:
    """Refuse what may not be said.

    Raises:
        InvalidInput: all that is wrong, at once.
    """
    wrong: dict[str, list[str]] = {}
    try:
        parse_writable_space(space.name, tenant=space.tenant)
    except ValueError as error:
        wrong["space"] = [str(error)]
    if problem := id_problem(conversation_id):
        wrong["id"] = [problem]
    names = ("content", "actor", "message_id", "metadata")
    for number, saying in enumerate(sayings):
        fields = {name: getattr(saying, name) for name in names}
        found = saying_problems(fields)
        wrong |= {f"turns.{number}.{name}": texts for name, texts in found.items()}
    chars = sum(len(each.content) for each in sayings)
    if chars > CALL_MAX_CHARS:
        wrong["turns"] = [f"At most {CALL_MAX_CHARS:,} characters together, are {chars:,}."]
    if wrong:
        raise InvalidInput(wrong)
