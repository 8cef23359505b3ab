"""Conversations: the turns beside a memory that its search context is built from."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from graphmem.model.memory import Memory, Status
from graphmem.model.source import CapturedBy

_WORD = re.compile(r"\S+")
_TELLING_WORDS = 5  # by which a turn is known in the context of another
_CHARS_PER_WORD = 8  # bounds the words of scripts without blanks
_AFFECTED_STEPS = (
    -1,
    0,
    1,
    2,
)  # whose context an insertion changes: the turn before, itself, two after


@dataclass(kw_only=True, slots=True)
class Chain:
    """The known part of the NEXT chains: who stands before and after whom, by memory key."""

    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)  # conversation key → key of its last turn

    def insert(self, key: str, conversation: str, behind: str | None) -> set[str]:
        """Put a turn behind another (or at the end); return the turns whose context changes."""
        previous = behind or self.last.get(conversation)
        following = self.after.get(previous) if previous else None
        if previous:
            self.before[key], self.after[previous] = previous, key
        if following:
            self.before[following], self.after[key] = key, following
        else:
            self.last[conversation] = key
        return {turn for step in _AFFECTED_STEPS if (turn := self.at(key, step))}

    def remove(self, key: str, conversation: str) -> set[str]:
        """Take a turn out of its conversation; return the turns whose context changes."""
        changed = {turn for step in _AFFECTED_STEPS if (turn := self.at(key, step))}
        previous, following = self.before.pop(key, None), self.after.pop(key, None)
        if previous:
            self.after.pop(previous)
        if following:
            self.before.pop(following)
        if previous and following:
            self.after[previous], self.before[following] = following, previous
        if self.last.get(conversation) == key:
            self.last[conversation] = previous or ""
        return changed - {key}

    def at(self, key: str, step: int) -> str | None:
        """The turn some steps after (or, negative, before) a turn."""
        links = self.after if step > 0 else self.before
        current: str | None = key
        for _ in range(abs(step)):
            current = links.get(current) if current else None
        return current


def conversation_key(memory: Memory) -> str | None:
    """The key of the conversation that a memory is a turn of; it never spans a wall.

    What a room extracted from a conversation is no turn of it.
    """
    source = memory.source
    is_extracted = source.captured_by is CapturedBy.EXTRACTOR and memory.native is not None
    if source.conversation_id is None or is_extracted:
        return None
    return f"{memory.space.key}|{source.conversation_id}"


def with_built_context(
    memory: Memory, chain: Chain, turns: dict[str, Memory], *, word_limit: int
) -> Memory:
    """The memory with the context that its neighbours give: two turns before, and the next.

    What is not active is left out: its words must not be found beside it.
    """
    steps = (-1, 1, -2)
    beside = (turns.get(chain.at(memory.key, step) or "") for step in steps)
    neighbours = [turn for turn in beside if turn and turn.status is Status.ACTIVE]
    context = built_context(memory, neighbours, word_limit=word_limit)
    return memory if context == memory.context else replace(memory, context=context)


def has_in_context(memory: Memory, content: str, actor: str | None) -> bool:
    """Whether the context of a turn begins to repeat what was said beside it, and by whom."""
    words = leading_words(_without(content, _names(actor) - _names(memory.actor)), _TELLING_WORDS)
    return bool(words) and words in (memory.context or "")


def built_context(memory: Memory, neighbours: Iterable[Memory], *, word_limit: int) -> str | None:
    """The neighbours' texts, cut to the words that the own text leaves; none beside a long text.

    Names of other speakers are left out: they pull up turns that only address someone.
    """
    left = word_limit - min(_word_count(memory.content), word_limit)
    own_name = _names(memory.actor)
    parts = []
    for neighbour in neighbours:
        part = leading_words(_without(neighbour.content, _names(neighbour.actor) - own_name), left)
        if part:
            parts.append(part)
            left -= _word_count(part)
    return "\n".join(parts) or None


def leading_words(text: str, count: int) -> str:
    """The first ``count`` words of a text."""
    if count <= 0:
        return ""
    ends = [match.end() for _, match in zip(range(count), _WORD.finditer(text), strict=False)]
    return text[: min(ends[-1], count * _CHARS_PER_WORD) if ends else 0].strip()


def _word_count(text: str) -> int:
    return max(len(_WORD.findall(text)), len(text) // _CHARS_PER_WORD)


def _names(actor: str | None) -> frozenset[str]:
    return frozenset(_WORD.findall(actor.lower())) if actor else frozenset()


def _without(text: str, names: frozenset[str]) -> str:
    if not names:
        return text
    return " ".join(word for word in text.split() if word.lower().strip(".,!?;:'\"()") not in names)
