"""Reaction: turns that are taken back leave buffers and threads, and what was put into words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.gateway.reactions import Changes
from graphmem.lifecycle.buffer import TURN_READ_CHARS, next_digest
from graphmem.lifecycle.threads import without
from graphmem.model.conversation import TurnRole
from graphmem.model.event import Event
from graphmem.model.extraction import Buffer, Thread
from graphmem.model.space import space_from_key
from graphmem.store.artefacts import forget_quotes
from graphmem.store.buffers import LeftTurn, buffers_of_turns, recount_buffers
from graphmem.store.connection import Transaction
from graphmem.store.extractions import extractions_resting_on, forget_texts
from graphmem.store.identity import forget_worded_reflections
from graphmem.store.profile import forget_worded_lines
from graphmem.store.questions import forget_worded_questions
from graphmem.store.threads import SaidInThread, leave_threads, threads_of_turns


@dataclass(frozen=True, kw_only=True, slots=True)
class _Resting:
    turns: Sequence[str] = ()
    buffers: Sequence[tuple[Buffer, tuple[LeftTurn, ...]]] = ()
    extractions: Sequence[str] = ()
    threads: Sequence[tuple[Thread, tuple[SaidInThread, ...]]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    turns: Sequence[str]
    buffers: Sequence[Buffer]
    extractions: Sequence[str]
    threads: Sequence[Thread]
    empty_threads: Sequence[Thread]


class ForgetTurns:
    """What the lifecycle does when turns are taken back.

    Memories tell of themselves: an extraction shows the words that they have now, and a notebook
    only what rests on memories that are current.
    """

    def read(
        self,
        transaction: Transaction,
        *,
        memories: Sequence[str],  # noqa: ARG002 - no record of it rests on these
        entities: Sequence[str],  # noqa: ARG002
        turns: Sequence[str],
    ) -> _Resting:
        """The buffers and threads of turns, and extractions that keep words of their own."""
        if not turns:
            return _Resting()
        return _Resting(
            turns=turns,
            buffers=buffers_of_turns(transaction, turns),
            extractions=extractions_resting_on(transaction, turns),
            threads=threads_of_turns(transaction, turns, chars=TURN_READ_CHARS),
        )

    def decide(
        self,
        records: _Resting,
        changes: Changes,
        now: datetime,  # noqa: ARG002
    ) -> tuple[_Change | None, Sequence[Event]]:
        """Count the turns that are left, and forget what an extraction put into words."""
        gone = {turn.key for turn in changes.turns} & set(records.turns)
        if not gone:
            return None, ()
        change = _Change(
            turns=sorted(gone),
            buffers=[_without(buffer, left) for buffer, left in records.buffers],
            extractions=records.extractions,
            threads=[without(thread, left) for thread, left in records.threads if left],
            empty_threads=[thread for thread, left in records.threads if not left],
        )
        return change, ()

    def apply(self, transaction: Transaction, change: _Change | None) -> None:
        """Write what is left."""
        if change:
            recount_buffers(transaction, change.buffers, change.turns)
            forget_texts(transaction, change.extractions)
            forget_quotes(transaction, change.turns)
            _forget_words(transaction, change.extractions)
        if change and (change.threads or change.empty_threads):
            leave_threads(transaction, change.turns, change.threads, change.empty_threads)


def _forget_words(transaction: Transaction, extractions: Sequence[str]) -> None:
    """Take what a model put into words in some extractions, by key, out of notebooks."""
    by_space: dict[str, list[str]] = defaultdict(list)
    for key in extractions:
        space_key, _, uid = key.rpartition("|")
        by_space[space_key].append(uid)
    for space_key, uids in by_space.items():
        space = space_from_key(space_key)
        forget_worded_lines(transaction, space, uids)
        forget_worded_reflections(transaction, space, uids)
        forget_worded_questions(transaction, space, uids)


def _without(buffer: Buffer, left: Sequence[LeftTurn]) -> Buffer:
    """A buffer that holds only the turns that are left."""
    digest = ""
    for turn in left:
        digest = next_digest(digest, turn.role, turn.digest)
    return replace(
        buffer,
        turns=len(left),
        user_turns=sum(turn.role is TurnRole.USER for turn in left),
        characters=sum(turn.characters for turn in left),
        first_at=min((turn.arrived_at for turn in left), default=None),
        last_at=max((turn.arrived_at for turn in left), default=None),
        digest=digest,
    )
