"""Uniting (001, Store rules): what is said again under a key joins the memory there. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from graphmem.gateway.draft import Draft
from graphmem.gateway.item import Item
from graphmem.gateway.repeats import with_repeat
from graphmem.gateway.revising import Applied, claim_anew, united_entities
from graphmem.model.memory import Memory
from graphmem.model.policy import Policy
from graphmem.model.writing import Outcome, WriteRequest
from graphmem.text.normalise import comparable, shorten


def unite(draft: Draft, item: Item, existing: Memory, policy: Policy) -> Applied:
    """A memory with what a request says anew under its key: a mention more, and all its entities.

    The larger importance stays; other values of the request replace those of the memory. So do its
    words, with a revision. Where these are older, only its entities, its importance and the native
    values that a room united are taken.
    """
    request = item.request
    repeat = with_repeat(
        existing,
        request,
        entities=united_entities(draft, item, existing.entities),
        is_confirmed=False,
        policy=policy.write,
        now=draft.now,
    )
    is_older = was_said_before(request, existing)
    says_it = comparable(request.content) == comparable(existing.content)
    changes = _replaced(request, policy, is_older=is_older, says_it=says_it)
    if is_older:
        changes["metadata"] = existing.metadata
    memory = replace(repeat.memory, occurred_at=_newest(request, existing), **changes)
    re_embed = (memory.content, memory.actor) != (existing.content, existing.actor)
    if re_embed:
        memory = replace(memory, embedded=item.has_vectors)
        draft.vectors_of[memory.key] = item.index
    draft.put(memory)
    claim_anew(draft, memory, existing)
    if re_embed:
        draft.mark_neighbours(memory)
    left = ("content",) if is_older and not says_it else ()
    outcome = Outcome.REVISED if re_embed else Outcome.REINFORCED
    return Applied(outcome, memory, _not_taken(repeat.not_taken, left))


def _replaced(
    request: WriteRequest, policy: Policy, *, is_older: bool, says_it: bool
) -> dict[str, Any]:
    """What a request gives instead of what the memory has."""
    names = ("native",) if is_older else ("native", "type", "confidence")
    changes: dict[str, Any] = {
        name: getattr(request, name) for name in names if name in request.given
    }
    if is_older or says_it:
        return changes
    if "actor" in request.given:
        changes["actor"] = request.actor
    summary = request.summary or shorten(request.content, policy.write.summary_max_chars)
    return {**changes, "content": request.content, "summary": summary}


def _not_taken(of_repeat: Iterable[str], more: Iterable[str] = ()) -> tuple[str, ...]:
    """The fields that the memory does not take over; when it was said last is noted."""
    return tuple(sorted({*of_repeat, *more} - {"occurred_at", "summary"}))


def _newest(request: WriteRequest, existing: Memory) -> datetime | None:
    """When the memory was said last, as far as that is known."""
    return max(filter(None, (request.occurred_at, existing.occurred_at)), default=None)


def was_said_before(request: WriteRequest, existing: Memory) -> bool:
    """Whether what a request says happened before what the memory says."""
    said = request.occurred_at
    return said is not None and said != _newest(request, existing)
