"""Corpus transfer: the records of a repository as an export reads and an import writes them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphmem.model.corpus import CorpusRepository, StoredCommit
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Transaction
from graphmem.store.corpora import commit_by_sha
from graphmem.store.corpus_changes import commit_values, save_repository
from graphmem.text.times import iso


def commits_of_space(connection: Connection, space: Space) -> Iterator[StoredCommit]:
    """All commits of a repository with their documents, the first first."""
    for row in connection.fetch("corpora.commit_keys", space=space.key):
        found = commit_by_sha(connection, space, row["sha"])
        if found:
            yield found


def take_in_commit(transaction: Transaction, space: Space, stored: StoredCommit) -> bool | None:
    """Write a commit; False where it is here, None where a document of it is not."""
    if commit_by_sha(transaction, space, stored.sha):
        return False
    values = commit_values(space, stored, stored.documents.values())
    (row,) = transaction.run("corpora.take_in_commit", **values)
    return True if row["held"] == len(stored.commit.tree) else None


def take_in_repository(
    transaction: Transaction, repository: CorpusRepository, verified: str | None
) -> None:
    """Write what is recorded of a repository, whose commits are here."""
    save_repository(transaction, replace(repository, verified=None))
    is_proved = repository.head_sha == verified
    transaction.run(
        "corpora.point",
        space=repository.space.key,
        head=repository.head_sha,
        verified=verified,
        unproved_at=None if is_proved else iso(repository.created_at),
    )


def numbers_of(transaction: Transaction, space: Space) -> tuple[Sequence[int], Sequence[int]]:
    """The numbers of the approvals and transitions that are here."""
    (row,) = transaction.run("corpora.numbers", space=space.key)
    return row["approvals"], row["transitions"]
