"""Policy: whether an item may be written, and by which rule it was refused (004, Policy). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from graphmem.governance.contract import LASTING, SENSITIVE, Contract
from graphmem.model.governance import EventType, FactKey, ItemKind
from graphmem.model.space import SpaceKind

ALLOWED = "allowed"


class Refusal(StrEnum):
    """Why an item may not be written, in the order in which it is asked."""

    DENY_SENSITIVE = "privacy_deny_sensitive"
    DENY_PATTERN = "privacy_deny_pattern"
    DENY_PROFILE_KEY = "privacy_deny_profile_key"
    WRITE_POLICY_NONE = "write_policy_none"
    WRITE_POLICY_MINIMAL = "write_policy_minimal"
    WRITE_POLICY_CONTEXT = "write_policy_context"
    DENY_EVENT_TYPE = "policy_deny_event_type"
    DENY_PROMOTION = "policy_deny_promotion"
    LOW_SIGNAL = "policy_low_signal"


class Border(StrEnum):
    """Why a border of a space or of a phase is closed."""

    SPACE_DISABLED = "space_disabled"
    WRITE_SPACE_DISALLOWED = "write_space_disallowed"
    PHASE_DISABLED = "phase_disabled"
    PHASE_DIFF_DISABLED = "phase_diff_disabled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What is to be written. ``private`` is the text in which privacy rules look."""

    kind: ItemKind
    event: EventType
    private: str
    key: FactKey | None = None
    is_low_signal: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteVerdict:
    """Whether an item may be written: the code why not, and the rules that let it pass."""

    reason: str = ALLOWED
    tags: tuple[str, ...] = ()

    @property
    def is_allowed(self) -> bool:
        """Whether it may."""
        return self.reason == ALLOWED


def write_verdict(contract: Contract, attempt: Attempt) -> WriteVerdict:
    """Whether a contract lets an item be written; the first rule that refuses says why."""
    tags: list[str] = []
    for refusal, tag in _rules(contract, attempt):
        if refusal:
            return WriteVerdict(reason=refusal, tags=tuple(tags))
        if tag:
            tags.append(tag)
    return WriteVerdict(tags=tuple(tags))


def _rules(contract: Contract, attempt: Attempt) -> Iterable[tuple[Refusal | None, str]]:
    """Each group of rules: the code of its refusal, and the tag of what passes it."""
    yield _by_privacy(contract, attempt), "allowed_by:privacy"
    if attempt.kind is not ItemKind.SHORT_TERM:
        yield (
            _by_write_policy(contract, attempt),
            f"allowed_by:write_policy:{contract.write_policy}",
        )
    allow, deny = contract.allow_event_types, contract.deny_event_types
    is_denied = (bool(allow) and attempt.event not in allow) or attempt.event in deny
    tag = "allowed_by:policy_event_types" if allow or deny else ""
    yield (Refusal.DENY_EVENT_TYPE if is_denied else None), tag
    is_allowed = attempt.event in contract.promotion[attempt.kind]
    yield (None if is_allowed else Refusal.DENY_PROMOTION), "allowed_by:promotion_rule"
    yield (Refusal.LOW_SIGNAL if attempt.is_low_signal else None), ""


def _by_privacy(contract: Contract, attempt: Attempt) -> Refusal | None:
    if contract.deny_sensitive and _has_one_of(SENSITIVE, attempt.private):
        return Refusal.DENY_SENSITIVE
    if _has_one_of(contract.deny_patterns, attempt.private):
        return Refusal.DENY_PATTERN
    if attempt.kind is ItemKind.PROFILE and attempt.key not in contract.allow_profile_keys:
        return Refusal.DENY_PROFILE_KEY
    return None


def _by_write_policy(contract: Contract, attempt: Attempt) -> Refusal | None:
    policy = contract.write_policy
    if policy == "none":
        return Refusal.WRITE_POLICY_NONE
    if policy == "minimal" and attempt.event not in LASTING:
        return Refusal.WRITE_POLICY_MINIMAL
    is_context = attempt.event is EventType.CONTEXT and attempt.kind is ItemKind.SEMANTIC
    return Refusal.WRITE_POLICY_CONTEXT if policy == "normal" and is_context else None


def is_private(contract: Contract, text: str) -> bool:
    """Whether privacy rules of a contract keep a text out of the store."""
    attempt = Attempt(kind=ItemKind.SHORT_TERM, event=EventType.CONTEXT, private=text)
    return _by_privacy(contract, attempt) is not None


def _has_one_of(patterns: Iterable[str], text: str) -> bool:
    lower = text.lower()
    return any(pattern.lower() in lower for pattern in patterns)


def is_semantic(contract: Contract, event: EventType, *, is_low_signal: bool) -> bool:
    """Whether a text of a user is tried as a semantic item."""
    if not contract.semantic or is_low_signal:
        return False
    if contract.write_policy == "minimal":
        return event in LASTING
    return event is not EventType.CONTEXT or contract.write_policy == "aggressive"


def read_border(contract: Contract, space: SpaceKind, *, may_read: bool) -> str:
    """Whether a space may be recalled from."""
    is_open = may_read and space in contract.read_order
    return ALLOWED if is_open else Border.SPACE_DISABLED


def write_border(contract: Contract, space: SpaceKind) -> str:
    """Whether a space may be written to."""
    return ALLOWED if space in contract.write_spaces else Border.WRITE_SPACE_DISALLOWED


def phase_border(contract: Contract) -> str:
    """Whether a token may start a phase."""
    return ALLOWED if contract.phases_enabled else Border.PHASE_DISABLED


def diff_border(contract: Contract, space: SpaceKind, *, may_read: bool) -> str:
    """Whether two phases of a space may be compared."""
    if not contract.phases_enabled:
        return Border.PHASE_DISABLED
    if not contract.diff_enabled:
        return Border.PHASE_DIFF_DISABLED
    return read_border(contract, space, may_read=may_read)
