"""Reaction: no summary states what memories no longer say, or messages that are gone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.gateway.reactions import Changes
from graphmem.model.companion import CONVERSATION, ROOM, SpineLine
from graphmem.model.event import Event
from graphmem.model.memory import Memory, Status
from graphmem.model.policy.companion import SummaryPolicy
from graphmem.store.connection import Transaction
from graphmem.store.summaries import (
    RestingSpine,
    forget_messages,
    forget_retracted,
    save_sections,
    spines_on,
)
from graphmem.text.normalise import shorten

Sections = Mapping[str, Sequence[SpineLine]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """Keys of memories that left, new words of others by uid, keys of messages that are gone.

    What was retracted is no more true, so the summaries of the sessions that said it are made anew.
    """

    left: Sequence[str] = ()
    retracted: Sequence[str] = ()
    reworded: Mapping[str, str] = field(default_factory=dict)
    reworded_keys: Sequence[str] = ()
    turns: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class MendSummaries:
    """What the companion does when memories leave or are reworded, and messages are taken back.

    What rests on them is looked for only where something of the room changed, as it is written.
    """

    policy: SummaryPolicy

    def read(
        self,
        transaction: Transaction,
        *,
        memories: Sequence[str],
        entities: Sequence[str],
        turns: Sequence[str],
    ) -> None:
        """Nothing: most operations change nothing of the room."""

    def decide(
        self,
        records: None,  # noqa: ARG002
        changes: Changes,
        now: datetime,  # noqa: ARG002
    ) -> tuple[_Change | None, Sequence[Event]]:
        """What left, what has other words, and which messages are gone."""
        left = [memory.key for memory in changes.left if _is_kept(memory)]
        reworded = [memory for memory in changes.reworded if _is_kept(memory)]
        turns = [turn.key for turn in changes.turns if turn.conversation_id == CONVERSATION]
        if not (left or reworded or turns):
            return None, ()
        change = _Change(
            left=left,
            retracted=[
                memory.key
                for memory in changes.left
                if _is_kept(memory) and memory.status is Status.RETRACTED
            ],
            reworded={memory.uid: memory.content for memory in reworded},
            reworded_keys=[memory.key for memory in reworded],
            turns=turns,
        )
        return change, ()

    def apply(self, transaction: Transaction, change: _Change | None) -> None:
        """Mend what rests on them."""
        if change is None:
            return
        keys = sorted({*change.left, *change.reworded_keys})
        resting = spines_on(transaction, keys) if keys else []
        mended = {each.key: mended_sections(each, change.reworded, self.policy) for each in resting}
        save_sections(transaction, mended)
        if change.retracted:
            forget_retracted(transaction, change.retracted)
        if change.turns:
            forget_messages(
                transaction,
                change.turns,
                every=self.policy.rolling_every,
                chars=self.policy.last_message_chars,
            )


def mended_sections(
    resting: RestingSpine, reworded: Mapping[str, str], policy: SummaryPolicy
) -> tuple[Sections, list[str]]:
    """The sections of a spine without what left, and the keys of memories that took lines over."""
    taken: dict[str, str] = {}

    def mended(line: SpineLine) -> SpineLine | None:
        if line.uid not in resting.changed:
            return line
        if line.uid in reworded:
            return replace(line, text=shorten(reworded[line.uid], policy.item_chars))
        successor = resting.changed[line.uid]
        if successor is None or successor.uid in taken:
            return None
        taken[successor.uid] = successor.key
        text = shorten(successor.content, policy.item_chars)
        return replace(line, uid=successor.uid, text=text)

    sections = {
        name: [new for line in lines if (new := mended(line))]
        for name, lines in resting.spine.sections.items()
    }
    return sections, list(taken.values())


def _is_kept(memory: Memory) -> bool:
    return memory.kept_by == ROOM
