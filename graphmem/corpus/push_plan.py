"""Push plan: what a push rests on, and what the next revision holds (000, steps 8 and 11). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from graphmem.corpus.documents import LEGACY, Changes, Payload, changes, digest, payload, tree_of
from graphmem.corpus.join import own_documents
from graphmem.corpus.manifest import split
from graphmem.model.corpus import Approval, Corpus, Documents, Head, Section
from graphmem.text.times import iso


@dataclass(frozen=True, kw_only=True, slots=True)
class PushRequest:
    """What a caller asks for; without targets all changed sections are."""

    targets: tuple[Section, ...] | None = None
    message: str | None = None
    scaffold: bool = False
    is_technical: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PushWorld:
    """What a push rests on: the draft, the revision that it was made from, the approvals.

    ``files`` are those that the draft was imported from, whose bytes are kept where they say what
    it says.
    """

    has_repository: bool
    is_invalid: bool  # the corpus that is there can not be read, or has not the form of one
    draft: Corpus
    base: Head
    approvals: tuple[Approval, ...] = ()
    files: Documents = field(default_factory=dict)
    missing_adapters: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PushPlan:
    """What the next revision holds. ``expected_revision`` is what HEAD must still be."""

    expected_revision: int
    base: Head  # that the draft was made from
    corpus: Corpus
    documents: Documents  # all of the next revision
    changes: Changes
    message: str
    at: datetime
    retry_count: int = 0
    withheld: tuple[Section, ...] = ()  # that the draft has, and scaffold stands in for
    attempt: int = 0  # the operations before it, so that a second attempt is a commit of its own

    @property
    def revision(self) -> int:
        """The number of the next revision."""
        return self.expected_revision + 1

    @property
    def written(self) -> Documents:
        """The documents that are new or changed."""
        return {path: self.documents[path] for path in self.changes.changed}

    @cached_property
    def tree(self) -> Mapping[str, str]:
        """The tree of the next revision."""
        return tree_of(self.documents)

    @property
    def payloads(self) -> Mapping[str, Payload]:
        """The figures of what is written."""
        return {path: payload(document) for path, document in self.written.items()}

    @cached_property
    def commit_sha(self) -> str:
        """What the commit is known by."""
        return digest([self.revision, iso(self.at), self.message, self.tree, self.attempt])


def planned(
    head: Head,
    corpus: Corpus,
    *,
    base: Head,
    files: Documents,
    message: str,
    now: datetime,
    retry_count: int = 0,
) -> PushPlan:
    """The revision behind a head that holds a corpus, and the other files that lie there."""
    own = own_documents(head.documents)
    others = {
        path: document
        for path, document in head.documents.items()
        if path not in own and path != LEGACY
    }
    documents = {**others, **split(corpus, before=own, offered=files, generated_at=now)}
    return PushPlan(
        expected_revision=head.revision,
        base=base,
        corpus=corpus,
        documents=documents,
        changes=changes(head.documents, documents),
        message=message,
        at=now,
        retry_count=retry_count,
    )
