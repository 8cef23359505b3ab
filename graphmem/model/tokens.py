"""Index tokens: what a memory carries so that full text can filter before its cut (neo4j-recall).

Each token is one word of lower-case letters and digits, so no analyzer changes it. A memory's
``space_token`` field holds them all, divided by blanks.
"""

import hashlib
from datetime import datetime

from graphmem.model.memory import Memory, Status

NEVER_MS = 4_102_444_800_000  # 2100-01-01: what "no expiry" is inside the indexes, which know no null
_STATUS_LETTER = {Status.ACTIVE: "a", Status.SUPERSEDED: "s", Status.ARCHIVED: "x"}
_EXPIRING = "t"


def epoch_ms(moment: datetime | None) -> int:
    """Milliseconds since 1970, or the far future for "never"."""
    return NEVER_MS if moment is None else int(moment.timestamp() * 1000)


def wall_token(space_key: str, status: Status, *, expiring: bool) -> str | None:
    """The token of a space and status; retracted memories have none. Expiring ones carry another."""
    if status not in _STATUS_LETTER:
        return None
    return f"s{_digest(space_key)}{_STATUS_LETTER[status]}" + (_EXPIRING if expiring else "")


def expiry_token(at_ms: int) -> str:
    """A token whose order as text is the order in time, for a range in the query."""
    return f"e{at_ms:015d}"


def facet_token(facet: str, value: str) -> str:
    """The token of a filter value: a type, a conversation, who captured it."""
    return f"f{_digest(f'{facet}={value}')}"


def memory_tokens(memory: Memory) -> str:
    """All tokens of a memory, divided by blanks; none for a retracted one."""
    wall = wall_token(memory.space.key, memory.status, expiring=memory.expires_at is not None)
    if wall is None:
        return ""
    tokens = [wall]
    if memory.expires_at is not None:
        tokens.append(expiry_token(epoch_ms(memory.expires_at)))
    tokens.append(facet_token("type", memory.type))
    tokens.append(facet_token("captured_by", memory.source.captured_by))
    if memory.source.conversation_id:
        tokens.append(facet_token("conversation_id", memory.source.conversation_id))
    tokens.extend(facet_token("tag", tag) for tag in memory.tags)
    tokens.extend(facet_token("entity", ref.key) for ref in memory.entities)
    return " ".join(tokens)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:15]
