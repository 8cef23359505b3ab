"""Archival: what nobody refreshed or recalled goes quiet. Pinned memories never do."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from graphmem.model.event import Reason
from graphmem.model.extraction import TYPE_OF, Category
from graphmem.model.memory import Memory, MemoryType, Status
from graphmem.model.policy import ArchivePolicy, CommitmentPolicy, UpkeepPolicy
from graphmem.model.state import Decision, GraphState
from graphmem.upkeep.batch_rules import Rule
from graphmem.upkeep.expiry import archived

# commitments, preferences and principles, decisions, in the types of the core (003, Fact archival)
PROTECTED_TYPES = frozenset({MemoryType.TODO, MemoryType.PREFERENCE, MemoryType.DECISION})
CORRECTION_TAG = "correction"
_KNOWN = frozenset(Category)
FULFILLED_TAGS = frozenset({"fulfilled", "expired"})


def has_decayed(memory: Memory, policy: CommitmentPolicy, now: datetime) -> bool:
    """Whether a commitment was not refreshed for more than some days (003, Commitment decay)."""
    return (
        memory.type is MemoryType.TODO
        and memory.status is Status.ACTIVE
        and memory.kept_by is None
        and not memory.pinned
        and now - memory.updated_at > timedelta(days=policy.days)
        and (not policy.fulfilled_only or bool(FULFILLED_TAGS & set(memory.tags)))
    )


def is_archivable(
    memory: Memory, policy: ArchivePolicy, now: datetime, *, is_correction: bool
) -> bool:
    """Whether it may go: old, unimportant, hardly recalled, of no protected kind."""
    return (
        memory.status is Status.ACTIVE
        and memory.kept_by is None
        and not memory.pinned
        and not is_correction
        and CORRECTION_TAG not in memory.tags
        and not is_protected(memory, policy.protected_categories)
        and now - memory.created_at > timedelta(days=policy.age_days)
        and memory.importance < policy.importance
        and memory.recall_count <= policy.recalls
    )


def is_protected(memory: Memory, categories: Collection[str]) -> bool:
    """Whether its category is one of those that stay; without one, whether its type is of them."""
    if memory.category in _KNOWN:
        return memory.category in categories
    return memory.type in _types_of(categories)


def _types_of(categories: Iterable[str]) -> frozenset[MemoryType]:
    """The types of the core that stand for some categories (003, Type projection)."""
    return frozenset(TYPE_OF[Category(each)] for each in categories)


def decide_decay(state: GraphState, policy: UpkeepPolicy, now: datetime) -> Decision:
    """Archive the commitments of the selection that nobody refreshed."""
    decayed = [
        memory
        for _, memory in sorted(state.memories.items())
        if has_decayed(memory, policy.commitments, now)
    ]
    return archived(state, decayed, Reason.COMMITMENT_DECAY, now=now)


def decide_archival(state: GraphState, policy: UpkeepPolicy, now: datetime) -> Decision:
    """Archive the memories of the selection that nobody needs."""
    old = [
        memory
        for key, memory in sorted(state.memories.items())
        if is_archivable(memory, policy.archive, now, is_correction=key in state.corrections)
    ]
    return archived(state, old, Reason.ARCHIVAL, now=now)


DECAY = Rule(
    query="upkeep.decayed",
    parameters=lambda policy, now: {"before": now - timedelta(days=policy.commitments.days)},
    decide=decide_decay,
    is_on=lambda policy: policy.commitments.enabled,
)
ARCHIVAL = Rule(
    query="upkeep.archivable",
    parameters=lambda policy, now: {
        "before": now - timedelta(days=policy.archive.age_days),
        "importance": policy.archive.importance,
        "recalls": policy.archive.recalls,
        "known": sorted(_KNOWN),
        "categories": list(policy.archive.protected_categories),
        "protected": sorted(_types_of(policy.archive.protected_categories)),
    },
    decide=decide_archival,
    is_on=lambda policy: policy.archive.enabled,
    with_corrections=True,
)
