"""Policy: the named numbers that tune behaviour, a section a room.

Rankers and deciders take them as arguments. Rules of values stand beside them (``rules``); what may
be set where is ``layers``; how values are replaced, ``overrides``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphmem.model.policy.companion import CompanionPolicy
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.policy.intake import IngestConfig, MemoryConfig, RetrievalConfig, ScopeConfig
from graphmem.model.policy.lifecycle import LifecycleConfig
from graphmem.model.policy.recall import (
    BlendPolicy,
    CardPolicy,
    FusedPolicy,
    GraphPolicy,
    LifecyclePolicy,
    PlanPolicy,
    RecallPolicy,
    RrfPolicy,
)
from graphmem.model.policy.upkeep import (
    ArchivePolicy,
    CommitmentPolicy,
    ConsolidatePolicy,
    ContradictionPolicy,
    CuratePolicy,
    SpeculativePolicy,
    UpkeepPolicy,
)
from graphmem.model.policy.write import (
    EntityPolicy,
    IndexPolicy,
    ScreeningPolicy,
    WritePolicy,
)

__all__ = [
    "ArchivePolicy",
    "BlendPolicy",
    "CardPolicy",
    "CommitmentPolicy",
    "CompanionPolicy",
    "ConsolidatePolicy",
    "ContradictionPolicy",
    "CorpusPolicy",
    "CuratePolicy",
    "EntityPolicy",
    "FusedPolicy",
    "GraphPolicy",
    "IndexPolicy",
    "IngestConfig",
    "LifecycleConfig",
    "LifecyclePolicy",
    "MemoryConfig",
    "PlanPolicy",
    "Policy",
    "RecallPolicy",
    "RetrievalConfig",
    "RrfPolicy",
    "ScopeConfig",
    "ScreeningPolicy",
    "SpeculativePolicy",
    "UpkeepPolicy",
    "WritePolicy",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """All of it. ``rooms`` are the sections of rooms that are added from outside, by name."""

    write: WritePolicy = field(default_factory=WritePolicy)
    screening: ScreeningPolicy = field(default_factory=ScreeningPolicy)
    index: IndexPolicy = field(default_factory=IndexPolicy)
    recall: RecallPolicy = field(default_factory=RecallPolicy)
    upkeep: UpkeepPolicy = field(default_factory=UpkeepPolicy)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    entities: EntityPolicy = field(default_factory=EntityPolicy)
    lifecycle: LifecycleConfig = field(default_factory=LifecycleConfig)
    companion: CompanionPolicy = field(default_factory=CompanionPolicy)
    corpus: CorpusPolicy = field(default_factory=CorpusPolicy)
    rooms: Mapping[str, Any] = field(default_factory=dict)
