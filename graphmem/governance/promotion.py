"""Promotion: where a user asks to be remembered, and what may go there. Pure (004)."""

from dataclasses import dataclass
from enum import StrEnum

from graphmem.governance.contract import Contract
from graphmem.governance.policy import ALLOWED
from graphmem.model.governance import EventType, Item
from graphmem.model.memory import Authority
from graphmem.model.space import SpaceKind

_HINTS = (
    ("remember this for me", SpaceKind.USER, "remember_for_me"),
    ("remember this about me", SpaceKind.USER, "remember_about_me"),
    ("save this for me", SpaceKind.USER, "save_for_me"),
    ("remember this for the project", SpaceKind.PROJECT, "remember_for_project"),
    ("remember this for my project", SpaceKind.PROJECT, "remember_for_project"),
    ("remember this for our project", SpaceKind.PROJECT, "remember_for_project"),
    ("project memory", SpaceKind.PROJECT, "project_memory"),
    ("remember this for everyone", SpaceKind.SYSTEM, "remember_for_everyone"),
    ("remember this for the system", SpaceKind.SYSTEM, "remember_for_system"),
    ("system memory", SpaceKind.SYSTEM, "system_memory"),
)


class PromotionRefusal(StrEnum):
    """Why an item may not go to another space, in the order in which it is asked."""

    DISALLOWED = "promotion_disallowed"
    EVENT_TYPE = "promotion_event_type"
    AUTHORITY = "promotion_authority"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """Where a text asks to be remembered, and the code of how it says so."""

    target: SpaceKind
    reason: str


def promotion_hint(text: str) -> Hint | None:
    """Where a text of a user asks to be remembered; the first phrase of the list that it has."""
    lower = text.lower()
    return next(
        (
            Hint(target=target, reason=f"hint:{code}")
            for phrase, target, code in _HINTS
            if phrase in lower
        ),
        None,
    )


def promotion_verdict(contract: Contract, item: Item, target: SpaceKind, *, may_write: bool) -> str:
    """Whether an item may go to a space: ``allowed``, else the code why not."""
    rule = contract.promotion_rule(item.space.kind, target)
    if rule is None or not may_write:
        return PromotionRefusal.DISALLOWED
    if item.event_type not in rule.allowed_event_types:
        return PromotionRefusal.EVENT_TYPE
    is_eased = rule.decision_override and item.event_type is EventType.DECISION
    least = Authority.USER_ASSERTED if is_eased else rule.min_authority
    is_enough = contract.rank(item.authority) <= contract.rank(least)
    return ALLOWED if is_enough else PromotionRefusal.AUTHORITY
