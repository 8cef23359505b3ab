"""Assertion keys: what a memory says, as a key that is unique and points to the current one.

Those of a memory that a room keeps name the room, so that no plain write ever meets one.
"""

from collections.abc import Iterable

from graphmem.model.memory import Memory, MemoryType
from graphmem.model.names import slug
from graphmem.model.space import Space
from graphmem.model.state import AT
from graphmem.model.writing import WriteRequest
from graphmem.text.normalise import content_hash
from graphmem.text.times import iso

OCCASIONS = frozenset({MemoryType.EVENT, MemoryType.OBSERVATION})  # what happens more than once


def source_claim(space: Space, source_key: str, kept_by: str | None = None) -> str:
    """The claim of an idempotency key of a source (002)."""
    return f"{_wall(space, kept_by)}|source|{source_key}"


def content_claim(
    space: Space, kind: MemoryType, actor: str | None, content: str, kept_by: str | None = None
) -> str:
    """The claim of a content, of one type and said by one actor; of another it is another."""
    said_by = f"|{slug(actor) or actor}" if actor else ""
    return f"{_wall(space, kept_by)}|content|{kind}|{content_hash(content)}{said_by}"


def timed_claim(content: str, said: Memory | WriteRequest) -> str:
    """A content claim together with an interval, and with when an event or observation happened.

    So the same words of two times are two memories, and each is found again.
    """
    happened = said.occurred_at if said.type in OCCASIONS else None
    times = (happened, said.valid_from, said.valid_until)
    return f"{content}{AT}{'|'.join(iso(each) or '' for each in times)}" if any(times) else content


def untimed(claim: str) -> str:
    """A claim without the time that timed_claim gave it."""
    return claim.rpartition(AT)[0] or claim


def logical_claim(space: Space, logical_key: str, kept_by: str | None = None) -> str:
    """The claim of a caller's own key for a fact (001 memoryKey, 004 dedup_key)."""
    return f"{_wall(space, kept_by)}|logical|{logical_key}"


def claims_of(memories: Iterable[Memory]) -> frozenset[str]:
    """The content and logical claims that some memories hold or would hold, at any time too."""
    return frozenset(claim for memory in memories for claim in every_claim(memory))


def every_claim(memory: Memory) -> Iterable[str]:
    """The content and logical claims that a memory would hold, with that of its own time."""
    if memory.logical_key:
        yield logical_claim(memory.space, memory.logical_key, memory.kept_by)
    if memory.claims_content:
        yield from content_claims(memory)


def own_claims(memory: Memory) -> Iterable[str]:
    """The content and logical claims that a memory would hold."""
    if memory.logical_key:
        yield logical_claim(memory.space, memory.logical_key, memory.kept_by)
    if memory.claims_content:
        yield content_claims(memory)[0]


def content_claims(memory: Memory) -> tuple[str, ...]:
    """The claims of what a memory says: at any time, and at its own."""
    said = content_claim(memory.space, memory.type, memory.actor, memory.content, memory.kept_by)
    return tuple(dict.fromkeys((said, timed_claim(said, memory))))


def _wall(space: Space, kept_by: str | None) -> str:
    return f"{space.key}|{kept_by}" if kept_by else space.key
