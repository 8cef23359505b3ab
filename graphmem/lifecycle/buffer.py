"""Buffer: when the turns of a session are extracted (003, Buffer). Pure.

One buffer a space and session. It counts by when turns arrive, not by when they were said.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from graphmem.lifecycle.signals import Level
from graphmem.model.conversation import Turn, TurnRole
from graphmem.model.extraction import Buffer
from graphmem.model.policy import LifecycleConfig

TURN_READ_CHARS = 4_000  # of a turn, the first ones; no more is extracted
BATCH_MIN_CHARS = 40
SAME_TURNS = timedelta(minutes=5)
FULL_TURNS = 500  # which no buffer exceeds, whatever the guards say
_CRON = ":cron:"


class Choice(StrEnum):
    """What becomes of a buffer when a turn arrives."""

    EXTRACT_NOW = "extract_now"
    EXTRACT_BATCH = "extract_batch"
    KEEP = "keep"


class Because(StrEnum):
    """Why."""

    HIGH_SIGNAL = "high_signal"
    TURNS = "turns"
    MINUTES = "minutes"
    FULL = "full"
    BUFFERING = "buffering"
    CRON = "cron"
    UNCHANGED = "unchanged"  # the turn was there
    # guards of a batch
    TOO_SHORT = "too_short"
    NO_USER_TURN = "no_user_turn"
    SAME_TURNS = "same_turns"
    # batches that no turn asked for
    FLUSH = "flush"
    IDLE = "idle"


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """What becomes of a buffer, and why; ``is_guarded``: a batch of it goes through the rules."""

    choice: Choice
    reason: Because
    is_guarded: bool = False

    @property
    def extracts(self) -> bool:
        """Whether the buffer is extracted."""
        return self.choice is not Choice.KEEP


def is_cron(session: str) -> bool:
    """Whether a session is one of scheduled work, whose turns are kept but never buffered."""
    return _CRON in session


def arrived(buffer: Buffer, turn: Turn, now: datetime) -> Buffer:
    """A buffer with one more turn."""
    content = turn.content[:TURN_READ_CHARS]
    is_user = turn.role is TurnRole.USER
    return replace(
        buffer,
        turns=buffer.turns + 1,
        user_turns=buffer.user_turns + is_user,
        characters=buffer.characters + len(content.strip()),
        first_at=buffer.first_at or now,
        last_at=now,
        digest=next_digest(buffer.digest, turn.role, turn.digest),
    )


def next_digest(before: str, role: TurnRole, digest: str) -> str:
    """What stands for a row of turns with one more: equal rows of equal words have the same."""
    return hashlib.sha256(f"{before}{role.value}{digest}".encode()).hexdigest()


def decision(buffer: Buffer, level: Level, policy: LifecycleConfig, now: datetime) -> Chosen:
    """What becomes of a buffer whose newest turn has a signal of that level."""
    if level is Level.HIGH and policy.trigger_mode == "smart":
        return Chosen(choice=Choice.EXTRACT_NOW, reason=Because.HIGH_SIGNAL)
    if (reason := _due(buffer, policy, now)) is None:
        return Chosen(choice=Choice.KEEP, reason=Because.BUFFERING)
    if (guard := guard_of(buffer, now)) is None:
        return Chosen(choice=Choice.EXTRACT_BATCH, reason=reason)
    if buffer.turns >= FULL_TURNS:
        return Chosen(choice=Choice.EXTRACT_BATCH, reason=Because.FULL, is_guarded=True)
    return Chosen(choice=Choice.KEEP, reason=guard)


def _due(buffer: Buffer, policy: LifecycleConfig, now: datetime) -> Because | None:
    """Why a batch is due by number or time, if it is (trap 52: 15:00 exactly keeps)."""
    has_many = buffer.turns >= policy.buffer_max_turns
    extracted = buffer.last_extraction_at
    by_time = policy.trigger_mode != "every_n" and extracted is not None
    by_number = policy.trigger_mode != "time_based" or extracted is None
    if by_number and has_many:
        return Because.TURNS
    if by_time and extracted and now - extracted > timedelta(minutes=policy.buffer_max_minutes):
        return Because.MINUTES
    return Because.FULL if buffer.turns >= FULL_TURNS else None


def guard_of(buffer: Buffer, now: datetime) -> Because | None:
    """Why a batch is not worth an extraction, if it is not."""
    if buffer.characters < BATCH_MIN_CHARS:
        return Because.TOO_SHORT
    if not buffer.user_turns:
        return Because.NO_USER_TURN
    is_recent = buffer.last_extraction_at and now - buffer.last_extraction_at <= SAME_TURNS
    return Because.SAME_TURNS if is_recent and buffer.digest == buffer.last_digest else None


def emptied(buffer: Buffer, now: datetime) -> Buffer:
    """A buffer whose turns go to an extraction."""
    return Buffer(
        space=buffer.space,
        session=buffer.session,
        last_extraction_at=now,
        last_digest=buffer.digest,
        extractions=buffer.extractions + 1,
    )


def is_idle(buffer: Buffer, policy: LifecycleConfig, now: datetime) -> bool:
    """Whether its last turn arrived so long ago that no later one may come (trap 53)."""
    limit = timedelta(minutes=policy.buffer_max_minutes)
    return buffer.turns > 0 and buffer.last_at is not None and now - buffer.last_at > limit
