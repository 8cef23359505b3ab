"""Sources (design, Sources): what they said, whose they are, and how they move. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from graphmem.gateway.claims import source_claim
from graphmem.model.memory import Memory
from graphmem.model.source import Source
from graphmem.model.state import MORE_SOURCES
from graphmem.model.writing import WriteRequest
from graphmem.text.normalise import content_hash

if TYPE_CHECKING:
    from graphmem.gateway.draft import Draft

# how it is written, which is not what a source says
_HOW = frozenset("space dedupe on_same_key embedding sources upserts said has_turns".split())
_WORDS = "words:"  # of a digest of a store before sources had any: the words alone are known


def said_digest(request: WriteRequest) -> str:
    """What stands for the words and the given fields of a request."""
    given = {name: _plain(getattr(request, name)) for name in sorted(request.given - _HOW)}
    text = json.dumps({"content": request.content} | given, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def words_digest(content: str) -> str:
    """What stands for what a source said of which the words alone are known."""
    return f"{_WORDS}{content_hash(content)}"


def says_again(request: WriteRequest, digest: str | None) -> bool:
    """Whether a source says what it said; where nobody knows that any more, it does."""
    if digest is None:
        return True
    if digest.startswith(_WORDS):
        return digest == words_digest(request.content)
    return digest in {request.source.digest, said_digest(request)}


def claim_of(source: Source, memory: Memory) -> str | None:
    """The claim of the key of a source, if it has one."""
    return source_claim(memory.space, source.key, memory.kept_by) if source.key else None


def add_source(draft: "Draft", memory: Memory, source: Source) -> Memory:
    """A memory that a source says too; one that it has stays, with the values that it has now."""
    at = source.at or draft.now
    if source.name == memory.source.name:
        return memory
    known = next((each for each in memory.more_sources if each.name == source.name), None)
    if known == source:
        return memory
    others = tuple(each for each in memory.more_sources if each.name != source.name)
    draft.sources[memory.key, source.name] = source = replace(source, at=known.at if known else at)
    return _with_sources(
        draft,
        memory,
        tuple(sorted((*others, source), key=_at)),
        memory.sources_total + (0 if known else 1),
    )


def drop_source(draft: "Draft", memory: Memory, source: Source) -> Memory:
    """A memory that a source says no longer; the first of the others then lies flat on it."""
    others = tuple(each for each in memory.more_sources if each.name != source.name)
    draft.sources[memory.key, source.name] = None
    draft.turns.left_sources.add((memory.key, source.name))
    if source.name == memory.source.name:
        first, *others_left = others
        others = tuple(others_left)
        draft.sources[memory.key, first.name] = None
        left = draft.leave_conversation(memory)
        draft.put(replace(left, source=first, updated_at=draft.now, version=memory.version + 1))
        memory = draft.memories[memory.key]
    total = max(1 + len(others), memory.sources_total - 1)
    return _with_sources(draft, memory, others, total)


def drop_source_named(draft: "Draft", memory: Memory, name: str) -> Memory:
    """A memory that a source of that name says no longer, while others are left.

    Where the first one goes and none that came with the memory is left, it stays there flat.
    """
    known = next((each for each in memory.sources if each.name == name), None)
    if known and (memory.more_sources or name != memory.source.name):
        return drop_source(draft, memory, known)
    if known:
        return memory
    draft.sources[memory.key, name] = None
    draft.turns.left_sources.add((memory.key, name))
    return _with_sources(draft, memory, memory.more_sources, max(1, memory.sources_total - 1))


def leave(draft: "Draft", memory: Memory, source: Source, into: Memory) -> None:
    """Let a source leave a memory for the one that says what it says now.

    A memory without another source is superseded by that.
    """
    memory = draft.memories[memory.key]
    if memory.sources_total > 1 and memory.more_sources:
        drop_source(draft, memory, source)
        return
    draft.supersede(draft.memories[into.key], memory)


def absorb(draft: "Draft", memory: Memory, other: Memory) -> Memory:
    """A memory that stands for another from now on: all sources of that are its own."""
    for source in other.sources:
        memory = add_source(draft, memory, source)
    draft.absorbed.append((other.key, memory.key))
    return memory


def _with_sources(draft: "Draft", memory: Memory, more: tuple[Source, ...], total: int) -> Memory:
    changed = replace(memory, more_sources=more[-MORE_SOURCES:], sources_total=total)
    draft.memories[memory.key] = changed
    draft.sourced.add(memory.key)
    return changed


def _at(source: Source) -> tuple[datetime, str]:
    assert source.at is not None  # noqa: S101 - a further source has one
    return (source.at, source.name)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a request
    """A value as JSON knows it; what is not there says nothing."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({k: v for k, v in asdict(value).items() if k not in {"at", "digest"}})
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
