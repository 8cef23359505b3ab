"""Contract: what may be written, kept, promoted and recalled for one AI profile. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphmem.governance.retention import Mode, RetentionRule
from graphmem.model.governance import EventType, FactKey, ItemKind
from graphmem.model.memory import Authority
from graphmem.model.space import SpaceKind

WRITE_POLICIES = ("none", "minimal", "normal", "aggressive")
FORGET_POLICIES = ("decay", "ttl", "never")
# the nine words of a privacy rule, which are its default patterns too (004, Privacy rules)
SENSITIVE = (
    *("password", "secret", "token", "api key", "apikey", "credit card", "ssn"),
    *("social security", "private key"),
)
SPACES = (SpaceKind.SESSION, SpaceKind.USER, SpaceKind.PROJECT, SpaceKind.SYSTEM)
LASTING = (EventType.PREFERENCE, EventType.DECISION, EventType.FACT, EventType.CORRECTION)
CURRENT_ONLY, WITH_HISTORY = "current_only", "current_plus_history"

_TTL_TICKS = 25  # of every event type, where a policy forgets by a time
_DECAY_TICKS: Mapping[EventType, int] = {
    EventType.CONTEXT: 12,
    EventType.EXECUTION: 18,
    EventType.DECISION: 40,
    EventType.PREFERENCE: 40,
    EventType.CORRECTION: 45,
    EventType.FACT: 60,
}
Retention = Mapping[ItemKind, Mapping[EventType, RetentionRule]]


@dataclass(frozen=True, kw_only=True, slots=True)
class SpacePromotion:
    """What may go from one space to another. With ``decision_override`` decisions need less."""

    from_space: SpaceKind
    to_space: SpaceKind
    allowed_event_types: tuple[EventType, ...] = LASTING
    min_authority: Authority = Authority.USER_ASSERTED
    decision_override: bool = False

    @property
    def shown(self) -> dict[str, Any]:
        """As events show it."""
        return {
            "from_space": self.from_space.value,
            "to_space": self.to_space.value,
            "allowed_event_types": _values(self.allowed_event_types),
            "min_authority": self.min_authority.value,
            "decision_override": self.decision_override,
        }


_PROMOTIONS = (
    SpacePromotion(from_space=SpaceKind.SESSION, to_space=SpaceKind.USER),
    SpacePromotion(
        from_space=SpaceKind.SESSION,
        to_space=SpaceKind.PROJECT,
        min_authority=Authority.TOOL_VERIFIED,
        decision_override=True,
    ),
    SpacePromotion(from_space=SpaceKind.USER, to_space=SpaceKind.PROJECT),
)
_ALLOWED: Mapping[ItemKind, tuple[EventType, ...]] = {
    ItemKind.SHORT_TERM: tuple(EventType),
    ItemKind.SEMANTIC: tuple(EventType),
    ItemKind.PROFILE: (EventType.FACT, EventType.CORRECTION),
}


def default_retention(forget_policy: str) -> Retention:
    """What a forget policy says of each kind and event type."""
    return {
        kind: {
            event: _semantic_rule(forget_policy, event)
            if kind is ItemKind.SEMANTIC
            else RetentionRule()
            for event in EventType
        }
        for kind in ItemKind
    }


def _semantic_rule(forget_policy: str, event: EventType) -> RetentionRule:
    match forget_policy:
        case "decay":
            return RetentionRule(mode=Mode.DECAY, ticks=_DECAY_TICKS[event])
        case "ttl":
            return RetentionRule(mode=Mode.TTL, ticks=_TTL_TICKS)
        case _:
            return RetentionRule()


@dataclass(frozen=True, kw_only=True, slots=True)
class Contract:
    """All that is agreed for a profile; the defaults are those of the source (004, Policy).

    ``short_term`` is the number of messages that are kept, 0 none. ``keep_events_days`` says how
    long traces of its calls are kept (None: for ever). ``authority_caps`` are the highest
    authorities that items may have by the role of the key that brings them.
    """

    short_term: int = 0
    semantic: bool = False
    profile: bool = False
    semantic_top_k: int = 3
    dedupe_enabled: bool = True
    write_policy: str = "normal"
    forget_policy: str = "decay"
    allow_event_types: tuple[EventType, ...] = ()
    deny_event_types: tuple[EventType, ...] = ()
    retention: Retention = field(default_factory=lambda: default_retention("decay"))
    promotion: Mapping[ItemKind, tuple[EventType, ...]] = field(default_factory=lambda: _ALLOWED)
    deny_patterns: tuple[str, ...] = SENSITIVE
    allow_profile_keys: tuple[FactKey, ...] = tuple(FactKey)
    deny_sensitive: bool = True
    authority_order: tuple[Authority, ...] = tuple(Authority)
    read_order: tuple[SpaceKind, ...] = SPACES
    write_spaces: tuple[SpaceKind, ...] = (SpaceKind.SESSION,)
    promotions: tuple[SpacePromotion, ...] = _PROMOTIONS
    phases_enabled: bool = True
    with_history: bool = False  # whether what earlier phases hold is recalled too
    max_phases: int | None = None
    diff_enabled: bool = True
    keep_events_days: int | None = 365
    authority_caps: Mapping[str, Authority] = field(default_factory=dict)

    def rank(self, authority: Authority) -> int:
        """The place of an authority in the order; 0 is the highest."""
        return self.authority_order.index(authority)

    def rule(self, kind: ItemKind, event: EventType) -> RetentionRule:
        """How long items of a kind and event type are kept."""
        rules = self.retention.get(kind, {})
        return rules.get(event) or rules.get(EventType.CONTEXT) or RetentionRule()

    def keeps(self, kind: ItemKind) -> bool:
        """Whether items of a kind are kept at all."""
        match kind:
            case ItemKind.SHORT_TERM:
                return self.short_term > 0
            case ItemKind.SEMANTIC:
                return self.semantic
            case ItemKind.PROFILE:
                return self.profile

    def promotion_rule(self, from_space: SpaceKind, to_space: SpaceKind) -> SpacePromotion | None:
        """What may go from one space to another."""
        ends = (from_space, to_space)
        return next(
            (each for each in self.promotions if (each.from_space, each.to_space) == ends), None
        )

    @property
    def phase_mode(self) -> str:
        """What a recall reads of phases."""
        return WITH_HISTORY if self.with_history else CURRENT_ONLY

    @property
    def phase_rules(self) -> dict[str, Any]:
        """The part about phases, as events show it."""
        return {
            "enabled": self.phases_enabled,
            "mode": self.phase_mode,
            "allow_cross_phase_recall": self.with_history,
            "max_phases": self.max_phases,
            "diff_enabled": self.diff_enabled,
        }

    @property
    def snapshot(self) -> dict[str, Any]:
        """The contract as events show it: ``policy_snapshot``."""
        return {
            "write_policy": self.write_policy,
            "allow_event_types": _values(self.allow_event_types),
            "deny_event_types": _values(self.deny_event_types),
            "retention": {
                kind.value: {event.value: rule.shown for event, rule in rules.items()}
                for kind, rules in self.retention.items()
            },
            "promotion": {
                kind.value: {"allowed_event_types": _values(events)}
                for kind, events in self.promotion.items()
            },
            "privacy": {
                "deny_patterns": list(self.deny_patterns),
                "allow_profile_keys": _values(self.allow_profile_keys),
                "deny_sensitive": self.deny_sensitive,
            },
            "authority_order": _values(self.authority_order),
            "spaces": {
                "read_order": _values(self.read_order),
                "write_spaces": _values(self.write_spaces),
                "promotions": [each.shown for each in self.promotions],
            },
            "phase": self.phase_rules,
        }

    @property
    def recall_policy(self) -> dict[str, Any]:
        """The contract with what a recall asks of it: ``policy`` of a recall event."""
        return {
            "short_term": self.short_term,
            "semantic": self.semantic,
            "profile": self.profile,
            "short_term_max_turns": self.short_term,
            "short_term_token_budget": None,
            "semantic_top_k": self.semantic_top_k,
            "forget_policy": self.forget_policy,
            "dedupe_enabled": self.dedupe_enabled,
            "phase_mode": self.phase_mode,
            "allow_cross_phase_recall": self.with_history,
            "phase_enabled": self.phases_enabled,
            "phase_max_phases": self.max_phases,
            "phase_diff_enabled": self.diff_enabled,
            **self.snapshot,
        }

    @property
    def shown(self) -> dict[str, Any]:
        """The whole contract, in the form in which it is saved."""
        names = ("short_term", "semantic", "profile", "semantic_top_k", "dedupe_enabled")
        return {
            **{name: getattr(self, name) for name in names},
            "forget_policy": self.forget_policy,
            **self.snapshot,
            "keep_events_days": self.keep_events_days,
            "authority_caps": {role: cap.value for role, cap in self.authority_caps.items()},
        }


def _values(words: Sequence[Any]) -> list[str]:
    return [word.value for word in words]
