"""Repeats (design, The same again): which requests say a memory again, and what they add to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from graphmem.gateway.claims import OCCASIONS
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Authority, Memory
from graphmem.model.policy import WritePolicy
from graphmem.model.writing import WriteRequest
from graphmem.text.normalise import shorten

_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, tzinfo=UTC)
_STRONGEST_FIRST = tuple(Authority)
_STRENGTHS = ("importance", "confidence", "authority")
# what a memory keeps where a request says otherwise
_KEPT = ("summary", "context", "logical_key", "occurred_at", "valid_from", "valid_until")


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """A memory with what a request adds to it, and the fields that it does not take over."""

    memory: Memory
    not_taken: tuple[str, ...] = ()


def is_repeat(request: WriteRequest, memory: Memory) -> bool:
    """Whether a request of equal words says a memory again: of the same time and occasion."""
    return not (_is_another_occasion(request, memory) or _is_apart(request, memory))


def _is_another_occasion(request: WriteRequest, memory: Memory) -> bool:
    return (
        memory.type in OCCASIONS
        and request.occurred_at is not None
        and memory.occurred_at not in {None, request.occurred_at}
    )


def _is_apart(request: WriteRequest, memory: Memory) -> bool:
    """Whether the interval of a request neither overlaps nor touches the memory's."""
    begins_behind = (request.valid_from or _FIRST) > (memory.valid_until or _LAST)
    ends_before = (request.valid_until or _LAST) < (memory.valid_from or _FIRST)
    return begins_behind or ends_before


def with_repeat(
    memory: Memory,
    request: WriteRequest,
    *,
    entities: Sequence[EntityRef],
    is_confirmed: bool,
    policy: WritePolicy,
    now: datetime,
) -> Repeat:
    """A memory that was said again.

    ``entities`` are those of both, more than a memory may have at the end; ``is_confirmed`` says
    that only doubt gave it its expiry. Nothing that was there gives way.
    """
    given = {name: getattr(request, name) for name in request.given}
    united, over = _united(memory, request, entities, policy)
    said = replace(
        memory,
        mention_count=memory.mention_count + 1,
        pinned=memory.pinned or request.pinned,
        logical_key=memory.logical_key or request.logical_key,
        occurred_at=memory.occurred_at or request.occurred_at,
        expires_at=_later_expiry(memory, request, is_confirmed=is_confirmed),
        updated_at=now,
        version=memory.version + 1,
        **united,
        **_stronger(memory, given),
        **_interval(memory, request),
        **_texts(memory, request, policy),
    )
    kept = [name for name in _KEPT if given.get(name) not in {None, getattr(said, name)}]
    return Repeat(memory=said, not_taken=tuple(sorted({*kept, *over})))


def standing_for(memory: Memory, other: Memory, policy: WritePolicy) -> Memory | None:
    """A memory that from now on also stands for another that says the same.

    None where both together are over a limit: neither may lose anything.
    """
    earlier, later = sorted((memory, other), key=lambda each: each.created_at)
    refs = {ref.key: ref for ref in (*memory.entities, *other.entities)}
    united, over = _united(earlier, later, list(refs.values()), policy)
    if over:
        return None
    united = {**united, "tags": tuple(dict.fromkeys((*memory.tags, *other.tags)))}
    expiries = [each.expires_at for each in (memory, other)]
    return replace(
        memory,
        mention_count=memory.mention_count + other.mention_count,
        pinned=memory.pinned or other.pinned,
        expires_at=None if None in expiries else max(filter(None, expiries)),
        claims_content=memory.claims_content or other.claims_content,
        version=memory.version + 1,
        **united,
        **_stronger(memory, {name: getattr(other, name) for name in _STRENGTHS}),
    )


def _united(
    memory: Memory,
    request: WriteRequest | Memory,
    entities: Sequence[EntityRef],
    policy: WritePolicy,
) -> tuple[Mapping[str, Any], list[str]]:
    """What both have together, as far as the limits allow, and the fields that are over them."""
    tags = tuple(dict.fromkeys((*memory.tags, *request.tags)))
    metadata = {**memory.metadata, **request.metadata}
    is_too_much = len(json.dumps(metadata, ensure_ascii=False).encode()) > policy.metadata_max_bytes
    changes = {
        "entities": tuple(sorted(entities[: policy.entities_max])),
        "tags": tags[: policy.tags_max],
        "metadata": memory.metadata if is_too_much else metadata,
    }
    limits = {
        "entities": len(entities) > policy.entities_max,
        "tags": len(tags) > policy.tags_max,
        "metadata": is_too_much,
    }
    return changes, [name for name, is_over in limits.items() if is_over]


def _stronger(memory: Memory, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The larger or stronger of what the memory has and what a request gives."""
    authorities = (memory.authority, given.get("authority", memory.authority))
    return {
        "importance": max(memory.importance, given.get("importance", 0)),
        "confidence": max(memory.confidence, given.get("confidence", 0.0)),
        "authority": min(authorities, key=_STRONGEST_FIRST.index),
    }


def _later_expiry(memory: Memory, request: WriteRequest, *, is_confirmed: bool) -> datetime | None:
    """The later of two expiries; none is the latest."""
    if is_confirmed or memory.expires_at is None:
        return None
    return max(memory.expires_at, request.expires_at or memory.expires_at)


def _interval(memory: Memory, request: WriteRequest) -> Mapping[str, Any]:
    """An interval with an unknown bound filled in, or a known one widened.

    It still holds when the memory was first said: a later begin or an earlier end is not taken.
    """
    begin, end = request.valid_from, request.valid_until
    if memory.valid_from is not None:
        begin = min(memory.valid_from, begin or memory.valid_from)
    elif begin is not None and begin > memory.began:
        begin = None
    if memory.valid_until is not None:
        end = max(memory.valid_until, end or memory.valid_until)
    elif end is not None and end <= memory.began:
        end = None
    return {"valid_from": begin, "valid_until": end}


def _texts(memory: Memory, request: WriteRequest, policy: WritePolicy) -> Mapping[str, Any]:
    """The summary and context of a request, where nobody gave the memory one."""
    changes: dict[str, Any] = {}
    is_made = memory.summary == shorten(memory.content, policy.summary_max_chars)
    if request.summary and is_made:
        changes["summary"] = request.summary
    if request.context and (memory.context is None or memory.context_built):
        changes |= {"context": request.context, "context_built": False}
    return changes
