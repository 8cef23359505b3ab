"""Governed call: one request, in one transaction, over what that transaction read (004)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from graphmem.errors import SessionOfAnother
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.governance.call import call
from graphmem.governance.contract import Contract
from graphmem.governance.governed_operation import GovernedOperation
from graphmem.governance.memories import decide_memories, logical_key
from graphmem.governance.phases import phase_index
from graphmem.governance.reading import ItemReading
from graphmem.governance.request import CallAnswer, CallRequest
from graphmem.governance.stored_events import is_hidden
from graphmem.governance.world import CallState
from graphmem.governance.written import Written
from graphmem.model.caller import Role
from graphmem.model.governance import ROOM, LedgerEntry, Place
from graphmem.model.memory import Memory
from graphmem.model.space import Space, SpaceKind
from graphmem.model.state import GraphState, Selection
from graphmem.model.writing import IdempotencyKey
from graphmem.store.governance import GovernedItems, Locked
from graphmem.store.idempotency import lock_answer, save_answer

NEW_ITEMS_MOST = 16  # of one call
_OWN = (SpaceKind.SESSION, SpaceKind.USER)  # places that begin with a call


@dataclass(frozen=True, kw_only=True, slots=True)
class Governed:
    """What a call gave; ``trace_id`` is that of an equal call before, which it repeats."""

    answer: CallAnswer
    trace_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """What a call read: its state, the version of its contract, or the answer to its retry key."""

    state: CallState | None = None
    version: int = 0
    replayed: str | None = None


@dataclass(frozen=True, kw_only=True)
class GovernedCall(GovernedOperation[Governed]):
    """Recall, record, or both, as the contract of the profile lets it."""

    request: CallRequest
    retry: IdempotencyKey | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The session: without a right to write there nothing is read."""
        return (self.request.owners.session,)

    @cached_property
    def allowed(self) -> frozenset[SpaceKind]:
        """The spaces in which the key may read and write."""
        spaces = self.request.owners.by_kind.items()
        return frozenset(kind for kind, each in spaces if self.caller.may(Role.WRITER, each))

    def selection(self) -> Selection:
        """What the call may claim."""
        return self._selection

    @cached_property
    def _selection(self) -> Selection:
        if not self.request.records:
            return Selection()
        keys = [
            (space, logical_key(kind, key))
            for space, kind, key in self.request.keys_in(self.allowed)
        ]
        return Selection(
            claims=frozenset(logical_claim(space, key, ROOM) for space, key in keys if key)
        )

    def read(self, transaction: Workbench) -> GraphState:
        """The contract, the places under their locks, and the items that the call may touch.

        Raises:
            NotFound: the profile has no contract.
            SessionOfAnother: the session belongs to another person.
        """
        if self.retry and (replayed := lock_answer(transaction, self.retry)):
            return GraphState(records=_Read(replayed=replayed))
        locked, version, contract = self._locked(transaction)
        places = self._whole(locked.places)
        state, memories = self._read(transaction, contract, places)
        read = _Read(state=state, version=version)
        return self.state(transaction, locked.claims, memories, read)

    def _locked(self, transaction: Workbench) -> tuple[Locked, int, Contract]:
        """Its claims and places under their locks, and the contract with its version."""
        owners, hint = self.request.owners, self.request.hint
        target = hint.target if hint and self.request.records else None
        allowed = {kind: each for kind, each in owners.by_kind.items() if kind in self.allowed}
        makes = [space for kind, space in allowed.items() if kind in (*_OWN, target)]
        locked, version, contract = self.lock(
            transaction, self.request.profile, allowed.values(), makes=makes
        )
        if locked.places[SpaceKind.SESSION].person not in {None, owners.user.owner}:
            raise SessionOfAnother
        return locked, version, contract

    def _whole(self, places: Mapping[SpaceKind, Place]) -> Mapping[SpaceKind, Place]:
        """The places of all four spaces; one that is closed to the key is empty."""
        spaces = self.request.owners.by_kind.items()
        return {kind: places.get(kind) or Place(space=space) for kind, space in spaces}

    def _read(
        self, transaction: Workbench, contract: Contract, places: Mapping[SpaceKind, Place]
    ) -> tuple[CallState, Mapping[str, Memory]]:
        """What the call reads, and the memories that it may change, under their locks."""
        reading = ItemReading(
            items=GovernedItems(transaction),
            contract=contract,
            places=places,
            allowed=self.allowed,
            request=self.request,
        )
        memories, items = reading.all()
        state = CallState(
            contract=contract,
            places=places,
            allowed=self.allowed,
            items=items,
            ledger=self._ledger(reading),
            uids=self.uids,
            cap=contract.authority_caps.get(self.caller.role),
            screen=self.screen,
        )
        return state, memories

    def _ledger(self, reading: ItemReading) -> Sequence[LedgerEntry]:
        asked = self.request.diff
        if asked is None or not self.request.records or asked.space not in self.allowed:
            return ()
        ends = phase_index(asked.before), phase_index(asked.after)
        if None in ends:
            return ()
        before, after = (each or 0 for each in ends)
        return reading.ledger(before, after, asked.space)

    def decide(self, state: GraphState, now: datetime) -> Decided[Governed]:
        """Run the call."""
        read: _Read = state.records
        if read.state is None:
            return Decided(answer=Governed(answer=CallAnswer(), trace_id=read.replayed))
        answer, world = call(read.state, self.request)
        draft = Draft(before=state, now=now, context_words=self.policy.index.context_words)
        decide_memories(draft, world)
        return Decided(
            answer=Governed(answer=answer),
            memories=draft.decision(),
            records=Written(
                world=world,
                events=answer.events,
                items=[*(each.item for each in answer.recalled), *answer.written],
                version=read.version,
                now=now,
                person=self.request.owners.user.owner,
            ),
        )

    def apply(self, transaction: Workbench, decided: Decided[Governed]) -> None:
        """Write it; the answer to a retry key was written before."""
        if decided.records is not None:
            super().apply(transaction, decided)

    def apply_records(self, transaction: Workbench, decided: Decided[Governed]) -> None:
        """Write the places, the phases, what items are found by, and the trace."""
        written: Written = decided.records
        spaces = [
            space
            for kind, space in self.request.owners.by_kind.items()
            if kind is SpaceKind.SESSION or kind in self.allowed
        ]
        hides = is_hidden(written.world.contract, self.request.input, self.screen)
        self.save(transaction, written, spaces, hides_query=hides)
        if self.retry:
            save_answer(transaction, self.retry, self.trace_id)
