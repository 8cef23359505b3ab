"""Corpus operation: what all changes of a repository lock, read and write alike (000)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from graphmem.corpus.ledger import Ledger
from graphmem.corpus.looks import Look, Looks
from graphmem.errors import GraphmemError, NotFound
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Answer, Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import CorpusRepository, Head
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import Space
from graphmem.model.state import GraphState
from graphmem.model.trace import TraceKind
from graphmem.store.corpora import (
    commit_of_revision,
    lock_repository,
)
from graphmem.store.corpus_changes import (
    CorpusChanges,
    apply_changes,
)


class RepositoryNotFound(NotFound):
    """This owner has no repository yet: bootstrap it first."""

    code = "memory_repo_not_found"


class UnprovedCommit(GraphmemError):
    """The newest commit waits for its proof; who meets it proves it first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusWorld:
    """What a change of a repository rests on: what is recorded, the proved revision, and more."""

    repository: CorpusRepository
    look: Look
    more: Any = None

    def ledger(self, now: datetime) -> Ledger:
        """What is recorded from now on."""
        return Ledger(repository=self.repository, look=self.look, now=now)

    def check_there(self) -> None:
        """Refuse what needs a repository.

        Raises:
            RepositoryNotFound: there is none.
        """
        if not self.repository.is_there:
            raise RepositoryNotFound

    def check_proved(self) -> None:
        """Refuse to write behind a commit that waits for its proof.

        Raises:
            UnprovedCommit: there is one.
        """
        if self.repository.unproved:
            raise UnprovedCommit


@dataclass(frozen=True, kw_only=True)
class CorpusOperation(MemoryOperation[Answer], Generic[Answer]):
    """A change of an owner's repository, under its lock."""

    kind = TraceKind.CORPUS

    space: Space
    policy: CorpusPolicy
    looks: Looks
    key_id: str

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the corpus."""
        return (self.space,)

    def read_records(self, transaction: Workbench) -> CorpusWorld:
        """The repository under its lock, and what else the operation rests on."""
        repository = lock_repository(transaction, self.space)
        look = self.looks.at(repository.verified, self.policy)
        more = self.read_more(transaction, repository)
        return CorpusWorld(repository=repository, look=look, more=more)

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> Any:  # noqa: ANN401, ARG002
        """What else it rests on."""
        return None

    def decide(self, state: GraphState, now: datetime) -> Decided[Answer]:
        """Decide by what is recorded."""
        return self.decided(state.records, now)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Answer]:
        """What becomes of the repository, by what is recorded of it alone."""
        raise NotImplementedError

    def apply_records(self, transaction: Workbench, decided: Decided[Answer]) -> None:
        """Write what changes of the repository."""
        changed: CorpusChanges | None = decided.records
        if changed:
            apply_changes(transaction, self.space, changed, transaction.now)

    def event(self, effect: Effect, subject: str | None = None, **detail: object) -> Event:
        """What became of the corpus."""
        return Event(
            space=self.space.key,
            subject=subject or self.space.owner,
            about=Subject.CORPUS,
            effect=effect,
            detail=detail,
        )


def head_of(transaction: Workbench, repository: CorpusRepository, revision: int) -> Head:
    """A revision with its documents; the one before all others where there is none of that."""
    if repository.verified and repository.verified.revision == revision:
        return repository.verified.head
    found = commit_of_revision(transaction, repository.space, revision) if revision else None
    return found.head if found else Head()
