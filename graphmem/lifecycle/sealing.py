"""Sealing: a box is closed without new memories: by hand, by a flush, or after a long pause."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle.boxes import is_quiet, sealed, traced
from graphmem.lifecycle.noting import sealed_event
from graphmem.model.notebook import Box, SealReason
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.boxes import OpenBox, open_box_of, save_boxes
from graphmem.store.notebooks import lock_notebook


@dataclass(frozen=True, kw_only=True)
class SealBox(Operation[OpenBox, Box | None]):
    """Seal the open box of a space; for a time gap only if the gap is long enough.

    The answer is None where there is nothing to seal.
    """

    kind = TraceKind.NOTEBOOK

    space: Space
    reason: SealReason
    config: LifecycleConfig

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the box."""
        return (self.space,)

    def read(self, transaction: Workbench) -> OpenBox:
        """The open box, and the traces that it may join."""
        lock_notebook(transaction, self.space)
        days = self.config.trace_weaver_lookback_days
        return open_box_of(transaction, self.space, transaction.now, days=days)

    def decide(self, state: OpenBox, now: datetime) -> Decided[Box | None]:
        """Seal it, with its trace where these are kept."""
        box = state.box
        is_early = self.reason is SealReason.TIME_GAP and not (
            box and is_quiet(box, self.config, now)
        )
        if box is None or is_early:
            return Decided(answer=None)
        closed = sealed(box, self.reason, now)
        if self.config.trace_weaver_enabled:
            closed, _ = traced(closed, state.traces, self.config)
        return Decided(answer=closed, events=(sealed_event(closed),))

    def apply(self, transaction: Workbench, decided: Decided[Box | None]) -> None:
        """Write that it is sealed."""
        if decided.answer:
            save_boxes(transaction, [decided.answer], frozenset())
