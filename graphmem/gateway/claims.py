"""Claim keys: the identity of what a memory says.

Each is unique and points to the current memory.
"""

from collections.abc import Iterable

from graphmem.model.entity import slug
from graphmem.model.memory import Memory
from graphmem.model.space import Space
from graphmem.text.normalise import content_hash


def source_claim(space: Space, source_key: str) -> str:
    """The claim of an idempotency key of a source (002)."""
    return f"{space.key}|source|{source_key}"


def content_claim(space: Space, actor: str | None, content: str) -> str:
    """The claim of a content (003), said by one actor: the same words of another are another memory."""
    said_by = f"|{slug(actor) or actor}" if actor else ""
    return f"{space.key}|content|{content_hash(content)}{said_by}"


def logical_claim(space: Space, logical_key: str) -> str:
    """The claim of a caller's own key for a fact (001 memoryKey, 004 dedup_key)."""
    return f"{space.key}|logical|{logical_key}"


def claims_of(memories: Iterable[Memory]) -> frozenset[str]:
    """The content and logical claims that some memories hold or would hold."""
    return frozenset(claim for memory in memories for claim in own_claims(memory))


def own_claims(memory: Memory) -> Iterable[str]:
    """The content and logical claims that a memory would hold."""
    if memory.logical_key:
        yield logical_claim(memory.space, memory.logical_key)
    if memory.claims_content:
        yield content_claim(memory.space, memory.actor, memory.content)
