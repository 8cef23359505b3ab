"""Summaries by rules: of what is known of an entity, and of many small memories."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.rollups import summary_text
from graphmem.gateway.workbench import Workbench
from graphmem.model.edge import LineageType
from graphmem.model.event import Effect, Event, Reason, Subject
from graphmem.model.memory import Memory
from graphmem.model.policy import ConsolidatePolicy
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.model.upkeep_rows import Foldable, Summarisable
from graphmem.store.upkeep import save_summary
from graphmem.text.normalise import comparable, shorten
from graphmem.upkeep.rollup import Rollup

ENTITY_SUMMARY_MAX_CHARS = 600
_GROWN = 1.5  # times as many facts as when it was made: a summary is made anew


def needs_summary(facts: int, summarised: int | None, policy: ConsolidatePolicy) -> bool:
    """Whether an entity gets a summary: over five facts and none, or half as many more."""
    return facts > policy.summary_facts and (summarised is None or facts >= _GROWN * summarised)


def entity_summary(facts: Iterable[str]) -> str:
    """What is known of an entity in a few words: its facts, most important first."""
    taken: list[str] = []
    room = ENTITY_SUMMARY_MAX_CHARS
    seen: set[str] = set()
    for fact in facts:
        text = shorten(fact, ENTITY_SUMMARY_MAX_CHARS).rstrip(".;")
        if comparable(text) in seen:
            continue
        room -= len(text) + 2
        if room < 0 and taken:
            break
        seen.add(comparable(text))
        taken.append(text)
    return "; ".join(taken) + "."


def plan_summaries(
    candidates: Sequence[tuple[Foldable, datetime]],
    policy: ConsolidatePolicy,
    *,
    new_uid: Callable[[], str],
) -> list[Rollup]:
    """Which small memories of a large space become one each time.

    Whole batches only, oldest first.
    """
    size = policy.summarise_batch
    batches = [
        candidates[start : start + size] for start in range(0, len(candidates) - size + 1, size)
    ]
    return [
        Rollup(
            uid=new_uid(),
            content=summary_text([(member.content, at) for member, at in batch]),
            members=tuple(member for member, _ in batch),
            lineage=LineageType.SUMMARY_OF,
            effect=Effect.SUMMARISED,
            reason=Reason.SUMMARISED,
            importance=0,
        )
        for batch in batches
    ]


def _still_says(memory: Memory | None, content: str, now: datetime) -> bool:
    return bool(memory and memory.is_current(now) and memory.content == content)


@dataclass(frozen=True, kw_only=True)
class KeepSummary(MemoryOperation[None]):
    """Keep what is known of an entity within a space, instead of what was kept before.

    ``by`` is who put it into words. Nothing is kept when a source is no longer current.
    """

    kind = "summary"

    space: Space
    entity: Summarisable
    text: str
    by: str

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that it is about."""
        return (self.space,)

    def selection(self) -> Selection:
        """The memories that say so."""
        return Selection(memories=frozenset(self.entity.sources), with_turns=False)

    def decide(self, state: GraphState, now: datetime) -> Decided[None]:
        """Keep it, if its sources still hold."""
        said = zip(self.entity.sources, self.entity.contents, strict=True)
        if not all(_still_says(state.memories.get(key), content, now) for key, content in said):
            return Decided(answer=None)
        event = Event(
            space=self.space.key,
            subject=self.entity.key,
            about=Subject.ENTITY,
            effect=Effect.SUMMARISED,
            reason=Reason.ENTITY_SUMMARY,
            detail={"by": self.by},
            counted_as="entity_summaries",
        )
        return Decided(answer=None, events=(event,), records=now)

    def apply_records(self, transaction: Workbench, decided: Decided[None]) -> None:
        """Write the summary."""
        if decided.events:
            now: datetime = decided.records
            save_summary(transaction, self.space, self.entity, self.text, by=self.by, now=now)
