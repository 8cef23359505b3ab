"""Note reconsolidation: the step of a pass that lets newer notes replace older ones (003)."""

from dataclasses import dataclass
from functools import partial

from graphmem.gateway.claims import claims_of
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.lifecycle.reconsolidation import conflicts_of, decide_reconsolidation
from graphmem.model.job import Run
from graphmem.model.state import Selection
from graphmem.store.memories import Memories
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep.consolidation import DueSpace

_NEWEST, _OTHERS = 100, 20  # notes that are looked at, and others beside each


@dataclass(frozen=True, kw_only=True)
class NoteReconsolidation:
    """Looks at the newest notes of spaces that tell episodes from notes."""

    upkeep: Upkeep
    memories: Memories
    gateway: Gateway
    policies: SpacePolicies

    def run(self, due: DueSpace, run: Run) -> None:
        """Let newer notes of a space supersede older ones."""
        space, now = due.space, due.now
        if not self.policies.of(space).lifecycle.episode_note_mode_enabled:
            return
        keys = self.upkeep.conflicting(space.key, newest=_NEWEST, others=_OTHERS)
        notes = self.memories.by_key(keys)
        named = {each.key: each for pair in conflicts_of(notes.values()) for each in pair}
        if not named:
            return
        self.gateway.execute(
            JobStep(
                selected=Selection(
                    memories=frozenset(named), claims=claims_of(list(named.values()))
                ),
                decider=partial(
                    decide_reconsolidation,
                    versions={key: each.version for key, each in named.items()},
                    now=now,
                ),
            ),
            run,
        )
