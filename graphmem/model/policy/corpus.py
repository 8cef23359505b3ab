"""Policy of the career corpus: how large it may be, and what its memories tell (000)."""

from dataclasses import dataclass

from graphmem.model.policy.rules import flag


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusPolicy:
    """The room of the career corpus. Limits hold for the whole service."""

    list_items: int = 500  # of each list
    document_bytes: int = 262_144  # of a document in canonical JSON
    corpus_bytes: int = 4_194_304  # of all documents
    content_chars: int = 32_000  # of a memory; a longer text is shortened there alone
    contact_memories: bool = flag(default=False)  # whether mail and phone become memories
