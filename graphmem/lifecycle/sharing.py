"""Sharing: a memory is copied to the shared space of its tenant, once (003)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, Forbidden, NotFound, RetractedSource, ScopeDenied
from graphmem.gateway.conversation import conversation_key
from graphmem.gateway.decide import decide_item
from graphmem.gateway.draft import Draft
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.item import Item, selection_for
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided, Executed
from graphmem.gateway.preparation import Preparation
from graphmem.gateway.revising import check_version, was_doubtful
from graphmem.model.caller import Caller, Role
from graphmem.model.edge import LineageType
from graphmem.model.event import Effect, Event
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import Policy, SpeculativePolicy
from graphmem.model.source import Source, SourceType
from graphmem.model.space import SHARED_NAME, Space, SpaceKind, shared_space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.model.writing import WriteRequest, WriteResult
from graphmem.ports import Clock
from graphmem.store.spaces import SpacePolicies

_SAID = (
    "content type summary actor importance confidence entities authority tags"
    " occurred_at valid_from valid_until"
).split()
_OF_ITS_SPACE = frozenset({"thread", "parent", "part"})  # native values that name what lies there
_DIGITS = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """The copy of a memory in the shared space, and whether it was not there before."""

    copy: Memory
    is_new: bool


@dataclass(frozen=True, kw_only=True)
class ShareMemory(MemoryOperation[Shared]):
    """Copy a memory to the shared space; ``item`` is what was made of it there."""

    kind = TraceKind.SHARE

    memory: Memory
    item: Item
    policy: Policy

    @property
    def spaces(self) -> Sequence[Space]:
        """The shared space; that its caller may see the memory was asked before."""
        return (self.item.space,)

    def selection(self) -> Selection:
        """What the copy needs, and the memory itself."""
        selected = selection_for([self.item])
        return replace(selected, memories=selected.memories | {self.memory.key})

    def decide(self, state: GraphState, now: datetime) -> Decided[Shared]:
        """Copy the memory, unless it was shared before.

        Raises:
            NotFound, Conflict, KeptByRoom, RetractedSource: see check_shareable and shared_before.
            GraphmemError: the shared space refuses what it says.
        """
        memory = state.memories.get(self.memory.key)
        if memory is None:
            raise NotFound
        check_version(memory, self.memory.version)
        check_shareable(memory, now)
        if copy := shared_before(state, memory):
            unchanged = _event(copy, Effect.UNCHANGED)
            return Decided(answer=Shared(copy=copy, is_new=False), events=(unchanged,))
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        result = decide_item(draft, self.item, self.policy)
        draft.draw(_stored(result), LineageType.PROMOTED_FROM, memory)
        decision = draft.decision([result])
        copy = _stored(decision.results[0])
        events = (
            _event(memory, Effect.SHARED, into=copy.uid),
            _event(copy, Effect(result.outcome.value)),
        )
        answer = Shared(copy=copy, is_new=True)
        return Decided(answer=answer, events=(*events, *decision.events), memories=decision)


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Shares memories for callers."""

    gateway: Gateway
    preparation: Preparation
    policies: SpacePolicies
    policy: Policy
    clock: Clock

    def share(self, memory: Memory, *, caller: Caller) -> Executed[Shared]:
        """Copy a memory, which the caller may see, to the shared space of its tenant.

        Raises:
            Forbidden: the caller may not write there, or the memory never leaves its space.
            Conflict: it is not active, or lies there already; KeptByRoom: a room keeps it.
            RetractedSource: the copy was taken back there.
        """
        if not caller.may(Role.WRITER, shared_space(memory.space.tenant)):
            raise Forbidden
        check_shareable(memory, self.clock.now())
        doubt = self.policies.of(memory.space).upkeep.speculative
        prepared = self.preparation.ready([copy_of(memory, doubt)], caller)
        (item,) = prepared.items
        operation = ShareMemory(
            memory=memory, item=item, policy=self.policy, vectors=prepared.vectors
        )
        return self.gateway.execute(operation, caller)


def check_shareable(memory: Memory, now: datetime) -> None:
    """Refuse to share what may not be.

    Raises:
        KeptByRoom: a room keeps it.
        ScopeDenied: it lies in a space that never widens.
        Conflict: it is not active, or lies in the shared space.
    """
    check_keeper(memory, None)
    if memory.space.kind is SpaceKind.ORCHESTRATOR:
        message = "What lies in an orchestrator space is not shared: that space never widens."
        raise ScopeDenied(message)
    if memory.space == shared_space(memory.space.tenant):
        message = f"The memory lies in {SHARED_NAME} already."
        raise Conflict(message)
    if not memory.is_current(now):
        state = "expired" if memory.status is Status.ACTIVE else memory.status.value
        message = f"The memory is {state}: only what is active is shared."
        raise Conflict(message)


def shared_before(state: GraphState, memory: Memory) -> Memory | None:
    """The copy of a memory, if it was shared before.

    Raises:
        RetractedSource: it was, and the copy was taken back.
    """
    keys = sorted(key for key, each in state.copies.items() if memory.key in each.origins)
    copies = [state.memories[key] for key in keys]
    if copies and all(each.status is Status.RETRACTED for each in copies):
        message = f"The copy {copies[0].uid} of this memory was taken back: restore that."
        raise RetractedSource(message)
    return next((each for each in copies if each.status is not Status.RETRACTED), None)


def copy_of(memory: Memory, doubt: SpeculativePolicy) -> WriteRequest:
    """What is written to the shared space of a memory.

    An expiry that only ``doubt`` gave is given there anew.
    """
    said = {name: getattr(memory, name) for name in _SAID}
    return WriteRequest(
        space=SHARED_NAME,
        source=source_of(memory),
        native=_native_of(memory),
        expires_at=None if was_doubtful(memory, doubt) else memory.expires_at,
        given=frozenset({*_SAID, "source", "native", "expires_at"}),
        **said,
    )


def source_of(memory: Memory) -> Source:
    """Where a copy came from, in the fields of the memory's first source.

    A path, and a conversation in which the memory is a turn, belong to its space alone. The key is
    that of the memory, and tells nobody which one it is.
    """
    first = memory.source
    is_turn = conversation_key(memory) is not None
    conversation_id = None if is_turn else first.conversation_id
    needs = {SourceType.CHANNEL_TRANSCRIPT: conversation_id, SourceType.INGEST_FILE: None}
    digest = hashlib.sha256(memory.key.encode()).hexdigest()[:_DIGITS]
    return Source(
        type=first.type if needs.get(first.type, "nothing") else SourceType.MANUAL,
        conversation_id=conversation_id,
        workflow_run_id=first.workflow_run_id,
        step_id=first.step_id,
        captured_by=first.captured_by,
        key=f"shared|{digest}",
    )


def _native_of(memory: Memory) -> Mapping[str, object] | None:
    if memory.native is None:
        return None
    return {name: value for name, value in memory.native.items() if name not in _OF_ITS_SPACE}


def _stored(result: WriteResult) -> Memory:
    if result.error:
        raise result.error
    assert result.memory is not None  # noqa: S101 - it was not refused
    return result.memory


def _event(memory: Memory, effect: Effect, **detail: object) -> Event:
    return Event(space=memory.space.key, subject=memory.uid, effect=effect, detail=detail)
