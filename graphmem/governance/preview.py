"""Preview: what a contract would do to items that are present, before it holds. Pure (004)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphmem.governance.classify import is_low_signal
from graphmem.governance.contract import SPACES, Contract
from graphmem.governance.policy import ALLOWED, Attempt, write_verdict
from graphmem.governance.promotion import promotion_verdict
from graphmem.governance.retention import forgotten, with_expiry
from graphmem.model.governance import Item, ItemKind

_SHOWN = 200  # of each list; the counts have all


@dataclass(kw_only=True)
class Preview:
    """What is found of the items so far."""

    contract: Contract
    denied: list[dict[str, str]] = field(default_factory=list)
    expiring: list[dict[str, str]] = field(default_factory=list)
    promotable: list[dict[str, str]] = field(default_factory=list)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("items", "denied", "expiring", "promotable"), 0)
    )

    def look_at(self, items: Iterable[Item], now: int) -> None:
        """Look at present items of a place, whose ages are counted to ``now``."""
        for item in items:
            self.counts["items"] += 1
            verdict = write_verdict(self.contract, _attempt(item))
            if not item.is_summary and not verdict.is_allowed:
                self._note("denied", self.denied, item, verdict.reason)
            rule = self.contract.rule(item.kind, item.event_type)
            is_looked_at = item.kind is not ItemKind.SHORT_TERM and self.contract.keeps(item.kind)
            if is_looked_at and (reason := forgotten(with_expiry(item, rule), rule, now)):
                self._note("expiring", self.expiring, item, reason)
            for way in self._ways(item):
                self._note("promotable", self.promotable, item, way)

    def _ways(self, item: Item) -> Sequence[str]:
        """The spaces where an item may be promoted to."""
        if item.kind is ItemKind.SHORT_TERM:
            return []
        others = (space for space in SPACES if space is not item.space.kind)
        return [
            f"to:{space}"
            for space in others
            if promotion_verdict(self.contract, item, space, may_write=True) == ALLOWED
        ]

    def _note(self, name: str, shown: list[dict[str, str]], item: Item, reason: str) -> None:
        self.counts[name] += 1
        if len(shown) < _SHOWN:
            shown.append({"id": item.id, "reason": str(reason)})

    @property
    def view(self) -> dict[str, Any]:
        """What was found, as an answer shows it."""
        names = ("denied", "expiring", "promotable", "counts")
        return {name: getattr(self, name) for name in names}


def _attempt(item: Item) -> Attempt:
    is_tried = item.kind is ItemKind.SEMANTIC and is_low_signal(item.text)
    return Attempt(
        kind=item.kind,
        event=item.event_type,
        private=item.text,
        key=item.key,
        is_low_signal=is_tried,
    )
