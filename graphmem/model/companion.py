"""Companion: personas, messages in sessions, and what is kept of a user in the words of 001."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.model.space import Space

ROOM = "companion"  # what its memories and its conversation are kept by
CONVERSATION = "companion"  # the id of the conversation that its messages are turns of


class FactKind(StrEnum):
    """What a memory is about (001, Memory Types)."""

    PROFILE = "PROFILE"
    PEOPLE = "PEOPLE"
    PROJECT = "PROJECT"


class EntityKind(StrEnum):
    """What a memory's entity is (001, subtype)."""

    PERSON = "person"
    PLACE = "place"
    ORG = "org"
    PROJECT = "project"


class FactType(StrEnum):
    """What is said of the entity (001, subtype)."""

    FACT = "fact"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    FRICTION = "friction"
    HABIT = "habit"


class FactSource(StrEnum):
    """Where a memory came from (001, source)."""

    SHADOW_EXTRACTION = "shadow_extraction"  # the judge, from what the user said
    SEEDED_PROFILE = "seeded_profile"  # the initial profile
    CURATED_FOLD = "curated_fold"  # the curator, from several


class FactStatus(StrEnum):
    """Whether a memory is retrieved (001, status)."""

    ACTIVE = "ACTIVE"
    ARCHIVED = "ARCHIVED"


class TodoKind(StrEnum):
    """What kind of open loop a todo is."""

    COMMITMENT = "COMMITMENT"
    HABIT = "HABIT"
    THREAD = "THREAD"
    FRICTION = "FRICTION"


class TodoStatus(StrEnum):
    """What became of a todo."""

    PENDING = "PENDING"
    COMPLETED = "COMPLETED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subtype:
    """What a memory says of what; either may be missing."""

    entity_type: EntityKind | None = None
    fact_type: FactType | None = None

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.entity_type or self.fact_type)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFact:
    """A memory that is to be kept, in its normal form; importance is 0 to 3."""

    kind: FactKind
    content: str
    subtype: Subtype = field(default_factory=Subtype)
    entity_refs: tuple[str, ...] = ()
    entity_label: str | None = None
    importance: int = 1
    pinned: bool = False
    confidence: float | None = None
    source: FactSource = FactSource.SHADOW_EXTRACTION


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTodo:
    """A todo that is to be kept; its signature is what it is known by among those of its kind."""

    kind: TodoKind
    content: str
    dedupe_key: str | None = None
    signature: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A memory as it is kept, in the words of 001. ``persona`` None: all personas see it."""

    uid: str
    user: str
    kind: FactKind
    content: str
    memory_key: str
    created_at: datetime
    updated_at: datetime
    persona: str | None = None
    subtype: Subtype = field(default_factory=Subtype)
    entity_refs: tuple[str, ...] = ()
    entity_label: str | None = None
    importance: int = 1
    pinned: bool = False
    source: FactSource = FactSource.SHADOW_EXTRACTION
    status: FactStatus = FactStatus.ACTIVE
    confidence: float | None = None
    mention_count: int = 1
    archived_at: datetime | None = None
    archive_reason: str | None = None
    folded_from: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Todo:
    """A todo as it is kept. ``completed_at`` is when it was completed."""

    uid: str
    user: str
    persona: str
    kind: TodoKind
    content: str
    status: TodoStatus
    created_at: datetime
    dedupe_key: str | None = None
    completed_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """Who speaks with users, and how; ``enable_spine``: whether long summaries are made."""

    tenant: str
    slug: str
    name: str
    prompt: str = ""
    enable_spine: bool = True
    is_active: bool = True
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def key(self) -> str:
        """The unique key of the node: ``tenant|slug``."""
        return persona_key(self.tenant, self.slug)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompanionUser:
    """A user whom a companion knows, in the space ``user:<id>``."""

    space: Space
    email: str | None = None
    seed: str | None = None  # what an operator wrote of him
    spine_messages: int = 0  # since the last version of his spine
    spine_version: int = 0
    overrides: Mapping[str, str] = field(default_factory=dict)  # what variants of refs mean
    created_at: datetime | None = None
    updated_at: datetime | None = None
    seeded_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RollingError:
    """Why the last rolling summary was not made."""

    reason: str
    detail: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CuratorState:
    """When the curator last looked after a user, and how many memories there were."""

    last_run_at: datetime
    last_memory_count_at_run: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionState:
    """What lasts of a user with a persona across sessions. Only user messages are counted.

    ``last_user_message`` is cut; it was said at ``last_user_at``. ``rolled_count`` is how many
    messages there were when a rolling summary was last tried.
    """

    space: Space
    message_count: int = 0
    last_interaction: datetime | None = None
    last_user_message: str | None = None
    last_user_at: datetime | None = None
    curator: CuratorState | None = None
    last_rolling_attempt_at: datetime | None = None
    last_rolling_success_at: datetime | None = None
    last_rolling_error: RollingError | None = None
    rolling_summary: str | None = None
    rolled_count: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """Messages of a user with a persona that follow each other, by their times."""

    uid: str
    space: Space
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None = None
    turn_count: int = 0

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return f"{self.space.key}|{self.uid}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryText:
    """What a session was about (001, SessionSummary)."""

    one_liner: str
    what_mattered: tuple[str, ...] = ()
    open_loops: tuple[str, ...] = ()
    commitments: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    tone: str = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionSummary:
    """The summary of a session, and how it was made."""

    session: str
    text: SummaryText
    created_at: datetime
    model: str = "rules"
    parse_error: bool = False
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What a user or a persona said, as judges and summaries read it."""

    uid: str
    is_user: bool
    content: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class RollingSummary:
    """What a user with a persona had lately spoken of, at one time."""

    uid: str
    space: Space
    text: str
    created_at: datetime
    model: str = "rules"


@dataclass(frozen=True, kw_only=True, slots=True)
class SpineLine:
    """A line of the long summary, and the memory or todo that it rests on.

    ``persona`` None: all personas see it.
    """

    text: str
    uid: str
    persona: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Spine:
    """The long summary of a user: lines of each section, by version."""

    space: Space
    version: int
    sections: Mapping[str, tuple[SpineLine, ...]]
    message_count: int  # user messages since the version before
    created_at: datetime


def persona_key(tenant: str, slug: str) -> str:
    """The unique key of a persona: its slug counts only within its tenant."""
    return f"{tenant}|{slug}"
