"""Events: what a call says of each thing that it did, with exactly the fields of 004. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from graphmem.governance.conflict import Resolution
from graphmem.governance.contract import Contract
from graphmem.governance.phases import PhaseDiff
from graphmem.governance.policy import ALLOWED, WriteVerdict
from graphmem.governance.retention import Forgotten
from graphmem.model.governance import SCOPE, Gone, Item, Phase, phase_id
from graphmem.model.space import Space, SpaceKind

TRACE_VERSION = "2024-10-01"
REDACTED = "(redacted)"
_HIDDEN = ("key", "secret", "token", "password", "authorization")
_TEXT_MAX_CHARS = 200
_CUT = "... (truncated)"

Event = dict[str, Any]


class EventKind(StrEnum):
    """The eleven events of 004."""

    RECALL = "memory_recall"
    WRITE = "memory_write"
    DENIED = "memory_denied"
    CONFLICT = "memory_conflict"
    FORGET = "memory_forget"
    BORDER = "memory_border_check"
    PROMOTED = "memory_promoted"
    PROMOTION_DENIED = "memory_promotion_denied"
    PHASE_STARTED = "memory_phase_started"
    DELETED = "memory_deleted"
    PHASE_DIFF = "memory_phase_diff"


class Action(StrEnum):
    """What a border is asked for."""

    READ = "read"
    WRITE = "write"
    PROMOTE = "promote"
    PHASE_START = "phase_start"
    PHASE_DIFF = "phase_diff"


_OF_PHASES = frozenset({Action.PHASE_START, Action.PHASE_DIFF})


def redacted(text: str) -> str:
    """A text as events show it: one line, hidden where it may hold a secret, at most 200 long."""
    line = " ".join(text.split())
    lower = line.lower()
    if any(word in lower for word in _HIDDEN):
        return REDACTED
    return line if len(line) <= _TEXT_MAX_CHARS else line[:_TEXT_MAX_CHARS] + _CUT


def item_view(
    item: Item,
    *,
    text: str | None = None,
    tags: Sequence[str] | None = None,
    **more: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """An item in the form of 004; ``more`` are further fields of its ``meta``."""
    return {
        "id": item.id,
        "kind": item.kind.value,
        "text": item.text if text is None else text,
        "source": item.source.value,
        "created_at": item.created_at,
        "importance": item.importance,
        "scope": SCOPE,
        "meta": _meta(item, tags) | more,
    }


def _meta(item: Item, tags: Sequence[str] | None) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "event_type": item.event_type.value,
        "importance_reason": list(item.importance_reason),
        "dedup_key": item.dedup_key,
        "authority": item.authority.value,
        "authority_reason": item.authority_reason,
        "space": item.space.kind.value,
        "owner": item.space.owner,
        **item.phase.shown,
    }
    policy_tags = item.policy_tags if tags is None else tags
    optional: dict[str, Any] = {
        "key": item.key and item.key.value,
        "source_turn_ids": list(item.source_turn_ids),
        "summary_of": list(item.summary_of),
        "promotion_target": item.promotion_target and item.promotion_target.value,
        "promotion_reason": item.promotion_reason,
        "promoted_from": item.promoted_from,
        "policy_tags": list(policy_tags or ()),
        "expires_at": item.expires_at,
    }
    return meta | {name: value for name, value in optional.items() if value not in (None, [])}


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """An item that came back, and why; ``score`` only of semantic ones."""

    item: Item
    reasons: tuple[str, ...]
    score: int | None = None
    is_kept_by_rule: bool = False  # whether its retention rule is not never

    @property
    def view(self) -> dict[str, Any]:
        """The item with what the recall says of it."""
        return self._view(None)

    @property
    def event_view(self) -> dict[str, Any]:
        """The same as events show it."""
        return self._view(redacted(self.item.text))

    def _view(self, text: str | None) -> dict[str, Any]:
        tags = (*(self.item.policy_tags or ()), "kept_by:retention_rule")
        scored: dict[str, Any] = {} if self.score is None else {"score": self.score}
        reasons = [*self.reasons, f"space:{self.item.space.kind}"]
        return item_view(
            self.item,
            text=text,
            tags=tags if self.is_kept_by_rule else None,
            **scored,
            recall_reason=reasons,
        )


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What all events of a call share."""

    profile: str
    session: str
    contract: Contract

    def event(self, kind: EventKind, **fields: Any) -> Event:  # noqa: ANN401
        """An event; a field that is None is left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        return {
            "type": kind.value,
            "trace_version": TRACE_VERSION,
            "ai_profile": self.profile,
            "session": self.session,
            **given,
        }

    @cached_property
    def snapshot(self) -> Mapping[str, Any]:
        """The contract, as most events show it."""
        return self.contract.snapshot

    @cached_property
    def phase_snapshot(self) -> Mapping[str, Any]:
        """Its part about phases, as events about these show it."""
        return {"phase": self.contract.phase_rules}

    def recall(
        self,
        query: str,
        recalled: Sequence[Recalled],
        consulted: Sequence[SpaceKind],
        phases: Mapping[SpaceKind, Phase],
    ) -> Event:
        """What a recall gave; ``phases`` are the present ones of the spaces that have some."""
        of_spaces = {
            space: [r.item for r in recalled if r.item.space.kind is space] for space in consulted
        }
        session = phases.get(SpaceKind.SESSION)
        return self.event(
            EventKind.RECALL,
            query=redacted(query),
            recalled=[each.event_view for each in recalled],
            policy=self.contract.recall_policy,
            deterministic_hash=deterministic_hash([each.item for each in recalled]),
            spaces_consulted=[space.value for space in consulted],
            recall_counts={space.value: len(items) for space, items in of_spaces.items()},
            phase_counts={
                space.value: _by_phase(items)
                for space, items in of_spaces.items()
                if space in phases
            },
            current_phase=session.shown | {"phase_index": session.index} if session else None,
        )

    def write(self, written: Sequence[Item]) -> Event:
        """What a call stored."""
        return self.event(
            EventKind.WRITE,
            written=[item_view(item, text=redacted(item.text)) for item in written],
            reason="interaction_recorded",
        )

    def border(
        self,
        action: Action,
        space: SpaceKind,
        reason: str,
        *,
        to: SpaceKind | None = None,
        subject: Item | None = None,
    ) -> Event:
        """Whether a border was open."""
        is_of_phases = action in _OF_PHASES
        return self.event(
            EventKind.BORDER,
            action=action.value,
            from_space=space.value,
            to_space=to and to.value,
            allowed=reason == ALLOWED,
            reason=str(reason),
            subject_id=subject and subject.id,
            policy_snapshot=self.phase_snapshot if is_of_phases else self.snapshot,
        )

    def denied(self, attempted: Item, verdict: WriteVerdict) -> Event:
        """An item that may not be stored."""
        return self.event(
            EventKind.DENIED,
            attempted=item_view(attempted, text=redacted(attempted.text), tags=()),
            reason=str(verdict.reason),
            policy_snapshot=self.snapshot,
            explanation={
                "allowed": False,
                "reason": str(verdict.reason),
                "tags": list(verdict.tags),
                "kind": attempted.kind.value,
                "event_type": attempted.event_type.value,
            },
        )

    def conflict(self, resolution: Resolution) -> Event:
        """Which of two items stays."""
        return self.event(
            EventKind.CONFLICT,
            winner_id=resolution.winner.id,
            loser_id=resolution.loser.id,
            rule=resolution.rule.value,
            dedup_key=resolution.winner.dedup_key,
            explanation=resolution.explanation,
        )

    def forget(self, item: Item, reason: Forgotten) -> Event:
        """An item whose time has passed."""
        return self.event(
            EventKind.FORGET,
            memory_id=item.id,
            reason=reason.value,
            policy_snapshot=self.snapshot,
            explanation={
                "reason": reason.value,
                "kind": item.kind.value,
                "event_type": item.event_type.value,
                "authority": item.authority.value,
            },
        )

    def deleted(
        self, item: Item, reason: Gone, phase: Phase | None, replaced_by: str | None = None
    ) -> Event:
        """An item that left; ``phase`` is the present one of its space."""
        return self.event(
            EventKind.DELETED,
            space=item.space.kind.value,
            owner=item.space.owner,
            phase_id=(phase or item.phase).id,
            memory_id=item.id,
            reason=reason.value,
            policy_snapshot=self.phase_snapshot,
            replaced_by=replaced_by,
        )

    def phase_started(self, space: Space, phase: Phase) -> Event:
        """A phase of a space began."""
        return self.event(
            EventKind.PHASE_STARTED,
            space=space.kind.value,
            owner=space.owner,
            phase_id=phase.id,
            phase_name=phase.name,
            reason=phase.reason,
            policy_snapshot=self.phase_snapshot,
        )

    def phase_diff(self, space: Space, before: str, after: str, diff: PhaseDiff) -> Event:
        """What two phases differ in."""
        return self.event(
            EventKind.PHASE_DIFF,
            space=space.kind.value,
            owner=space.owner,
            from_phase_id=before,
            to_phase_id=after,
            **diff.shown,
        )

    def promoted(self, source: Item, copy: Item) -> Event:
        """An item that went to another space."""
        return self.event(
            EventKind.PROMOTED,
            from_space=source.space.kind.value,
            to_space=copy.space.kind.value,
            from_id=source.id,
            to_id=copy.id,
            authority_used=source.authority.value,
            reason=copy.promotion_reason,
            policy_snapshot=self.snapshot,
        )

    def promotion_denied(self, item: Item, target: SpaceKind, reason: str) -> Event:
        """An item that may not go to another space."""
        return self.event(
            EventKind.PROMOTION_DENIED,
            from_space=item.space.kind.value,
            to_space=target.value,
            memory_id=item.id,
            allowed=False,
            reason=str(reason),
            policy_snapshot=self.snapshot,
        )


def deterministic_hash(items: Sequence[Item]) -> str:
    """What stands for the items of a recall in their order."""
    joined = "|".join(f"{item.kind}:{item.id}" for item in items)
    return hashlib.sha256(joined.encode()).hexdigest()


def _by_phase(items: Sequence[Item]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in sorted(items, key=lambda each: each.phase.index):
        counts[phase_id(item.phase.index)] = counts.get(phase_id(item.phase.index), 0) + 1
    return counts
