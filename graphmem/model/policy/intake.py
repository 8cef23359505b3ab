"""Policy of orchestrators, set by the memory.* keys (002)."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalConfig:
    """Recalls of the typed graph; its ``rrf_k`` is ``recall.rrf.k``."""

    top_n: int = 20  # results where a request names no limit


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestConfig:
    """The ingest folder."""

    enabled: bool = True
    max_file_size_mb: int = 25  # of 1,048,576 bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopeConfig:
    """The wall between orchestrators."""

    cross_orchestrator: bool = False  # true is refused


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryConfig:
    """Orchestrator spaces (002, Configuration Additions), set by the memory.* keys."""

    enabled: bool = True
    bulletin_mode: str = "every_message"
    worker_interval_seconds: int = 30  # between two looks into the ingest folders
    retrieval: RetrievalConfig = RetrievalConfig()
    ingest: IngestConfig = IngestConfig()
    scope: ScopeConfig = ScopeConfig()
