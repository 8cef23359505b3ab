"""Chunks: a long fact in parts of whole sentences that overlap (003, Chunks). Pure."""

import math
import re
from collections.abc import Sequence

from graphmem.model.policy import LifecycleConfig

_CHARS_PER_TOKEN = 4
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)", re.DOTALL)


def tokens_of(text: str) -> int:
    """How many tokens a text has: a quarter of its characters, rounded up."""
    return math.ceil(len(text) / _CHARS_PER_TOKEN)


def chunks_of(text: str, policy: LifecycleConfig) -> tuple[str, ...]:
    """The parts of a text; none where it is short or one sentence, and so stays whole.

    A part ends with the sentence with which it is full; the next begins with its last sentences.
    """
    sentences = [each.strip() for each in _SENTENCE.findall(text) if each.strip()]
    if tokens_of(text) < policy.chunking_min_tokens or len(sentences) < 2:  # noqa: PLR2004 - one
        return ()
    parts: list[str] = []
    current: list[str] = []
    new = 0  # sentences of the current part that no part before has
    for sentence in sentences:
        current.append(sentence)
        new += 1
        if tokens_of(" ".join(current)) >= policy.chunking_target_tokens:
            parts.append(" ".join(current))
            current, new = _overlap(current, policy.chunking_overlap_sentences), 0
    if new:
        parts.append(" ".join(current))
    return tuple(parts) if len(parts) > 1 else ()


def _overlap(sentences: Sequence[str], count: int) -> list[str]:
    return list(sentences[-count:]) if count else []
