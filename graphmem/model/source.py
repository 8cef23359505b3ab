"""Where a memory came from (002, provenance)."""

from dataclasses import dataclass, field
from datetime import datetime
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
    """A source of a memory; ``key`` is its idempotency key within the space.

    ``at`` is when it first said the memory, None for the first source, which made it. ``digest``
    stands for what it said last; it is known while that is written, exported and imported.
    """

    type: SourceType = SourceType.MANUAL
    path: str | None = None
    conversation_id: str | None = None
    workflow_run_id: str | None = None
    step_id: str | None = None
    captured_by: CapturedBy = CapturedBy.USER
    key: str | None = None
    at: datetime | None = field(default=None, compare=False)
    digest: str | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """What it is known by among the sources of a memory: its key, else all of its fields."""
        if self.key:
            return f"key|{self.key}"
        ids = (self.path, self.conversation_id, self.workflow_run_id, self.step_id)
        return "|".join((self.type, self.captured_by, *(each or "" for each in ids)))
