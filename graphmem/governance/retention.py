"""Retention: when an item of memory is forgotten, by ticks alone (004, Retention). Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from graphmem.model.governance import Item


class Mode(StrEnum):
    """How an item ends: never, at a tick, or beyond an age."""

    NEVER = "never"
    TTL = "ttl"
    DECAY = "decay"


class Forgotten(StrEnum):
    """Why an item was forgotten."""

    TTL_EXPIRED = "ttl_expired"
    DECAY = "decay"


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionRule:
    """How long an item is kept, in ticks."""

    mode: Mode = Mode.NEVER
    ticks: int | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """As events show it."""
        return {"mode": self.mode.value, "ttl_ticks": self.ticks}

    @property
    def is_kept(self) -> bool:
        """Whether an item under it is kept for ever."""
        return self.mode is Mode.NEVER


def with_expiry(item: Item, rule: RetentionRule) -> Item:
    """An item that a pass has looked at: under a ttl it knows the tick at which it ends."""
    if rule.mode is not Mode.TTL or rule.ticks is None or item.expires_at is not None:
        return item
    return replace(item, expires_at=item.created_at + rule.ticks)


def forgotten(item: Item, rule: RetentionRule, now: int) -> Forgotten | None:
    """Why an item that a pass has looked at is forgotten; ``now`` counts as its ``mark`` does."""
    age = now - item.mark
    if rule.mode is Mode.TTL and item.expires_at is not None:
        return Forgotten.TTL_EXPIRED if age >= item.expires_at - item.created_at else None
    if rule.mode is Mode.DECAY and rule.ticks is not None:
        return Forgotten.DECAY if age > rule.ticks else None
    return None
