"""Conflict: which of two items that say something of the same stays (004, Conflict). Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from graphmem.governance.contract import Contract
from graphmem.model.governance import EventType, Item
from graphmem.model.memory import Authority


class Rule(StrEnum):
    """What decided it."""

    AUTHORITY = "authority"
    CORRECTION = "correction"
    RECENCY = "recency"
    IMPORTANCE = "importance"


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """What stays, what leaves, and by which rule."""

    winner: Item
    loser: Item
    rule: Rule

    @property
    def explanation(self) -> dict[str, Any]:
        """What both were like, as the event shows it."""
        winner, loser = self.winner, self.loser

        def both(name: str) -> dict[str, Any]:
            return {"winner": getattr(winner, name), "loser": getattr(loser, name)}

        return {
            "rule": self.rule.value,
            "authority": {name: value.value for name, value in both("authority").items()},
            "event_type": {name: value.value for name, value in both("event_type").items()},
            "recency": {
                "winner_created_at": winner.created_at,
                "loser_created_at": loser.created_at,
            },
            "importance": both("importance"),
        }


def resolved(existing: Item, incoming: Item, contract: Contract) -> Resolution:
    """Which of two stays: by authority, correction, recency, importance, and the larger id.

    A correction that a user or somebody higher makes overrides an authority at least its own.
    """
    ranks = contract.rank(existing.authority), contract.rank(incoming.authority)
    if ranks[0] != ranks[1] and not _overrides(existing, incoming, contract):
        return _resolution(existing, incoming, Rule.AUTHORITY, incoming_wins=ranks[1] < ranks[0])
    corrects = _is_correction(existing), _is_correction(incoming)
    if corrects[0] != corrects[1]:
        return _resolution(existing, incoming, Rule.CORRECTION, incoming_wins=corrects[1])
    if existing.created_at != incoming.created_at:
        is_later = incoming.created_at > existing.created_at
        return _resolution(existing, incoming, Rule.RECENCY, incoming_wins=is_later)
    ours, theirs = (incoming.importance, incoming.id), (existing.importance, existing.id)
    return _resolution(existing, incoming, Rule.IMPORTANCE, incoming_wins=ours > theirs)


def _overrides(existing: Item, incoming: Item, contract: Contract) -> bool:
    rank = contract.rank(incoming.authority)
    return (
        _is_correction(incoming)
        and rank <= contract.rank(Authority.USER_ASSERTED)
        and contract.rank(existing.authority) <= rank
    )


def _is_correction(item: Item) -> bool:
    return item.event_type is EventType.CORRECTION


def _resolution(existing: Item, incoming: Item, rule: Rule, *, incoming_wins: bool) -> Resolution:
    winner, loser = (incoming, existing) if incoming_wins else (existing, incoming)
    return Resolution(winner=winner, loser=loser, rule=rule)
