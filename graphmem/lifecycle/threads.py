"""Threads: turns of a session that follow each other without a long pause (003, Threads). Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from graphmem.model.conversation import Turn
from graphmem.model.extraction import Thread
from graphmem.store.threads import SaidInThread
from graphmem.text.analysis import STOP_WORDS

UNTITLED = "Untitled Thread"
_TITLE_WORDS = 3
_WORDS_KEPT = 200  # of a thread, the most frequent
_WORD = re.compile(r"[a-z0-9-]{4,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Threads:
    """The threads that some turns join, as they are with them, and the thread of each turn."""

    changed: tuple[Thread, ...] = ()
    of_turns: Mapping[str, str] = field(default_factory=dict)  # uid of a turn → uid of its thread


def threaded(
    newest: Thread | None, turns: Sequence[Turn], *, uids: Sequence[str], gap_minutes: int
) -> Threads:
    """Let turns of a session join its newest thread, or after a longer pause begin another.

    ``uids`` are those of new threads.
    """
    gap, new = timedelta(minutes=gap_minutes), iter(uids)
    current, found = newest, {}
    of_turns: dict[str, str] = {}
    for turn in turns:
        if current is None or turn.at - current.last_at > gap:
            current = _begun(next(new), turn)
        current = _with_turn(current, turn)
        found[current.uid] = current
        of_turns[turn.uid] = current.uid
    return Threads(changed=tuple(found.values()), of_turns=of_turns)


def _begun(uid: str, turn: Turn) -> Thread:
    return Thread(
        uid=uid,
        space=turn.space,
        session=turn.conversation_id,
        title=UNTITLED,
        turns=0,
        first_at=turn.at,
        last_at=turn.at,
    )


def _with_turn(thread: Thread, turn: Turn) -> Thread:
    counts = Counter(thread.words)
    counts.update(words_of(turn.content))
    words = dict(counts.most_common(_WORDS_KEPT))
    return replace(
        thread,
        title=title_of(words),
        turns=thread.turns + 1,
        first_at=min(thread.first_at, turn.at),
        last_at=max(thread.last_at, turn.at),
        words=words,
    )


def without(thread: Thread, left: Sequence[SaidInThread]) -> Thread:
    """A thread of which only these turns are left, at least one."""
    counts: Counter[str] = Counter()
    for each in left:
        counts.update(words_of(each.content))
    words = dict(counts.most_common(_WORDS_KEPT))
    return replace(
        thread,
        title=title_of(words),
        turns=len(left),
        first_at=min(each.at for each in left),
        last_at=max(each.at for each in left),
        words=words,
    )


def words_of(text: str) -> Iterable[str]:
    """The words of a text that a title may have."""
    return (word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)


def title_of(words: Mapping[str, int]) -> str:
    """The three most frequent words, capitalised; of equal ones those that were said first."""
    frequent = [word.capitalize() for word, _ in Counter(words).most_common(_TITLE_WORDS)]
    return ", ".join(frequent) or UNTITLED
