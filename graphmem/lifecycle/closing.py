"""Closing: a buffer becomes due without a new turn, and an extraction is claimed to be read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle import buffer as rules
from graphmem.lifecycle.arrival import due_event
from graphmem.lifecycle.buffer import Because
from graphmem.model.extraction import Buffer, Extraction
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.buffers import Taken, lock_buffer, save_buffer
from graphmem.store.extractions import claim_extraction, lock_extraction


@dataclass(frozen=True, kw_only=True)
class CloseBuffer(Operation[Buffer, Extraction | None]):
    """Make the turns of a buffer due: because somebody flushes it, or no turn came for long.

    What a guard would hold back goes through the rules. The answer is None where nothing is due.
    """

    kind = TraceKind.EXTRACTION

    space: Space
    session: str
    uid: str
    reason: Because
    config: LifecycleConfig
    claim: str
    claimed_for: timedelta

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the session."""
        return (self.space,)

    def read(self, transaction: Workbench) -> Buffer:
        """The buffer of the session."""
        return lock_buffer(transaction, self.space, self.session)

    def decide(self, state: Buffer, now: datetime) -> Decided[Extraction | None]:
        """Make it due, if there is anything in it and, without a flush, for long enough."""
        is_due = self.reason is Because.FLUSH or rules.is_idle(state, self.config, now)
        if not state.turns or not is_due:
            return Decided(answer=None)
        extraction = Extraction(
            uid=self.uid,
            space=self.space,
            session=self.session,
            reason=self.reason.value,
            is_guarded=rules.guard_of(state, now) is not None,
            decided_at=now,
            claim=self.claim,
            claimed_until=now + self.claimed_for,
        )
        return Decided(
            answer=extraction,
            events=(due_event(extraction),),
            records=(rules.emptied(state, now), Taken(extraction=extraction, buffer=state)),
        )

    def apply(self, transaction: Workbench, decided: Decided[Extraction | None]) -> None:
        """Write the extraction that takes the turns."""
        if decided.records:
            buffer, taken = decided.records
            save_buffer(transaction, buffer, [taken], [])


@dataclass(frozen=True, kw_only=True)
class ClaimExtraction(Operation[Extraction | None, Extraction | None]):
    """Take an extraction to read it, if it waits and nobody else does; None: not to be had."""

    kind = TraceKind.EXTRACTION

    extraction: Extraction
    claim: str
    claimed_for: timedelta

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the extraction."""
        return (self.extraction.space,)

    def read(self, transaction: Workbench) -> Extraction | None:
        """The extraction as it is."""
        return lock_extraction(transaction, self.extraction.key)

    def decide(self, state: Extraction | None, now: datetime) -> Decided[Extraction | None]:
        """Claim it, unless it was read or the claim of another worker holds."""
        if state is None or state.is_done:
            return Decided(answer=None)
        if state.claimed_until and state.claimed_until > now and state.claim != self.claim:
            return Decided(answer=None)
        claimed = replace(state, claim=self.claim, claimed_until=now + self.claimed_for)
        return Decided(answer=claimed)

    def apply(self, transaction: Workbench, decided: Decided[Extraction | None]) -> None:
        """Note the claim."""
        if decided.answer:
            claim_extraction(transaction, decided.answer)
