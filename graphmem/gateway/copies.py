"""Copies: what was shared is taken back with what it was copied from, and comes back with it. Pure.

A copy stays as long as one of the memories that it was made of does, and where its words came in
otherwise too.
"""

from typing import TYPE_CHECKING

from graphmem.gateway.tracing import effect
from graphmem.model.event import Effect, Event, Reason
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Copied

if TYPE_CHECKING:
    from graphmem.gateway.draft import Draft


def follow(draft: "Draft") -> list[Event]:
    """Let the copies of memories that were retracted or restored here be so too."""
    copies = sorted(draft.before.copies.items())
    events = (_followed(draft, draft.memories[key], copied) for key, copied in copies)
    return [event for event in events if event]


def _followed(draft: "Draft", copy: Memory, copied: Copied) -> Event | None:
    has_gone = any(_is_retracted_here(draft, key) for key in copied.origins)
    has_returned = any(_is_restored_here(draft, key) for key in copied.origins)
    if has_gone and _is_of_nothing_else(draft, copy, copied):
        draft.set_status(copy, Status.RETRACTED, Reason.SOURCE_RETRACTED)
        return effect(copy, Effect.RETRACTED, Reason.SOURCE_RETRACTED)
    if has_returned and _has_followed(copy) and not copied.is_replaced:
        draft.set_status(copy, Status.ACTIVE, None)
        return effect(copy, Effect.ACTIVE, Reason.SOURCE_RESTORED)
    return None


def _is_of_nothing_else(draft: "Draft", copy: Memory, copied: Copied) -> bool:
    """Whether nothing is left that a copy could rest on; each that it is of said it once."""
    origins = [draft.memories[key] for key in copied.origins]
    times_said = max(copy.sources_total, copy.mention_count)
    return (
        copy.status is not Status.RETRACTED
        and times_said <= len(origins)
        and all(each.status is Status.RETRACTED for each in origins)
    )


def _has_followed(copy: Memory) -> bool:
    is_retracted = copy.status is Status.RETRACTED
    return is_retracted and copy.status_reason == Reason.SOURCE_RETRACTED


def _is_retracted_here(draft: "Draft", key: str) -> bool:
    return _was_retracted(draft, key) is False and _is_retracted(draft.memories[key])


def _is_restored_here(draft: "Draft", key: str) -> bool:
    return _was_retracted(draft, key) is True and not _is_retracted(draft.memories[key])


def _was_retracted(draft: "Draft", key: str) -> bool | None:
    before = draft.before.memories.get(key)
    return _is_retracted(before) if before else None


def _is_retracted(memory: Memory) -> bool:
    return memory.status is Status.RETRACTED
