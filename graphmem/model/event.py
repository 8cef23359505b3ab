"""Events: what an operation did to one thing and why, by stable codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Subject(StrEnum):
    """What an event is about; the value is the name that a trace gives it."""

    MEMORY = "uid"
    EDGE = "edge"
    ENTITY = "entity"
    CHANGE = "change"  # a merge or split of entities
    TURN = "turn"
    RELATION = "relation"
    CONVERSATION = "conversation"
    EXTRACTION = "extraction"
    PERSONA = "persona"
    CONTRACT = "contract"
    USER = "user"
    SESSION = "session"
    SUMMARY = "summary"
    BOX = "box"
    PROFILE_LINE = "profile_line"
    REFLECTION = "reflection"
    QUESTION = "question"
    CORPUS = "corpus"


class Effect(StrEnum):
    """What became of the subject."""

    CREATED = "created"
    REVISED = "revised"
    UNCHANGED = "unchanged"
    # its status
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    RETRACTED = "retracted"
    UNFOLDED = "unfolded"
    # edges
    EDGE_CREATED = "edge_created"
    EDGE_REVISED = "edge_revised"
    EDGE_REMOVED = "edge_removed"
    # entities; memories are merged too
    ENTITY_CREATED = "entity_created"
    ENTITY_REVISED = "entity_revised"
    ENTITY_DELETED = "entity_deleted"
    MERGED = "merged"
    SPLIT = "split"
    UNDONE = "undone"
    RELATION_CREATED = "relation_created"
    RELATION_REVISED = "relation_revised"
    RELATION_DELETED = "relation_deleted"
    EXTRACTION_DUE = "extraction_due"
    EXTRACTED = "extracted"
    SHARED = "shared"
    FEEDBACK_GIVEN = "feedback_given"
    PERSONA_SAVED = "persona_saved"
    CONTRACT_SAVED = "contract_saved"
    USER_SAVED = "user_saved"
    SESSION_BEGUN = "session_begun"
    SESSION_ENDED = "session_ended"
    JUDGED = "judged"
    BOX_SEALED = "box_sealed"
    PROFILE_LINE_NOTED = "profile_line_noted"
    PROFILE_LINE_DROPPED = "profile_line_dropped"
    REFLECTED = "reflected"
    REFLECTION_DROPPED = "reflection_dropped"
    REFLECTION_SHORTENED = "reflection_shortened"
    QUESTION_RESOLVED = "question_resolved"
    CORPUS_CREATED = "corpus_created"
    CORPUS_DRAFTED = "corpus_drafted"
    CORPUS_APPROVED = "corpus_approved"
    CORPUS_PUSHED = "corpus_pushed"
    CORPUS_REFUSED = "corpus_refused"
    CORPUS_VERIFIED = "corpus_verified"
    CORPUS_FAILED = "corpus_failed"
    # jobs
    CONTRADICTION = "contradiction"
    EMBEDDED = "embedded"
    FOLDED = "folded"
    REINFORCED = "reinforced"
    REPAIRED = "repaired"
    REWRITTEN = "rewritten"
    SUMMARISED = "summarised"
    UPDATED = "updated"


class Reason(StrEnum):
    """Why a job did it; also kept as the status reason of a memory."""

    TTL = "ttl"
    DECAY = "decay"
    PROMOTED = "promoted"
    COMMITMENT_DECAY = "commitment_decay"
    ARCHIVAL = "archival"
    DEDUPE = "dedupe"
    FOLD = "fold"
    UNFOLD = "unfold"
    SUMMARISED = "summarised"
    ENTITY_SUMMARY = "entity_summary"
    MERGE = "merge"
    TURN_TAKEN_BACK = "turn_taken_back"
    SOURCE_RETRACTED = "source_retracted"  # of a copy, with what it was made of
    SOURCE_RESTORED = "source_restored"
    UPDATE = "update"
    INVALIDATED = "invalidated"
    CONFLICT = "conflict"
    CONFLICTING_VALUES = "conflicting_values"
    EMBED_PENDING = "embed_pending"
    IMPORT = "import"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    CURATOR_V1_DEDUPE = "curator_v1_dedupe"  # as 001 calls it where only what matters little goes
    EDGES_ACROSS_SPACES = "edges_across_spaces"
    EDGES_OF_ONE_UID = "edges_of_one_uid"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """What became of one subject of a space, whose key ``space`` is.

    Rooms may bring effects and reasons of their own.
    """

    space: str
    subject: str | None  # the uid or key, within the space
    effect: StrEnum
    reason: StrEnum | None = None
    about: Subject = Subject.MEMORY
    detail: Mapping[str, object] = field(default_factory=dict)
    counted_as: str | None = None  # in the counts of a run, where that is not the effect

    @property
    def shown(self) -> dict[str, object]:
        """The event as a trace keeps and shows it."""
        named = {} if self.subject is None else {self.about.value: self.subject}
        why = {} if self.reason is None else {"reason": self.reason.value}
        return {**named, "outcome": self.effect.value, **why, **self.detail}
