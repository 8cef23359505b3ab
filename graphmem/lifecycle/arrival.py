"""Arrival: turns join their conversation and wait in the buffer of their session, or are due.

Where a batch ends is decided and stored as the turns arrive, in their one transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.conversations.append import AppendTurns, Said
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle import buffer as rules
from graphmem.lifecycle.buffer import Because, Choice
from graphmem.lifecycle.signals import Signal
from graphmem.model.conversation import Turn
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.extraction import Buffer, Extraction
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind
from graphmem.store.buffers import Taken, lock_buffer, save_buffer


@dataclass(frozen=True, kw_only=True, slots=True)
class ArrivedTurn:
    """A turn as it was kept, its signal, and what that made of the buffer."""

    turn: Turn
    is_new: bool
    signal: Signal
    decision: rules.Chosen
    waiting: int  # turns in the buffer afterwards
    extraction: str | None = None  # uid of the one that it made due


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrived:
    """What became of the turns of a call; ``due`` are the extractions that they made due."""

    turns: tuple[ArrivedTurn, ...]
    due: tuple[Extraction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """What is written of the room's records."""

    buffer: Buffer
    taken: tuple[Taken, ...] = ()
    waiting: tuple[str, ...] = ()  # keys of new turns


@dataclass(frozen=True, kw_only=True)
class BufferTurns(MemoryOperation[Arrived]):
    """Keep turns of a session and let them wait for their extraction, all or none.

    ``signals`` are those of the turns, ``uids`` those of extractions that they may make due, one
    for each. ``claim`` names who reads these at once; empty: a job will.
    """

    kind = TraceKind.TURN

    append: AppendTurns
    config: LifecycleConfig
    signals: Sequence[Signal]
    uids: Sequence[str]
    claim: str = ""
    claimed_for: timedelta = timedelta()

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the session."""
        return self.append.spaces

    @property
    def texts(self) -> Sequence[str]:
        """All that is said, and how it is called."""
        return self.append.texts

    def selection(self) -> Selection:
        """The conversation, and what its memories need."""
        return self.append.selection()

    def read_records(self, transaction: Workbench) -> Buffer | None:
        """The buffer of the session; scheduled work has none."""
        session = self.append.conversation_id
        if rules.is_cron(session):
            return None
        return lock_buffer(transaction, self.append.space, session)

    def decide(self, state: GraphState, now: datetime) -> Decided[Arrived]:
        """Keep each turn, and decide as if they came one by one.

        Raises:
            KeptByRoom, RetractedSource, Conflict, GraphmemError: see AppendTurns.
        """
        kept = self.append.decide(state, now)
        buffer: Buffer | None = state.records
        waiting: list[str] = []
        taken: list[Taken] = []
        turns: list[ArrivedTurn] = []
        for said, signal, uid in zip(kept.answer, self.signals, self.uids, strict=True):
            turn = said.turn
            if buffer is None or not said.is_new:
                turns.append(_left_alone(said, signal, buffer))
                continue
            buffer = rules.arrived(buffer, turn, now)
            waiting.append(turn.key)
            choice = rules.decision(buffer, signal.level, self.config, now)
            if choice.extracts:
                extraction = self._due(uid, buffer, choice, now)
                taken.append(Taken(extraction=extraction, buffer=buffer, turns=tuple(waiting)))
                buffer, waiting = rules.emptied(buffer, now), []
            turns.append(
                ArrivedTurn(
                    turn=turn,
                    is_new=True,
                    signal=signal,
                    decision=choice,
                    waiting=buffer.turns,
                    extraction=uid if choice.extracts else None,
                )
            )
        due = tuple(each.extraction for each in taken)
        is_changed = buffer is not None and any(each.is_new for each in turns)
        change = (
            _Change(buffer=buffer, taken=tuple(taken), waiting=tuple(waiting)) if buffer else None
        )
        return Decided(
            answer=Arrived(turns=tuple(turns), due=due),
            events=(*kept.events, *map(due_event, due)),
            memories=kept.memories,
            records=change if is_changed else None,
        )

    def _due(self, uid: str, buffer: Buffer, choice: rules.Chosen, now: datetime) -> Extraction:
        return Extraction(
            uid=uid,
            space=buffer.space,
            session=buffer.session,
            reason=choice.reason.value,
            is_guarded=choice.is_guarded,
            decided_at=now,
            claim=self.claim,
            claimed_until=now + self.claimed_for if self.claim else None,
        )

    def apply_records(self, transaction: Workbench, decided: Decided[Arrived]) -> None:
        """Write the buffer, and the extractions that are due."""
        change: _Change | None = decided.records
        if change:
            save_buffer(transaction, change.buffer, change.taken, change.waiting)


def _left_alone(said: Said, signal: Signal, buffer: Buffer | None) -> ArrivedTurn:
    """A turn that no buffer takes: one that was there, or one of scheduled work."""
    reason = Because.CRON if buffer is None else Because.UNCHANGED
    return ArrivedTurn(
        turn=said.turn,
        is_new=said.is_new,
        signal=signal,
        decision=rules.Chosen(choice=Choice.KEEP, reason=reason),
        waiting=buffer.turns if buffer else 0,
    )


def due_event(extraction: Extraction) -> Event:
    """That an extraction became due."""
    return Event(
        space=extraction.space.key,
        subject=extraction.uid,
        about=Subject.EXTRACTION,
        effect=Effect.EXTRACTION_DUE,
        detail={"session": extraction.session, "because": extraction.reason},
    )


def with_words(arrived: Arrived, contents: Sequence[str]) -> Arrived:
    """The same with the words of each turn, which those that were there come without."""
    turns = zip(arrived.turns, contents, strict=True)
    return replace(
        arrived,
        turns=tuple(
            replace(each, turn=replace(each.turn, content=content)) for each, content in turns
        ),
    )
