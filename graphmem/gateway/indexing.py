"""Indexing: the analysed words of a memory and the texts for its vectors (neo4j-recall)."""

from dataclasses import dataclass

from graphmem.gateway.conversation import leading_words
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import IndexPolicy
from graphmem.model.space import WITHOUT_FACTS
from graphmem.model.tokens import memory_tokens, salted
from graphmem.text.analysis import analyse
from graphmem.text.sentences import sentences
from graphmem.text.statements import STATEMENT_MAX_CHARS, stated_of, statement_hash

_MONTHS = (
    "January February March April May June July August September October November December".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexEntry:
    """What full text sees of a memory."""

    search_text: str
    search_context: str
    search_actor: str
    space_token: str
    statement: str | None  # what facts are known by (003)
    asserts: str | None
    memory_kind: str | None  # what jobs choose by (003)
    native_category: str | None
    unchecked: bool | None  # whether contradictions are to be looked for


def index_entry(memory: Memory, policy: IndexPolicy) -> IndexEntry:
    """The analysed fields: the text, the actor, the context (date, speaker, neighbours)."""
    when = memory.occurred_at
    date = f"{when.day} {_MONTHS[when.month - 1]} {when.year}" if when else ""
    text = analyse(memory.content)
    own = leading_words(memory.content, policy.context_words)
    around = (analyse(date), analyse(memory.actor or ""), analyse(memory.context or ""))
    # words are analysed one by one, so the parts can be joined after it
    own_terms = text if own == memory.content else analyse(own)
    context = " ".join(filter(None, (around[0], around[1], own_terms, around[2])))
    tenant = memory.space.tenant
    return IndexEntry(
        search_text=salted(text, tenant),
        search_context=salted(context, tenant),
        search_actor=salted(around[1], tenant),
        space_token=memory_tokens(memory),
        **statement_fields(memory),
        **kind_fields(memory),
        unchecked=_may_contradict(memory) or None,
    )


def _may_contradict(memory: Memory) -> bool:
    """Whether a memory that is written may now contradict another one of the same entity."""
    is_plain = memory.status is Status.ACTIVE and memory.kept_by is None
    return is_plain and bool(memory.entities)


def kind_fields(memory: Memory) -> dict[str, str | None]:
    """What a room says of the kind of a memory, which jobs choose by."""
    return {"memory_kind": memory.kind, "native_category": memory.category}


def statement_fields(memory: Memory) -> dict[str, str | None]:
    """What plain memories are known by where facts are: words, and what they state a value of.

    Kinds of spaces in which no facts are extracted need none.
    """
    is_long = len(memory.content) > STATEMENT_MAX_CHARS
    if memory.kept_by or is_long or memory.space.kind in WITHOUT_FACTS:
        return {"statement": None, "asserts": None}
    return {
        "statement": statement_hash(memory.content),
        "asserts": stated_of(memory.content, memory.actor),
    }


def texts_to_embed(content: str, actor: str | None, policy: IndexPolicy) -> tuple[str, ...]:
    """The whole text, and each sentence where there is more than one; each behind its speaker."""
    prefix = f"{actor}: " if actor else ""
    return tuple(
        prefix + text for text in (content, *sentences(content, limit=policy.sentences_max))
    )
