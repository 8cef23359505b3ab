"""Corpus changes: what an operation writes of a repository, once it is locked."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from graphmem.model.corpus import (
    REPOSITORY,
    Approval,
    CorpusDraft,
    CorpusRepository,
    Document,
    Documents,
    LastShown,
    StoredCommit,
    Transition,
)
from graphmem.model.space import Space
from graphmem.store.connection import Transaction
from graphmem.store.corpus_deltas import CommitDelta
from graphmem.text.times import iso


@dataclass(frozen=True, kw_only=True, slots=True)
class NewCommit:
    """A commit that is to be written behind another; ``written`` are its new documents.

    ``differs`` are the paths in which its tree is another than that of the one before it.
    """

    stored: StoredCommit
    written: Documents
    differs: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusChanges:
    """What an operation changes of a repository, as it is afterwards; None: nothing of its kind.

    ``rebased`` are pairs of revisions: drafts made from the first are made from the second.
    """

    repository: CorpusRepository | None = None
    commit: NewCommit | None = None
    verified: str | None = None  # hash of a commit
    shortened: CommitDelta | None = None  # the one before that
    failed: tuple[str, str] | None = None  # hash of a commit, and why
    drafts: tuple[CorpusDraft, ...] = ()
    rebased: tuple[tuple[int, int], ...] = ()
    all_rebased: int | None = None
    approval: tuple[int, Approval, str] | None = None  # its number, and the key of who said it
    transitions: tuple[tuple[int, Transition], ...] = ()
    shown: tuple[str, LastShown] | None = None  # an audience, and what it saw


def apply_changes(
    transaction: Transaction, space: Space, changed: CorpusChanges, now: datetime
) -> None:
    """Write what changes of a repository, which is locked."""
    _apply_commits(transaction, space, changed, now)
    if changed.drafts and not changed.commit:
        drafts = _draft_rows(changed.drafts, now)
        transaction.run("corpora.save_drafts", space=space.key, drafts=drafts)
    if changed.approval:
        save_approval(transaction, space, *changed.approval)
    for number, transition in changed.transitions:
        save_transition(transaction, space, number, transition)
    if changed.shown:
        _save_audience(transaction, space, *changed.shown)
    if changed.repository and not changed.verified:
        save_repository(transaction, changed.repository)


def _apply_commits(
    transaction: Transaction, space: Space, changed: CorpusChanges, now: datetime
) -> None:
    """Write a commit with its drafts, let one be proved or marked, and let drafts follow."""
    if changed.commit:
        _save_commit(transaction, space, changed.commit, _draft_rows(changed.drafts, now))
    if changed.verified and changed.repository:
        _verify(transaction, changed.repository, changed.verified, changed.shortened)
    if changed.failed:
        sha, error = changed.failed
        transaction.run("corpora.fail", space=space.key, sha=sha, error=error)
    for before, after in changed.rebased:
        transaction.run("corpora.rebase", space=space.key, revision=before, to_revision=after)
    if changed.all_rebased is not None:
        transaction.run("corpora.rebase_all", space=space.key, to_revision=changed.all_rebased)


def _verify(
    transaction: Transaction, repository: CorpusRepository, sha: str, before: CommitDelta | None
) -> None:
    """Let a commit be the last proved one, and keep of the one before it what differs."""
    transaction.run(
        "corpora.verify",
        sha=sha,
        before=before.sha if before else None,
        paths=list(before.paths) if before else [],
        delta=before.delta if before else None,
        packed=[
            {"sha256": sha256, "packed": packed}
            for sha256, packed in (before.packed if before else {}).items()
        ],
        **_recorded(repository),
    )


def _save_audience(transaction: Transaction, space: Space, audience: str, seen: LastShown) -> None:
    transaction.run(
        "corpora.save_audience",
        space=space.key,
        audience=audience,
        state=seen.state.value,
        work=seen.work,
    )


def save_repository(transaction: Transaction, repository: CorpusRepository) -> None:
    """Write what is recorded of a repository, but for its commits."""
    transaction.run("corpora.save", **_recorded(repository))


def _recorded(repository: CorpusRepository) -> dict[str, Any]:
    work = repository.newest
    return {
        "space": repository.space.key,
        "created_at": iso(repository.created_at),
        "last_written": iso(repository.last_written),
        "properties": {
            "name": REPOSITORY if repository.is_there else None,
            "turn": repository.turn,
            "topics": list(repository.topics),
            "state": repository.state.value,
            "works": repository.works,
            "work": json.dumps({**asdict(work), "at": iso(work.at)}) if work else None,
            "last_failed": repository.last_failed,
            "has_failed_write": repository.has_failed_write,
            "approvals": repository.approvals,
            "transitions": repository.transitions,
        },
    }


def _save_commit(
    transaction: Transaction, space: Space, new: NewCommit, drafts: Sequence[Mapping[str, Any]]
) -> None:
    written = {document.sha256: document for document in new.written.values()}
    values = commit_values(space, new.stored, written.values())
    tree = [each for each in values.pop("tree") if each["path"] in new.differs]
    transaction.run("corpora.commit", **values, tree=tree, differs=list(new.differs), drafts=drafts)


def commit_values(
    space: Space, stored: StoredCommit, documents: Iterable[Document]
) -> dict[str, Any]:
    """A commit as the queries that write one take it, with the documents that they are to write."""
    commit = stored.commit
    return {
        "space": space.key,
        "sha": stored.sha,
        "parent": stored.parent,
        "at": iso(commit.at),
        "properties": {
            "revision": commit.revision,
            "message": commit.message,
            "key_id": commit.key_id,
            "cause": commit.cause,
            "tree": json.dumps(dict(commit.tree), ensure_ascii=False, sort_keys=True),
            "failed": commit.has_failed or None,
            "error": stored.error,
            "retry_count": stored.retry_count,
        },
        "documents": [{"sha256": each.sha256, "text": each.text} for each in documents],
        "tree": [{"path": path, "sha256": sha} for path, sha in commit.tree.items()],
    }


def save_draft(transaction: Transaction, space: Space, draft: CorpusDraft, now: datetime) -> None:
    """Write the draft of a session."""
    rows = _draft_rows([draft], now)
    transaction.run("corpora.save_drafts", space=space.key, drafts=rows)


def _draft_rows(drafts: Iterable[CorpusDraft], now: datetime) -> list[Mapping[str, Any]]:
    return [
        {
            "session": draft.session,
            "at": iso(now),
            "draft": {
                "revision": draft.revision,
                "corpus": json.dumps(draft.corpus, ensure_ascii=False),
                "files": _json_of(draft.files) if draft.files else None,
            },
        }
        for draft in drafts
    ]


def _json_of(files: Documents) -> str:
    texts = {path: document.text for path, document in files.items()}
    return json.dumps(texts, ensure_ascii=False)


def save_approval(
    transaction: Transaction, space: Space, number: int, approval: Approval, key_id: str
) -> None:
    """Write what was said of a content."""
    transaction.run(
        "corpora.save_approval",
        space=space.key,
        key=str(number),
        at=iso(approval.at),
        approval={
            "number": number,
            "section": approval.section.value,
            "content_sha256": approval.content_sha256,
            "basis": approval.basis.value,
            "approved": approval.approved,
            "key_id": key_id,
        },
    )


def save_transition(
    transaction: Transaction, space: Space, number: int, transition: Transition
) -> None:
    """Write a change of state."""
    transaction.run(
        "corpora.save_transition",
        space=space.key,
        key=str(number),
        at=iso(transition.at),
        transition={
            "number": number,
            "before": transition.before.value,
            "after": transition.after.value,
            "cause": transition.cause,
            "extension": transition.extension,
        },
    )
