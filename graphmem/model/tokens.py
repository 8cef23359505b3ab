"""Index tokens: what a memory carries so that full text can filter before its cut (neo4j-recall).

And what its words carry, so that those of other tenants do not weigh.

Each token is one word of lower-case letters and digits, so no analyzer changes it. A memory's
``space_token`` field holds them all, divided by blanks.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from graphmem.model.memory import Memory, Status
from graphmem.model.space import FIRST_TENANT

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
NEVER_MS = 4_102_444_800_000  # 2100-01-01: what "no end" is inside the indexes, which know no null
ALWAYS_MS = -62_135_596_800_000  # the year 1: what "no beginning" is there
_SHIFT = 10**14  # makes every time a number of 15 digits, so that texts sort as the times do
_STATUS_LETTER = {Status.ACTIVE: "a", Status.SUPERSEDED: "s", Status.ARCHIVED: "x"}
_BOUNDED = "t"
_SALT_CHARS = 8  # hexadecimal


def epoch_ms(moment: datetime | None, *, absent: int = NEVER_MS) -> int:
    """Milliseconds since 1970; for none the far future, or what else stands for it."""
    return absent if moment is None else (moment - _EPOCH) // _MILLISECOND


def ends_after_ms(moment: datetime) -> int:
    """The moment behind which a memory must still be true.

    What has no end is true at any, also after 2100.
    """
    return min(epoch_ms(moment), NEVER_MS - 1)


def wall_token(space_key: str, status: Status, *, bounded: bool) -> str | None:
    """The token of a space and status; retracted memories have none.

    Those with a bound in time carry another.
    """
    if status not in _STATUS_LETTER:
        return None
    return f"s{_digest(space_key)}{_STATUS_LETTER[status]}" + (_BOUNDED if bounded else "")


class Bound(StrEnum):
    """The bounds in time that a memory can have, with the letter of their tokens."""

    EXPIRES = "e"
    VALID_FROM = "b"
    VALID_UNTIL = "u"


def time_token(bound: Bound, at_ms: int) -> str:
    """A token whose order as text is the order in time, for a range in the query."""
    return f"{bound}{at_ms + _SHIFT:015d}"


def is_bounded(memory: Memory) -> bool:
    """Whether a memory expires, or is true only from or until some time."""
    return any((memory.expires_at, memory.valid_from, memory.valid_until))


def facet_token(facet: str, value: str) -> str:
    """The token of a filter value: a type, a conversation, who captured it."""
    return f"f{_digest(f'{facet}={value}')}"


def term_salt(tenant: str) -> str:
    """What stands before each word that a tenant's texts are indexed and looked up under.

    The index counts how rare a word is over all that it holds; so that nobody's words weigh in
    another tenant's results, no two tenants share one. The sign at the end is in no analysed word.
    The first tenant has none: a store of one tenant is indexed as its words are.
    """
    return "" if tenant == FIRST_TENANT else f"{_digest(f'tenant={tenant}')[:_SALT_CHARS]}_"


def salted(terms: str, tenant: str) -> str:
    """Analysed words as they are indexed for a tenant, divided by blanks."""
    salt = term_salt(tenant)
    return " ".join(f"{salt}{term}" for term in terms.split()) if salt else terms


def memory_tokens(memory: Memory) -> str:
    """All tokens of a memory, divided by blanks; none for a retracted one."""
    wall = wall_token(memory.space.key, memory.status, bounded=is_bounded(memory))
    if wall is None:
        return ""
    tokens = [wall]
    if is_bounded(memory):
        tokens.append(time_token(Bound.EXPIRES, epoch_ms(memory.expires_at)))
        tokens.append(time_token(Bound.VALID_FROM, epoch_ms(memory.valid_from, absent=ALWAYS_MS)))
        tokens.append(time_token(Bound.VALID_UNTIL, epoch_ms(memory.valid_until)))
    tokens.append(facet_token("type", memory.type))
    sources = (memory.source, *memory.more_sources)
    captors = dict.fromkeys(source.captured_by for source in sources)
    said_in = dict.fromkeys(source.conversation_id for source in sources if source.conversation_id)
    tokens.extend(facet_token("captured_by", captor) for captor in captors)
    tokens.extend(facet_token("conversation_id", conversation) for conversation in said_in)
    if memory.sources_total > len(sources):
        tokens.append(MORE_SOURCES)
    tokens.extend(facet_token("tag", tag) for tag in memory.tags)
    tokens.extend(facet_token("entity", ref.key) for ref in memory.entities)
    return " ".join(tokens)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:15]


# of a memory with more sources than those that its tokens tell
MORE_SOURCES = facet_token("sources", "more")
