"""What goes into the gateway and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.errors import GraphmemError
from graphmem.model.conversation import Saying
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Authority, Memory, MemoryType, Status
from graphmem.model.source import Source

ROLLED_BACK = "rolled_back"  # the code of what another item of its batch took with it


class Dedupe(StrEnum):
    """Whether equal content in the space reinforces what is there."""

    CONTENT = "content"
    NONE = "none"


class OnSameKey(StrEnum):
    """What a write with a known logical key does."""

    REVISE = "revise"
    SUPERSEDE = "supersede"
    KEEP = "keep"
    UNITE = "unite"  # 001: joined in place


class Outcome(StrEnum):
    """What a write became."""

    CREATED = "created"
    REINFORCED = "reinforced"
    REVISED = "revised"
    SUPERSEDED = "superseded"
    SUPERSEDED_BY_NEWER = "superseded_by_newer"  # a value that lies before the present one
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteRequest:
    """One memory to be written.

    ``given`` names the fields that the caller set: a revision changes only those, so an update
    never loses what it does not speak of. What another system kept brings its own ``status`` and
    times of recording along; an empty ``status_reason`` is one that nobody gave. ``proposed_uid``
    is what a new memory is called; unlike ``uid`` it says nothing of which memory is meant.
    ``native`` and ``kept_by`` are set by rooms alone. ``claims_content`` says whether equal content
    reinforces it; None: where it has no uid of its own. One that ``upserts`` writes its status,
    time and content over a memory of its uid, also over a superseded one (002, Storage). ``said``
    is what its turn says, where that is not its content.
    """

    space: str
    content: str
    type: MemoryType = MemoryType.FACT
    uid: str | None = None
    dedupe: Dedupe = Dedupe.CONTENT
    summary: str | None = None
    actor: str | None = None
    context: str | None = None
    importance: int = 50
    confidence: float = 0.8
    entities: tuple[EntityRef, ...] = ()
    logical_key: str | None = None
    on_same_key: OnSameKey = OnSameKey.REVISE
    updates: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    caused_by: tuple[str, ...] = ()
    part_of: tuple[str, ...] = ()
    after: str | None = None
    source: Source = field(default_factory=Source)
    sources: tuple[Source, ...] = ()  # further ones, of what another system kept
    authority: Authority = Authority.USER_ASSERTED
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    embedding: tuple[float, ...] | None = None
    proposed_uid: str | None = None
    claims_content: bool | None = None
    upserts: bool = False
    status: Status = Status.ACTIVE
    status_reason: str | None = None
    status_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    native: Mapping[str, object] | None = None
    kept_by: str | None = None
    said: Saying | None = None
    has_turns: bool = False  # which are told of apart
    given: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteResult:
    """What became of one request: a memory, or an error that says why nothing was stored."""

    index: int
    outcome: Outcome
    memory: Memory | None = None
    error: GraphmemError | None = None
    not_taken: tuple[str, ...] = ()  # fields of the request that the memory does not take over
    retracted_before: str | None = None  # the uid of a memory that said this and was taken back


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteReport:
    """What became of a call: one result per request, in order, and the trace that says why."""

    results: tuple[WriteResult, ...]
    trace_id: str

    @property
    def first_error(self) -> GraphmemError | None:
        """The first error that is not only a consequence of another one."""
        errors = [result.error for result in self.results if result.error]
        return next(
            (error for error in errors if error.code != ROLLED_BACK), errors[0] if errors else None
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class IdempotencyKey:
    """A caller's retry key with the digest of the request it belongs to."""

    key: str
    request_digest: str
    created_at: datetime
    expires_at: datetime
