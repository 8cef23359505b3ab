"""Job step: one batch of what a job changes, as an operation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection


@dataclass(frozen=True, kw_only=True)
class JobStep(MemoryOperation[Decision]):
    """Let a pure decider change the memories that a job selected."""

    kind = "job"

    selected: Selection
    decider: Callable[[GraphState], Decision]

    @property
    def spaces(self) -> Sequence[Space]:
        """None: jobs need no authorisation."""
        return ()

    def selection(self) -> Selection:
        """What was selected."""
        return self.selected

    def decide(self, state: GraphState, now: datetime) -> Decided[Decision]:  # noqa: ARG002
        """What the decider decides, as of the time that the job began."""
        decision = self.decider(state)
        return Decided(answer=decision, events=decision.events, memories=decision)
