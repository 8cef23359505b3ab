"""Forgetting: extractions that kept nothing, and words of turns where a space asks for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model.job import Run
from graphmem.model.space import WITHOUT_FACTS, SpaceKind, space_from_key
from graphmem.ports import Clock
from graphmem.store.connection import Connection
from graphmem.store.forgetting import Forgetting
from graphmem.store.spaces import SpacePolicies
from graphmem.store.upkeep import Upkeep


@dataclass(frozen=True, kw_only=True)
class EmptyExtractions:
    """Extractions that kept nothing."""

    connection: Connection

    def forget(self, before: datetime, run: Run) -> int:
        """Remove those from before a time; says how many."""
        return Forgetting(connection=self.connection, run=run).older(
            "extractions.forget_empty", "extractions.count_empty_before", before=before
        )


@dataclass(frozen=True, kw_only=True)
class OldLastRecalls:
    """What sessions were told last, whose traces are forgotten."""

    connection: Connection

    def forget(self, before: datetime, run: Run) -> int:
        """Remove those from before a time; says how many."""
        return Forgetting(connection=self.connection, run=run).older(
            "last_recalls.forget", "last_recalls.count_before", before=before
        )


@dataclass(frozen=True, kw_only=True)
class SpokenWords:
    """The words of turns that were extracted and that nothing else uses; the turns stay."""

    connection: Connection
    upkeep: Upkeep
    policies: SpacePolicies
    clock: Clock

    def forget(self, run: Run) -> int:
        """Let the words of old turns go; says of how many extractions."""
        forgetting = Forgetting(connection=self.connection, run=run)
        set_apart = self.policies.spaces_with_overrides()
        own = sorted({*set_apart, *self.upkeep.personas(set_apart)})
        done = 0
        for days, where in self._parts(own):
            done += forgetting.older(
                "extractions.forget_words",
                "extractions.count_words_before",
                before=self.clock.now() - timedelta(days=days),
                **where,
            )
        return done

    def _parts(self, own: list[str]) -> Iterator[tuple[int, dict[str, object]]]:
        """The spaces that want it, each with the days: kinds by their defaults, others by name."""
        for kind in set(SpaceKind) - WITHOUT_FACTS:
            if days := self.policies.of_kind(kind).lifecycle.turn_days:
                yield days, {"space": "", "space_part": f"/{kind}:", "other_spaces": own}
        for key in own:
            if days := self.policies.of(space_from_key(key)).lifecycle.turn_days:
                yield days, {"space": key, "space_part": "", "other_spaces": []}
