"""Where a memory came from (002, provenance)."""

from dataclasses import dataclass
from enum import StrEnum


class SourceType(StrEnum):
    """The kinds of source of 002."""

    WORKFLOW_OUTPUT = "workflow_output"
    CHANNEL_TRANSCRIPT = "channel_transcript"
    INGEST_FILE = "ingest_file"
    DIAGNOSTICS = "diagnostics"
    MANUAL = "manual"


class CapturedBy(StrEnum):
    """Who put it into words."""

    EXTRACTOR = "extractor"
    USER = "user"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The source of a memory; ``key`` is its idempotency key within the space."""

    type: SourceType = SourceType.MANUAL
    path: str | None = None
    conversation_id: str | None = None
    workflow_run_id: str | None = None
    step_id: str | None = None
    captured_by: CapturedBy = CapturedBy.USER
    key: str | None = None
