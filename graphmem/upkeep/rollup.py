"""Rollup: several memories become one that says what they say.

They are archived, and the lineage is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from graphmem.errors import ModelUnavailable
from graphmem.gateway.draft import Draft
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.indexing import texts_to_embed
from graphmem.gateway.job_step import JobStep
from graphmem.gateway.rollups import combined_entities, combined_tags, roll_up
from graphmem.gateway.tracing import effect
from graphmem.model.edge import LineageType
from graphmem.model.event import Effect, Reason
from graphmem.model.job import Run
from graphmem.model.memory import Authority, Memory, MemoryType, Status
from graphmem.model.policy import IndexPolicy, WritePolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.upkeep_rows import Foldable
from graphmem.ports import Embedder, Vector
from graphmem.text.normalise import shorten

_WRITE = WritePolicy()


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollup:
    """Memories, in the versions that were read, that are to become one.

    ``by`` is who put it into words.
    """

    uid: str
    content: str
    members: tuple[Foldable, ...]
    lineage: LineageType
    effect: Effect  # folded, summarised
    reason: Reason  # why the members are archived
    importance: int
    by: str = "rules"

    def in_words(self, content: str, *, by: str) -> "Rollup":
        """The same in somebody's words."""
        return replace(self, content=content, by=by)


def decide_rollup(
    state: GraphState, *, rollup: Rollup, now: datetime, has_vectors: bool
) -> Decision:
    """Make one memory of several and archive these, unless one changed meanwhile."""
    draft = Draft(before=state, now=now)
    versions = {member.key: member.version for member in rollup.members}
    members = [state.memories[key] for key in versions if key in state.memories]
    if len(members) < len(versions) or any(
        not may_roll_up(memory) or memory.version != versions[memory.key] for memory in members
    ):
        return draft.decision()
    made = _made(rollup, members, now, has_vectors=has_vectors)
    archived = roll_up(draft, made, members, lineage=rollup.lineage, reason=rollup.reason)
    uids = [memory.uid for memory in members]
    folded = effect(made, rollup.effect, rollup.reason, members=uids, by=rollup.by)
    return draft.decision(events=[folded, *archived])


def may_roll_up(memory: Memory) -> bool:
    """Whether another can say all that it says: no interval, no key, no uid, no episode."""
    has_limits = (memory.expires_at, memory.valid_from, memory.valid_until, memory.logical_key)
    return (
        memory.status is Status.ACTIVE
        and memory.kept_by is None
        and not memory.pinned
        and not any(has_limits)
        and not memory.is_episode
        and memory.has_made_uid
    )


class RollupWriter:
    """Carries gatherings out: the text is embedded first, then all is done in one transaction."""

    def __init__(self, gateway: Gateway, *, embedder: Embedder, index: IndexPolicy) -> None:
        self._gateway = gateway
        self._embedder = embedder
        self._index = index

    def write(self, rollup: Rollup, run: Run, now: datetime) -> None:
        """Make one memory of several, unless one of them changed since it was read."""
        vectors = {} if run.dry_run else self.vectors([rollup.content])
        self._gateway.execute(
            JobStep(
                selected=Selection(memories=frozenset(member.key for member in rollup.members)),
                decider=partial(decide_rollup, rollup=rollup, now=now, has_vectors=bool(vectors)),
                vectors=dict(enumerate(vectors.values())),
            ),
            run,
        )

    def vectors(self, contents: Sequence[str]) -> dict[str, Sequence[Vector]]:
        """The vectors of contents; none while the model is silent: they are made later."""
        try:
            return {
                content: self._embedder.embed(texts_to_embed(content, None, self._index))
                for content in contents
            }
        except ModelUnavailable:
            return {}


def _made(rollup: Rollup, members: Sequence[Memory], now: datetime, *, has_vectors: bool) -> Memory:
    return Memory(
        uid=rollup.uid,
        space=members[0].space,
        type=MemoryType.FACT,
        actor=members[0].actor if len({memory.actor for memory in members}) == 1 else None,
        content=rollup.content,
        summary=shorten(rollup.content, _WRITE.summary_max_chars),
        importance=max(rollup.importance, *(memory.importance for memory in members)),
        confidence=min(memory.confidence for memory in members),
        entities=combined_entities(members),
        tags=combined_tags(members),
        source=Source(type=SourceType.MANUAL, captured_by=CapturedBy.SYSTEM),
        authority=Authority.AI_INFERRED,
        mention_count=sum(memory.mention_count for memory in members),
        created_at=now,
        updated_at=now,
        embedded=has_vectors,
        claims_content=False,
    )
