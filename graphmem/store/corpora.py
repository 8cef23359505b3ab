"""Corpora: repositories of careers with their commits, documents, drafts, approvals, states."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from graphmem.model.corpus import (
    PUSH,
    REPOSITORY,
    ROOM,
    Approval,
    Basis,
    Commit,
    CorpusDraft,
    CorpusRepository,
    CorpusState,
    CorpusWork,
    Document,
    Documents,
    LastShown,
    PresentMemory,
    Section,
    StoredCommit,
    Transition,
    Verification,
)
from graphmem.model.memory import MemoryType, Status
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.store.connection import Connection, Transaction, rows_of
from graphmem.store.pages import read_page, rows_by_time
from graphmem.text.times import iso, moment_of

_LAST_NUMBER = 2**53
_TYPES = (MemoryType.FACT.value, MemoryType.IDENTITY.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewCommit:
    """A commit that is to be written behind another; ``written`` are its new documents."""

    stored: StoredCommit
    written: Documents


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusChanges:
    """What an operation changes of a repository, as it is afterwards; None: nothing of its kind.

    ``rebased`` are pairs of revisions: drafts made from the first are made from the second.
    """

    repository: CorpusRepository | None = None
    commit: NewCommit | None = None
    verified: str | None = None  # hash of a commit
    failed: tuple[str, str] | None = None  # hash of a commit, and why
    drafts: tuple[CorpusDraft, ...] = ()
    rebased: tuple[tuple[int, int], ...] = ()
    all_rebased: int | None = None
    approval: tuple[int, Approval, str] | None = None  # its number, and the key of who said it
    transitions: tuple[tuple[int, Transition], ...] = ()
    shown: tuple[str, LastShown] | None = None  # an audience, and what it saw


def lock_repository(transaction: Transaction, space: Space) -> CorpusRepository:
    """Take the lock of an owner's repository, whether it was created or not."""
    (row,) = transaction.run(
        "corpora.lock", space=space.key, tenant=space.tenant, owner=space.owner
    )
    return _repository(row["repository"])


def repository_of(reader: Transaction | Connection, space: Space) -> CorpusRepository:
    """An owner's repository; one that is not there says so."""
    rows = rows_of(reader, "corpora.find", space=space.key)
    return _repository(rows[0]["repository"]) if rows else CorpusRepository(space=space)


def repository_with_draft(
    reader: Transaction | Connection, space: Space, session: str
) -> tuple[CorpusRepository, str | None]:
    """An owner's repository, and the draft of a session as JSON text."""
    rows = rows_of(reader, "corpora.view", space=space.key, session=session)
    if not rows:
        return CorpusRepository(space=space), None
    return _repository(rows[0]["repository"]), rows[0]["draft"]


def commit_by_sha(reader: Transaction | Connection, space: Space, sha: str) -> StoredCommit | None:
    """A commit by its hash."""
    rows = rows_of(reader, "corpora.by_sha", space=space.key, sha=sha)
    return _commit(rows[0]["commit"]) if rows else None


def pointers_of(reader: Transaction | Connection, space: Space) -> tuple[str | None, str | None]:
    """The newest and the last proved commit of a repository, by their hashes."""
    rows = rows_of(reader, "corpora.pointers", space=space.key)
    return (rows[0]["head"], rows[0]["verified"]) if rows else (None, None)


def tree_of_commit(
    reader: Transaction | Connection, space: Space, sha: str | None
) -> Mapping[str, str]:
    """What a commit says that its documents hash to; nothing where there is no commit."""
    rows = rows_of(reader, "corpora.tree", space=space.key, sha=sha) if sha else ()
    tree: Mapping[str, str] = json.loads(rows[0]["tree"]) if rows else {}
    return tree


def commit_of_revision(
    reader: Transaction | Connection, space: Space, revision: int
) -> StoredCommit | None:
    """The commit of a revision; one that could not be proved is none."""
    rows = rows_of(reader, "corpora.by_revision", space=space.key, revision=revision)
    return _commit(rows[0]["commit"]) if rows else None


def draft_of(reader: Transaction | Connection, space: Space, session: str) -> CorpusDraft | None:
    """The draft of a session."""
    rows = rows_of(reader, "corpora.draft", space=space.key, session=session)
    return _draft(rows[0]["draft"]) if rows else None


def drafts_of(reader: Transaction | Connection, space: Space) -> list[CorpusDraft]:
    """All drafts of a repository, by session."""
    return [_draft(row["draft"]) for row in rows_of(reader, "corpora.drafts", space=space.key)]


def sessions_of(reader: Transaction | Connection, space: Space) -> list[str]:
    """The sessions that have a draft."""
    return [row["session"] for row in rows_of(reader, "corpora.sessions", space=space.key)]


def approvals_of(
    reader: Transaction | Connection, space: Space, hashes: Collection[str]
) -> tuple[Approval, ...]:
    """What was said of some contents, in its order."""
    rows = rows_of(reader, "corpora.approvals_of", space=space.key, hashes=sorted(hashes))
    return tuple(approval_from_row(row["approval"]) for row in rows)


def last_shown(reader: Transaction | Connection, space: Space, audience: str) -> LastShown | None:
    """What an audience saw last."""
    rows = rows_of(reader, "corpora.audience", space=space.key, audience=audience)
    if not rows:
        return None
    seen = rows[0]["seen"]
    return LastShown(state=CorpusState(seen["state"]), work=seen["work"])


def present_memories(reader: Transaction | Connection, space: Space) -> tuple[PresentMemory, ...]:
    """The memories of a corpus that are active or retracted, the oldest first."""
    rows = rows_of(reader, "corpora.memories", space=space.key, kept_by=ROOM, types=list(_TYPES))
    return tuple(_present(*found) for found in rows[0]["found"])


def _present(uid: str, kept: str | None, status: str) -> PresentMemory:
    native = json.loads(kept) if kept else {}
    return PresentMemory(
        key=f"{native.get('path')}#{native.get('field')}",
        uid=uid,
        digest=str(native.get("digest")),
        is_retracted=status == Status.RETRACTED,
    )


def apply_changes(
    transaction: Transaction, space: Space, changed: CorpusChanges, now: datetime
) -> None:
    """Write what changes of a repository, which is locked."""
    _apply_commits(transaction, space, changed)
    for draft in changed.drafts:
        save_draft(transaction, space, draft, now)
    if changed.approval:
        save_approval(transaction, space, *changed.approval)
    for number, transition in changed.transitions:
        save_transition(transaction, space, number, transition)
    if changed.shown:
        _save_audience(transaction, space, *changed.shown)
    if changed.repository:
        save_repository(transaction, changed.repository)


def _apply_commits(transaction: Transaction, space: Space, changed: CorpusChanges) -> None:
    """Write a commit, let one be proved or marked, and let drafts follow."""
    if changed.commit:
        _save_commit(transaction, space, changed.commit)
    if changed.verified:
        transaction.run("corpora.verify", space=space.key, sha=changed.verified)
    if changed.failed:
        sha, error = changed.failed
        transaction.run("corpora.fail", space=space.key, sha=sha, error=error)
    for before, after in changed.rebased:
        transaction.run("corpora.rebase", space=space.key, revision=before, to_revision=after)
    if changed.all_rebased is not None:
        transaction.run("corpora.rebase_all", space=space.key, to_revision=changed.all_rebased)


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
    work = repository.newest
    transaction.run(
        "corpora.save",
        space=repository.space.key,
        created_at=iso(repository.created_at),
        last_written=iso(repository.last_written),
        properties={
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
    )


def _save_commit(transaction: Transaction, space: Space, new: NewCommit) -> None:
    stored, commit = new.stored, new.stored.commit
    transaction.run(
        "corpora.commit",
        space=space.key,
        sha=stored.sha,
        parent=stored.parent,
        at=iso(commit.at),
        properties={
            "revision": commit.revision,
            "message": commit.message,
            "key_id": commit.key_id,
            "cause": commit.cause,
            "tree": json.dumps(dict(commit.tree), ensure_ascii=False, sort_keys=True),
            "retry_count": stored.retry_count,
        },
        documents=[
            {"sha256": each.sha256, "text": each.text}
            for each in {document.sha256: document for document in new.written.values()}.values()
        ],
        tree=[{"path": path, "sha256": sha} for path, sha in commit.tree.items()],
    )


def save_draft(transaction: Transaction, space: Space, draft: CorpusDraft, now: datetime) -> None:
    """Write the draft of a session."""
    files = {path: document.text for path, document in draft.files.items()}
    transaction.run(
        "corpora.save_draft",
        space=space.key,
        session=draft.session,
        at=iso(now),
        draft={
            "revision": draft.revision,
            "corpus": json.dumps(draft.corpus, ensure_ascii=False),
            "files": json.dumps(files, ensure_ascii=False) if files else None,
        },
    )


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


@dataclass(frozen=True, kw_only=True)
class Corpora:
    """Reads repositories and what belongs to them."""

    connection: Connection

    def find(self, space: Space) -> CorpusRepository:
        """An owner's repository; one that is not there says so."""
        return repository_of(self.connection, space)

    def page(
        self, tenant: str, patterns: Sequence[str], after: Cursor | None, *, limit: int
    ) -> Page[CorpusRepository]:
        """One page of the repositories that a caller may see, by owner; a cursor is a space."""
        (space,) = after or ("",)
        return read_page(
            self.connection,
            "corpora.list",
            "corpora.count",
            filters={"tenant": tenant, "space_patterns": list(patterns)},
            cursor={"after": space},
            limit=limit,
            item_of=lambda row: _repository(row["repository"]),
            cursor_of=lambda row: (row["repository"]["space"],),
        )

    def unproved(self, before: datetime, *, space: str = "") -> Iterator[Space]:
        """The spaces whose newest commit was written before a time and waits for its proof."""
        rows = rows_by_time(
            self.connection,
            "corpora.unproved",
            place_of=lambda row: (row["unproved_at"], row["key"]),
            before=before,
            space=space,
        )
        return (space_from_key(row["space"]) for row in rows)

    def history(self, space: Space, after: Cursor | None, *, limit: int) -> Page[StoredCommit]:
        """One page of the commits of a repository, the newest first."""
        revision, key = after or (_LAST_NUMBER, "")
        return read_page(
            self.connection,
            "corpora.history",
            "corpora.count_history",
            filters={"space": space.key},
            cursor={"cursor_revision": revision, "cursor_key": key},
            limit=limit,
            item_of=lambda row: _commit(row["commit"]),
            cursor_of=lambda row: (row["commit"]["revision"], row["key"]),
        )

    def approvals(
        self, space: Space, after: Cursor | None, *, limit: int
    ) -> Page[Mapping[str, Any]]:
        """One page of what was said of contents, the newest first; a cursor is a number."""
        (number,) = after or (_LAST_NUMBER,)
        return read_page(
            self.connection,
            "corpora.approvals",
            "corpora.count_approvals",
            filters={"space": space.key},
            cursor={"cursor_number": number},
            limit=limit,
            item_of=lambda row: row["approval"],
            cursor_of=lambda row: (row["approval"]["number"],),
        )

    def transitions(
        self, space: Space, after: Cursor | None, *, limit: int
    ) -> Page[tuple[int, Transition]]:
        """One page of the changes of state, the newest first; a cursor is a number."""
        (number,) = after or (_LAST_NUMBER,)
        return read_page(
            self.connection,
            "corpora.transitions",
            "corpora.count_transitions",
            filters={"space": space.key},
            cursor={"cursor_number": number},
            limit=limit,
            item_of=lambda row: (
                row["transition"]["number"],
                transition_from_row(row["transition"]),
            ),
            cursor_of=lambda row: (row["transition"]["number"],),
        )


def approval_from_row(node: Mapping[str, Any]) -> Approval:
    """The approval of a row."""
    return Approval(
        section=Section(node["section"]),
        content_sha256=node["content_sha256"],
        basis=Basis(node["basis"]),
        approved=node["approved"],
        at=moment_of(node["at"]),
    )


def transition_from_row(node: Mapping[str, Any]) -> Transition:
    """The change of state of a row."""
    return Transition(
        before=CorpusState(node["before"]),
        after=CorpusState(node["after"]),
        at=moment_of(node["at"]),
        cause=node["cause"],
        extension=node["extension"],
    )


def _draft(node: Mapping[str, Any]) -> CorpusDraft:
    files = json.loads(node["files"]) if node["files"] else {}
    return CorpusDraft(
        session=node["session"],
        revision=node["revision"],
        corpus=json.loads(node["corpus"]),
        files=_documents(files.items()),
    )


def _documents(texts: Any) -> Documents:  # noqa: ANN401 - pairs of paths and texts
    return {path: Document(path=path, text=text) for path, text in texts}


def _commit(node: Mapping[str, Any]) -> StoredCommit:
    return StoredCommit(
        sha=node["sha"],
        commit=Commit(
            revision=node["revision"],
            message=node["message"],
            at=moment_of(node["at"]),
            key_id=node["key_id"],
            tree=json.loads(node["tree"]),
            has_failed=bool(node["failed"]),
            cause=node["cause"] or PUSH,
        ),
        parent=node["parent"],
        documents=_documents(node["documents"]),
        error=node["error"],
        retry_count=node["retry_count"] or 0,
    )


def _repository(node: Mapping[str, Any]) -> CorpusRepository:
    sha, revision = node["head"] or (None, 0)
    return CorpusRepository(
        space=space_from_key(node["space"]),
        created_at=moment_of(node["created_at"]),
        turn=node["turn"],
        topics=tuple(node["topics"] or ()),
        state=CorpusState(node["state"] or CorpusState.NO_REPO),
        works=node["works"] or 0,
        newest=_work(json.loads(node["work"])) if node["work"] else None,
        last_failed=node["last_failed"] or 0,
        has_failed_write=bool(node["has_failed_write"]),
        last_written=moment_of(node["last_written"]),
        approvals=node["approvals"] or 0,
        transitions=node["transitions"] or 0,
        head_sha=sha,
        head_revision=revision,
        verified=_commit(node["verified"]) if node["verified"] else None,
    )


def _work(values: dict[str, Any]) -> CorpusWork:
    values["at"] = moment_of(values["at"])
    values["verification"] = Verification(values["verification"])
    return CorpusWork(**values)
