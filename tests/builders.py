"""Builders: a test names only what it is about."""

from datetime import UTC, datetime
from typing import Any

from graphmem.gateway.claims import content_claim
from graphmem.gateway.item import Item
from graphmem.model.memory import Memory, MemoryType
from graphmem.model.space import Space, SpaceKind
from graphmem.model.writing import WriteRequest
from graphmem.recall.candidates import Arm, Candidate

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
ADA = Space(tenant="acme", kind=SpaceKind.USER, owner="ada")


def a_memory(content: str = "Ada likes tea.", **changes: Any) -> Memory:
    """A stored memory of Ada's space."""
    values: dict[str, Any] = {
        "uid": "m-1",
        "space": ADA,
        "type": MemoryType.FACT,
        "content": content,
        "summary": content[:120],
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(**(values | changes))


def a_request(content: str = "Ada likes tea.", **changes: Any) -> WriteRequest:
    """A write to Ada's space; the changed fields count as given."""
    values: dict[str, Any] = {"space": "user:ada", "content": content} | changes
    return WriteRequest(**values, given=frozenset(values))


def an_item(content: str = "Ada likes tea.", *, index: int = 0, **changes: Any) -> Item:
    """A request that passed the checks; its new memory would be called ``new-<index>``."""
    request = a_request(content, **changes)
    claim = content_claim(ADA, request.type, request.actor, request.content)
    return Item(
        index=index, request=request, space=ADA, new_uid=f"new-{index}", content_claim=claim
    )


def a_candidate(uid: str = "a", **changes: Any) -> Candidate:
    """A candidate; ``vector`` and ``text`` are ranks."""
    for arm in ("vector", "text"):
        if isinstance(rank := changes.get(arm), int):
            changes[arm] = Arm(rank=rank, score=1.0)
    values: dict[str, Any] = {
        "key": f"s|{uid}",
        "uid": uid,
        "importance": 50,
        "confidence": 1.0,
        "updated_at": NOW,
    }
    return Candidate(**(values | changes))
