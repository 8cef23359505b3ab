"""Transfer: repositories with commits, drafts, approvals and transitions in an export, and back.

What is here stays as it is: only a space without a repository takes one, with all that is of it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from marshmallow import fields, validate

from graphmem.corpus.documents import parsed
from graphmem.corpus.schema import depth_problem, texts
from graphmem.errors import InvalidInput
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords
from graphmem.model.corpus import (
    Approval,
    Basis,
    Commit,
    CorpusDraft,
    CorpusRepository,
    CorpusState,
    CorpusWork,
    Document,
    Section,
    StoredCommit,
    Transition,
    Verification,
    text_digest,
)
from graphmem.model.page import Cursor, Page, every_item
from graphmem.model.space import Space, SpaceKind
from graphmem.model.trace import TraceKind
from graphmem.rooms import Transfer
from graphmem.store.connection import Connection
from graphmem.store.corpora import (
    Corpora,
    draft_of,
    drafts_of,
    lock_repository,
    save_approval,
    save_draft,
    save_transition,
)
from graphmem.store.corpus_transfer import (
    commits_of_space,
    numbers_of,
    take_in_commit,
    take_in_repository,
)
from graphmem.text.times import iso, moment_of

Values = dict[str, Any]
_COUNT = validate.Range(0, 2**53)
_NUMBER = validate.Range(1, 2**53)
_NAME = validate.Length(1, 1_000)
_SHA = validate.Regexp(r"[0-9a-f]{64}\Z")
_AT_ONCE = 200


def _name(**options: Any) -> fields.String:  # noqa: ANN401 - marshmallow's
    return fields.String(validate=_NAME, **options)


def _maybe() -> Values:
    return {"allow_none": True, "load_default": None}


def _texts() -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.String(), load_default=dict)


class CorpusCommitLine(Line):
    """A revision: the hash of each document by its path, and the texts that are new."""

    sha = fields.String(required=True, validate=_SHA)
    parent = fields.String(validate=_SHA, **_maybe())
    revision = fields.Integer(strict=True, required=True, validate=_NUMBER)
    message = _name(required=True)
    at = Moment(required=True)
    key_id = _name(required=True)
    tree = _texts()
    documents = _texts()
    error = _name(**_maybe())
    failed = fields.Boolean(load_default=False)
    retry_count = fields.Integer(strict=True, load_default=0, validate=_COUNT)


class _WorkLine(Line):
    number = fields.Integer(strict=True, required=True, validate=_NUMBER)
    at = Moment(required=True)
    has_failed = fields.Boolean(load_default=False)
    validated = fields.Boolean(**_maybe())
    persisted = fields.Boolean(**_maybe())
    fallback_used = fields.Boolean(load_default=False)
    method = _name(**_maybe())
    retry_count = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    verification = fields.Enum(Verification, by_value=True, load_default=Verification.NOT_RUN)


class CorpusRepositoryLine(Line):
    """What is recorded of a repository, with its newest and its last proved commit."""

    created_at = Moment(required=True)
    turn = _name(**_maybe())
    topics = fields.List(_name(), load_default=list, validate=validate.Length(max=100))
    state = fields.Enum(CorpusState, by_value=True, required=True)
    works = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    newest = fields.Nested(_WorkLine, **_maybe())
    last_failed = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    has_failed_write = fields.Boolean(load_default=False)
    last_written = Moment(**_maybe())
    approvals = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    transitions = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    head = fields.String(validate=_SHA, **_maybe())
    verified = fields.String(validate=_SHA, **_maybe())


class CorpusDraftLine(Line):
    """A draft; the corpus is JSON in a text."""

    created_at = Moment(required=True)
    session = fields.String(required=True, validate=validate.Length(1, 200))
    revision = fields.Integer(strict=True, required=True, validate=_COUNT)
    corpus = fields.String(required=True)
    files = _texts()


class CorpusApprovalLine(Line):
    """What somebody said of one content of a section."""

    created_at = Moment(required=True)
    number = fields.Integer(strict=True, required=True, validate=_NUMBER)
    section = fields.Enum(Section, by_value=True, required=True)
    content_sha256 = fields.String(required=True, validate=_SHA)
    basis = fields.Enum(Basis, by_value=True, required=True)
    approved = fields.Boolean(required=True)
    at = Moment(required=True)
    key_id = _name(required=True)


class CorpusTransitionLine(Line):
    """A change of state, and what caused it."""

    created_at = Moment(required=True)
    number = fields.Integer(strict=True, required=True, validate=_NUMBER)
    before = fields.Enum(CorpusState, by_value=True, required=True)
    after = fields.Enum(CorpusState, by_value=True, required=True)
    at = Moment(required=True)
    cause = _name(required=True)
    extension = fields.Boolean(load_default=False)


class TakeInCorpora(TakeInRecords):
    """Write what another store kept of a corpus."""

    kind = TraceKind.CORPUS


def transfers_over(gateway: Gateway, connection: Connection) -> tuple[Transfer, ...]:
    """All kinds of the room, in the order in which they are written again."""
    kinds = (
        CommitTransfer,
        RepositoryTransfer,
        DraftTransfer,
        ApprovalTransfer,
        TransitionTransfer,
    )
    return tuple(kind(gateway=gateway, connection=connection) for kind in kinds)


@dataclass(frozen=True, kw_only=True)
class _CorpusTransfer(RecordTransfer):
    """What the kinds of the room have in common: only the space of a corpus holds them."""

    connection: Connection
    operation: ClassVar[type[TakeInRecords]] = TakeInCorpora
    form: ClassVar[type[Line]]

    def repository(self, space: Space) -> CorpusRepository | None:
        """The repository of a space, if it holds one."""
        if not _is_corpus(space):
            return None
        found = Corpora(connection=self.connection).find(space)
        return found if found.is_there else None

    def values(self, value: Any, space: Space) -> Values:  # noqa: ANN401 - any JSON
        """What a line says.

        Raises:
            InvalidInput: something is wrong with it, or it belongs in no such space.
        """
        if not _is_corpus(space):
            raise InvalidInput({self.kind: ["Lies in a space such as corpus:ada."]})
        return checked(self.form(), self.kind, value)


def _is_corpus(space: Space) -> bool:
    return space.kind is SpaceKind.CORPUS and space.persona is None


class CommitTransfer(_CorpusTransfer):
    """The revisions of a repository with their documents, each text once."""

    kind = "corpus_commit"
    plural = "corpus_commits"
    form = CorpusCommitLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """All commits, the first first."""
        if self.repository(space) is None:
            return
        told: set[str] = set()
        for stored in commits_of_space(self.connection, space):
            commit = stored.commit
            new = {each.sha256: each.text for each in stored.documents.values()}
            yield {
                "sha": stored.sha,
                "parent": stored.parent,
                "revision": commit.revision,
                "message": commit.message,
                "at": iso(commit.at),
                "key_id": commit.key_id,
                "tree": dict(commit.tree),
                "documents": {sha: text for sha, text in new.items() if sha not in told},
                "error": stored.error,
                "failed": commit.has_failed,
                "retry_count": stored.retry_count,
            }
            told |= new.keys()

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The commit of a line."""
        values = self.values(value, space)
        for sha, text in values["documents"].items():
            if text_digest(text) != sha:
                raise InvalidInput({f"{self.kind}.documents.{sha}": ["Is not its hash."]})
        stored = StoredCommit(
            sha=values["sha"],
            parent=values["parent"],
            error=values["error"],
            retry_count=values["retry_count"],
            commit=Commit(
                revision=values["revision"],
                message=values["message"],
                at=values["at"],
                key_id=values["key_id"],
                tree=values["tree"],
                has_failed=values["failed"],
            ),
            documents={
                sha: Document(path=sha, text=text) for sha, text in values["documents"].items()
            },
        )
        said = [stored.commit.message, *values["documents"].values()]
        return Loaded(key=stored.sha, record=(space, stored), texts=said)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write commits, where no other repository is."""
        found: dict[str, bool | None] = {}
        for space, stored in records:
            is_here = lock_repository(transaction, space).is_there
            taken = None if is_here else take_in_commit(transaction, space, stored)
            found[stored.sha] = False if is_here else taken
        return found


class RepositoryTransfer(_CorpusTransfer):
    """What is recorded of a repository."""

    kind = "corpus_repository"
    plural = "corpus_repositories"
    form = CorpusRepositoryLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The repository, if there is one."""
        found = self.repository(space)
        if found is None:
            return
        names = ("works", "last_failed", "has_failed_write", "approvals", "transitions", "turn")
        work = found.newest
        yield {
            "created_at": iso(found.created_at),
            **{name: getattr(found, name) for name in names},
            "topics": list(found.topics),
            "state": found.state.value,
            "newest": {**asdict(work), "at": iso(work.at)} if work else None,
            "last_written": iso(found.last_written),
            "head": found.head_sha,
            "verified": found.verified.sha if found.verified else None,
        }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The repository of a line."""
        values = self.values(value, space)
        verified, head, newest = (values.pop(name) for name in ("verified", "head", "newest"))
        repository = CorpusRepository(
            space=space,
            **values | {"topics": tuple(values["topics"])},
            newest=CorpusWork(**newest) if newest else None,
            head_sha=head,
        )
        said = [*repository.topics, *([repository.turn] if repository.turn else [])]
        return Loaded(key=space.key, record=(repository, verified), texts=said)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write repositories of spaces that have none."""
        found: dict[str, bool] = {}
        for repository, verified in records:
            is_new = not lock_repository(transaction, repository.space).is_there
            if is_new:
                take_in_repository(transaction, repository, verified)
            found[repository.space.key] = is_new
        return found


@dataclass(frozen=True, kw_only=True)
class _PartTransfer(_CorpusTransfer):
    """Kinds that belong to one repository, which is known by when it was created."""

    def part(self, transaction: Workbench, space: Space, created_at: object) -> bool:
        """Whether the repository here is the one that a record belongs to."""
        return lock_repository(transaction, space).created_at == created_at

    def take_in_numbered(
        self,
        transaction: Workbench,
        records: Sequence[Any],
        *,
        save: Callable[..., None],
        which: int,
    ) -> Mapping[str, bool | None]:
        """Save records whose numbers are not here; ``which`` of ``numbers_of`` these are.

        A record is its space, when its repository was created, its number, and what is saved.
        """
        found: dict[str, bool | None] = {}
        known: dict[str, set[int]] = {}  # by space, read once
        for space, created_at, number, *said in records:
            if not self.part(transaction, space, created_at):
                found[str(number)] = None
                continue
            if space.key not in known:
                known[space.key] = set(numbers_of(transaction, space)[which])
            is_new = number not in known[space.key]
            if is_new:
                save(transaction, space, number, *said)
                known[space.key].add(number)
            found[str(number)] = is_new
        return found


class DraftTransfer(_PartTransfer):
    """The drafts of sessions."""

    kind = "corpus_draft"
    plural = "corpus_drafts"
    form = CorpusDraftLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """All drafts, by session."""
        repository = self.repository(space)
        for draft in drafts_of(self.connection, space) if repository else ():
            yield {
                "created_at": iso(repository.created_at) if repository else None,
                "session": draft.session,
                "revision": draft.revision,
                "corpus": json.dumps(draft.corpus, ensure_ascii=False),
                "files": {path: document.text for path, document in draft.files.items()},
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The draft of a line."""
        values = self.values(value, space)
        corpus = self._corpus(values["corpus"])
        files = {path: Document(path=path, text=text) for path, text in values["files"].items()}
        draft = CorpusDraft(
            session=values["session"], revision=values["revision"], corpus=corpus, files=files
        )
        said = [*(text for _, text in texts(corpus)), *values["files"].values()]
        record = (space, values["created_at"], draft)
        return Loaded(key=draft.session, record=record, texts=said)

    def _corpus(self, text: str) -> Values:
        try:
            corpus = parsed(text)
        except ValueError as error:
            raise InvalidInput({f"{self.kind}.corpus": ["Must be JSON."]}) from error
        if not isinstance(corpus, dict) or depth_problem(corpus):
            raise InvalidInput({f"{self.kind}.corpus": ["Must be an object."]})
        return corpus

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write drafts of sessions that have none here."""
        found: dict[str, bool | None] = {}
        for space, created_at, draft in records:
            if not self.part(transaction, space, created_at):
                found[draft.session] = None
                continue
            is_new = draft_of(transaction, space, draft.session) is None
            if is_new:
                save_draft(transaction, space, draft, transaction.now)
            found[draft.session] = is_new
        return found


class ApprovalTransfer(_PartTransfer):
    """What was said of contents."""

    kind = "corpus_approval"
    plural = "corpus_approvals"
    form = CorpusApprovalLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """What was said of contents, the newest first."""
        repository = self.repository(space)
        if repository is None:
            return

        def page_after(cursor: Cursor | None) -> Page[Mapping[str, Any]]:
            corpora = Corpora(connection=self.connection)
            return corpora.approvals(space, cursor, limit=_AT_ONCE)

        for row in every_item(page_after):
            at = iso(moment_of(row["at"]))
            yield {**row, "at": at, "created_at": iso(repository.created_at)}

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The approval of a line."""
        values = self.values(value, space)
        approval = Approval(
            **{name: values[name] for name in ("section", "content_sha256", "basis", "approved")},
            at=values["at"],
        )
        number = values["number"]
        record = (space, values["created_at"], number, approval, values["key_id"])
        return Loaded(key=str(number), record=record)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write approvals that are not here."""
        return self.take_in_numbered(transaction, records, save=save_approval, which=0)


class TransitionTransfer(_PartTransfer):
    """The changes of state."""

    kind = "corpus_transition"
    plural = "corpus_transitions"
    form = CorpusTransitionLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """All changes of state."""
        repository = self.repository(space)
        if repository is None:
            return

        def page_after(cursor: Cursor | None) -> Page[tuple[int, Transition]]:
            corpora = Corpora(connection=self.connection)
            return corpora.transitions(space, cursor, limit=_AT_ONCE)

        for number, change in every_item(page_after):
            yield {
                "created_at": iso(repository.created_at),
                "number": number,
                "before": change.before.value,
                "after": change.after.value,
                "at": iso(change.at),
                "cause": change.cause,
                "extension": change.extension,
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The change of state of a line."""
        values = self.values(value, space)
        created_at, number = values.pop("created_at"), values.pop("number")
        record = (space, created_at, number, Transition(**values))
        return Loaded(key=str(number), record=record, texts=[values["cause"]])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write changes that are not here."""
        return self.take_in_numbered(transaction, records, save=save_transition, which=1)
