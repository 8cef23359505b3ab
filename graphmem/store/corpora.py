"""Corpora: repositories of careers with their commits, documents, drafts, approvals, states."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.model.corpus import (
    PUSH,
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
from graphmem.store.corpus_deltas import documents_of_chain, tree_of_chain
from graphmem.store.pages import read_page, rows_by_time
from graphmem.text.times import moment_of

_LAST_NUMBER = 2**53
_READS = 4  # of what a push cuts while it is read
_TYPES = (MemoryType.FACT.value, MemoryType.IDENTITY.value)


def _settled_rows(
    reader: Transaction | Connection,
    query: str,
    **parameters: Any,  # noqa: ANN401 - driver values
) -> Sequence[Mapping[str, Any]]:
    """The rows of a query for one commit, read without a lock.

    What a proof cuts of the commit before it, while that is read, is read again: a statement sees
    what others write meanwhile.
    """
    rows: Sequence[Mapping[str, Any]] = ()
    for _ in range(_READS):
        rows = rows_of(reader, query, **parameters)
        if not rows or _is_settled(rows[0]):
            break
    return rows


def _is_settled(row: Mapping[str, Any]) -> bool:
    """Whether a commit was read whole, as far as it is there."""
    node = row.get("commit") or (row.get("repository") or {}).get("verified")
    if node is None:
        return True
    chain = [*(row.get("chain") or ()), node]
    is_overtaken = chain[0]["delta"] is not None
    return not is_overtaken and tree_of_chain(chain).keys() == documents_of_chain(chain).keys()


def lock_repository(transaction: Transaction, space: Space) -> CorpusRepository:
    """Take the lock of an owner's repository, whether it was created or not."""
    return _repository(_locked(transaction, "corpora.lock", space)["repository"])


def _locked(
    transaction: Transaction,
    query: str,
    space: Space,
    **parameters: Any,  # noqa: ANN401 - driver values
) -> Mapping[str, Any]:
    """The row of a query that begins with the lock of an owner's repository."""
    (row,) = transaction.run(
        query, space=space.key, tenant=space.tenant, owner=space.owner, **parameters
    )
    return row


def lock_with_draft(
    transaction: Transaction, space: Space, session: str
) -> tuple[CorpusRepository, CorpusDraft | None]:
    """Take the lock of an owner's repository, and read the draft of a session."""
    row = _locked(transaction, "corpora.lock_draft", space, session=session)
    return _repository(row["repository"]), _draft(row["draft"]) if row["draft"] else None


def repository_of(reader: Transaction | Connection, space: Space) -> CorpusRepository:
    """An owner's repository; one that is not there says so."""
    rows = _settled_rows(reader, "corpora.find", space=space.key)
    return _repository(rows[0]["repository"]) if rows else CorpusRepository(space=space)


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryRead:
    """An owner's repository, a draft as JSON text, and what was said of some contents."""

    repository: CorpusRepository
    draft: str | None = None
    approvals: tuple[Approval, ...] = ()


def read_repository(
    reader: Transaction | Connection, space: Space, session: str, hashes: Collection[str]
) -> RepositoryRead:
    """An owner's repository with the draft of a session, and the approvals of some contents."""
    wanted = sorted(hashes)
    rows = _settled_rows(reader, "corpora.view", space=space.key, session=session, hashes=wanted)
    if not rows:
        return RepositoryRead(repository=CorpusRepository(space=space))
    return RepositoryRead(
        repository=_repository(rows[0]["repository"]),
        draft=rows[0]["draft"],
        approvals=tuple(approval_from_row(each) for each in rows[0]["approvals"]),
    )


def commit_by_sha(reader: Transaction | Connection, space: Space, sha: str) -> StoredCommit | None:
    """A commit by its hash."""
    rows = _settled_rows(reader, "corpora.by_sha", space=space.key, sha=sha)
    return _commit(rows[0]["commit"], rows[0]["chain"]) if rows else None


def pointers_of(reader: Transaction | Connection, space: Space) -> tuple[str | None, str | None]:
    """The newest and the last proved commit of a repository, by their hashes."""
    rows = rows_of(reader, "corpora.pointers", space=space.key)
    return (rows[0]["head"], rows[0]["verified"]) if rows else (None, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenCommit:
    """A commit as it is read back, and the tree of the one before it."""

    stored: StoredCommit
    parent: Mapping[str, str]


def lock_written(
    transaction: Transaction, space: Space, sha: str
) -> tuple[CorpusRepository, WrittenCommit | None]:
    """Take the lock of an owner's repository, and read a commit as it lies there."""
    row = _locked(transaction, "corpora.lock_written", space, sha=sha)
    repository, node = _repository(row["repository"]), row["commit"]
    if node is None:
        return repository, None
    if node["delta"] is not None:  # it was proved meanwhile, and there is a later one
        stored = commit_by_sha(transaction, space, sha)
        found = WrittenCommit(stored=stored, parent=stored.commit.tree) if stored else None
        return repository, found
    read = repository.verified.documents if repository.verified else {}
    held = [
        (path, read[path].text if is_read and path in read else text, packed)
        for path, text, packed, is_read in node["documents"]
    ]
    return repository, WrittenCommit(
        stored=_commit({**node, "documents": held}),
        parent=tree_of_chain([node, row["parent"]]) if row["parent"] else {},
    )


def commit_of_revision(
    reader: Transaction | Connection, space: Space, revision: int
) -> StoredCommit | None:
    """The commit of a revision; one that could not be proved is none."""
    rows = _settled_rows(reader, "corpora.by_revision", space=space.key, revision=revision)
    return _commit(rows[0]["commit"], rows[0]["chain"]) if rows else None


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


def repository_as_shown(
    reader: Transaction | Connection, space: Space, audience: str
) -> tuple[CorpusRepository, LastShown | None]:
    """An owner's repository, and what an audience saw last."""
    rows = _settled_rows(reader, "corpora.shown", space=space.key, audience=audience)
    return _as_shown(rows[0]) if rows else (CorpusRepository(space=space), None)


def lock_as_shown(
    transaction: Transaction, space: Space, audience: str
) -> tuple[CorpusRepository, LastShown | None]:
    """Take the lock of an owner's repository, and read what an audience saw last."""
    return _as_shown(_locked(transaction, "corpora.lock_shown", space, audience=audience))


def _as_shown(row: Mapping[str, Any]) -> tuple[CorpusRepository, LastShown | None]:
    seen = row["seen"]
    shown = LastShown(state=CorpusState(seen["state"]), work=seen["work"]) if seen else None
    return _repository(row["repository"]), shown


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
            item_of=lambda row: _commit(row["commit"], row["chain"]),
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


def _commit(node: Mapping[str, Any], after: Sequence[Mapping[str, Any]] = ()) -> StoredCommit:
    """A commit; ``after`` are those by which it is whole, the last first."""
    chain = [*after, node]
    return StoredCommit(
        sha=node["sha"],
        commit=Commit(
            revision=node["revision"],
            message=node["message"],
            at=moment_of(node["at"]),
            key_id=node["key_id"],
            tree=tree_of_chain(chain),
            has_failed=bool(node["failed"]),
            cause=node["cause"] or PUSH,
        ),
        parent=node["parent"],
        documents=documents_of_chain(chain),
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
