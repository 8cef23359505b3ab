"""Policy of writes: limits, screening, and what is indexed. Limits hold for the whole service."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphmem.model.policy.rules import flag, word


@dataclass(frozen=True, kw_only=True, slots=True)
class WritePolicy:
    """Limits of a write (http contract, Memories) and what screening refuses."""

    content_max_chars: int = 32_000
    summary_max_chars: int = 120
    context_max_chars: int = 8_000
    name_max_chars: int = 512  # actor, logical key, source fields
    tags_max: int = 32
    tag_max_chars: int = 64
    metadata_max_bytes: int = 16_384
    metadata_max_depth: int = 32
    entities_max: int = 16
    label_max_chars: int = 100
    references_max: int = 32
    batch_max: int = 500
    refuse_secrets: bool = flag(default=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreeningPolicy:
    """What becomes of text that gives orders to a model: it is marked, or refused."""

    instructions: str = word("mark", "mark", "refuse")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityPolicy:
    """How entities are named: variants and the key that is meant (001, Entity normaliser)."""

    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexPolicy:
    """What is indexed of a memory (neo4j-recall, What to index)."""

    context_words: int = 80  # own text and neighbouring turns together
    sentences_max: int = 64  # chunks beside the whole text
    terms_max: int = 64  # distinct words of a query
