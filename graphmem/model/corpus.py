"""Career corpus: its sections, documents, commits and approvals, and the states of it (000)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from graphmem.model.space import Space

ROOM = "corpus"
REPOSITORY = "career-corpus-memory"  # the one name that a repository has
PUSH = "push"  # what a revision is written for, where nothing else is said
SESSION_CHARS_MAX = 128  # of the name of a session

Corpus = Mapping[str, Any]  # a corpus as JSON, whole or not


class Section(StrEnum):
    """The seven sections that onboarding asks approval for."""

    PROFILE = "profile"
    EXPERIENCE = "experience"
    PROJECTS = "projects"
    SKILLS = "skills"
    CERTIFICATIONS = "certifications"
    EDUCATION = "education"
    METADATA = "metadata"


# sections that are lists of items, and what made-up ids of these begin with
ID_PREFIXES: Mapping[Section, str] = {
    Section.EXPERIENCE: "exp",
    Section.PROJECTS: "proj",
    Section.CERTIFICATIONS: "cert",
    Section.EDUCATION: "edu",
}
# what the service sets in metadata; nobody approves it
SET_BY_SERVICE = ("last_updated_utc", "source", "onboarding_complete", "onboarding_completed_utc")


class CorpusState(StrEnum):
    """What becomes of a corpus, from no repository to one that is ready."""

    NO_REPO = "NO_REPO"
    REPO_NO_CORPUS = "REPO_NO_CORPUS"
    CORPUS_PARTIAL = "CORPUS_PARTIAL"
    CORPUS_READY = "CORPUS_READY"
    CORPUS_INVALID = "CORPUS_INVALID"
    PERSIST_FAILED = "PERSIST_FAILED"


class Basis(StrEnum):
    """What a section rests on that somebody approves."""

    UPLOADED_FILE = "uploaded_file"
    CURRENT_CHAT = "current_chat"
    USER_CONFIRMED_CORRECTION = "user_confirmed_correction"


class CorpusSource(StrEnum):
    """What last changed a corpus: ``metadata.source``."""

    ONBOARDING = "onboarding"
    USER_UPDATE = "user_update"
    MANUAL_IMPORT = "manual_import"


@dataclass(frozen=True, kw_only=True)
class Document:
    """A file of a repository, as its bytes are."""

    path: str
    text: str

    @cached_property
    def sha256(self) -> str:
        """The hash of its bytes, by which it is stored once."""
        return text_digest(self.text)


def text_digest(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hex; a lone surrogate has a hash too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


Documents = Mapping[str, Document]  # by their paths


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A revision of a repository; ``tree`` holds the hash of each document by its path."""

    revision: int
    message: str
    at: datetime
    key_id: str
    tree: Mapping[str, str]
    has_failed: bool = False  # it was read back, and something else was there
    cause: str = PUSH  # what it was written for


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """What somebody said of one content of a section; it withdraws where not ``approved``."""

    section: Section
    content_sha256: str
    basis: Basis
    approved: bool
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A change of state, and what caused it; an ``extension`` is none of the mission document."""

    before: CorpusState
    after: CorpusState
    at: datetime
    cause: str
    extension: bool = False


class Verification(StrEnum):
    """Whether a second reading proved what was written."""

    OK = "ok"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusWork:
    """One operation on a corpus as a status tells of it; what is None did not happen there.

    ``number`` counts the operations of an owner, from 1.
    """

    number: int
    at: datetime
    has_failed: bool = False
    validated: bool | None = None  # what the validator said
    persisted: bool | None = None  # whether a write was proved
    fallback_used: bool = False
    method: str | None = None
    retry_count: int = 0
    verification: Verification = Verification.NOT_RUN


@dataclass(frozen=True, kw_only=True, slots=True)
class LastShown:
    """What an audience saw last: the state, and the newest operation by its number."""

    state: CorpusState
    work: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusDraft:
    """A corpus that is worked on in a session, made from a revision (0: from none)."""

    session: str
    revision: int
    corpus: Corpus = field(default_factory=dict)
    files: Documents = field(default_factory=dict)  # that it was imported from


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """A revision of a repository with its documents; 0 is the one before all others."""

    revision: int = 0
    documents: Documents = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class PresentMemory:
    """A memory of a corpus that is active or retracted.

    ``digest`` is that of what it was last written from.
    """

    key: str
    uid: str
    digest: str
    is_retracted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredCommit:
    """A commit as it lies in the store: its hash, the one before it, and its documents."""

    sha: str
    commit: Commit
    parent: str | None = None
    documents: Documents = field(default_factory=dict)
    error: str | None = None  # why it could not be proved
    retry_count: int = 0

    @property
    def revision(self) -> int:
        """The number of its revision."""
        return self.commit.revision

    @property
    def head(self) -> Head:
        """Its revision with its documents."""
        return Head(revision=self.revision, documents=self.documents)

    @property
    def is_intact(self) -> bool:
        """Whether the documents are those that its tree names."""
        found = {path: document.sha256 for path, document in self.documents.items()}
        return found == dict(self.commit.tree)


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusRepository:
    """What is recorded of an owner's repository; it is there once it was created.

    ``state`` is the one that was recorded last, ``head_sha`` the newest commit, ``verified`` the
    last proved one, which all readers see.
    """

    space: Space
    created_at: datetime | None = None
    turn: str | None = None
    topics: tuple[str, ...] = ()
    state: CorpusState = CorpusState.NO_REPO
    works: int = 0
    newest: CorpusWork | None = None
    last_failed: int = 0
    has_failed_write: bool = False
    last_written: datetime | None = None
    approvals: int = 0
    transitions: int = 0
    head_sha: str | None = None
    head_revision: int = 0
    verified: StoredCommit | None = None

    @property
    def is_there(self) -> bool:
        """Whether it was created."""
        return self.created_at is not None

    @property
    def unproved(self) -> str | None:
        """The newest commit, where it waits for its proof."""
        proved = self.verified.sha if self.verified else None
        return self.head_sha if self.head_sha != proved else None

    @property
    def verified_head(self) -> Head:
        """The last proved revision; the one before all others where there is none."""
        return self.verified.head if self.verified else Head()
