"""Commit transfer: repositories with their commits in an export, and back.

What is here stays as it is: only a space without a repository takes one, with all that is of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from marshmallow import fields, validate

from graphmem.corpus.file_names import check_paths
from graphmem.corpus.words import words_of_files
from graphmem.errors import InvalidInput
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords
from graphmem.model.corpus import (
    PUSH,
    Commit,
    CorpusRepository,
    CorpusState,
    CorpusWork,
    Document,
    StoredCommit,
    Verification,
    text_digest,
)
from graphmem.model.space import Space, SpaceKind
from graphmem.model.trace import TraceKind
from graphmem.store.connection import Connection
from graphmem.store.corpora import (
    Corpora,
    lock_repository,
)
from graphmem.store.corpus_transfer import (
    commits_of_space,
    take_in_commit,
    take_in_repository,
)
from graphmem.text.times import iso

Values = dict[str, Any]
COUNT = validate.Range(0, 2**53)
NUMBER = validate.Range(1, 2**53)
_NAME = validate.Length(1, 1_000)
_MESSAGE_CHARS = 100_000  # commits of other repositories can say much
SHA = validate.Regexp(r"[0-9a-f]{64}\Z")


def name_field(**options: Any) -> fields.String:  # noqa: ANN401 - marshmallow's
    """A text that names something."""
    return fields.String(validate=_NAME, **options)


def _maybe() -> Values:
    return {"allow_none": True, "load_default": None}


def texts_field() -> fields.Dict:
    """Texts by names of theirs."""
    return fields.Dict(keys=fields.String(), values=fields.String(), load_default=dict)


class CorpusCommitLine(Line):
    """A revision: the hash of each document by its path, and the texts that are new."""

    sha = fields.String(required=True, validate=SHA)
    parent = fields.String(validate=SHA, **_maybe())
    revision = fields.Integer(strict=True, required=True, validate=NUMBER)
    message = fields.String(required=True, validate=validate.Length(max=_MESSAGE_CHARS))
    at = Moment(required=True)
    key_id = name_field(required=True)
    cause = name_field(load_default=PUSH)
    tree = texts_field()
    documents = texts_field()
    error = name_field(**_maybe())
    failed = fields.Boolean(load_default=False)
    retry_count = fields.Integer(strict=True, load_default=0, validate=COUNT)


class _WorkLine(Line):
    number = fields.Integer(strict=True, required=True, validate=NUMBER)
    at = Moment(required=True)
    has_failed = fields.Boolean(load_default=False)
    validated = fields.Boolean(**_maybe())
    persisted = fields.Boolean(**_maybe())
    fallback_used = fields.Boolean(load_default=False)
    method = name_field(**_maybe())
    retry_count = fields.Integer(strict=True, load_default=0, validate=COUNT)
    verification = fields.Enum(Verification, by_value=True, load_default=Verification.NOT_RUN)


class CorpusRepositoryLine(Line):
    """What is recorded of a repository, with its newest and its last proved commit."""

    created_at = Moment(required=True)
    turn = name_field(**_maybe())
    topics = fields.List(name_field(), load_default=list, validate=validate.Length(max=100))
    state = fields.Enum(CorpusState, by_value=True, required=True)
    works = fields.Integer(strict=True, load_default=0, validate=COUNT)
    newest = fields.Nested(_WorkLine, **_maybe())
    last_failed = fields.Integer(strict=True, load_default=0, validate=COUNT)
    has_failed_write = fields.Boolean(load_default=False)
    last_written = Moment(**_maybe())
    approvals = fields.Integer(strict=True, load_default=0, validate=COUNT)
    transitions = fields.Integer(strict=True, load_default=0, validate=COUNT)
    head = fields.String(validate=SHA, **_maybe())
    verified = fields.String(validate=SHA, **_maybe())


class TakeInCorpora(TakeInRecords):
    """Write what another store kept of a corpus."""

    kind = TraceKind.CORPUS


@dataclass(frozen=True, kw_only=True)
class CorpusTransfer(RecordTransfer):
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


class CommitTransfer(CorpusTransfer):
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
                "cause": commit.cause,
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
        check_paths(values["tree"], f"{self.kind}.tree")
        for sha, text in values["documents"].items():
            if text_digest(text) != sha:
                raise InvalidInput({f"{self.kind}.documents.{sha}": ["Is not its hash."]})
        documents = {
            sha: Document(path=sha, text=text) for sha, text in values["documents"].items()
        }
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
                cause=values["cause"],
                tree=values["tree"],
                has_failed=values["failed"],
            ),
            documents=documents,
        )
        commit = stored.commit
        told = (commit.message, commit.key_id, commit.cause, stored.error)
        said = [*filter(None, told), *stored.commit.tree, *words_of_files(documents)]
        return Loaded(key=stored.sha, record=(space, stored), texts=said)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write commits, where no other repository is."""
        found: dict[str, bool | None] = {}
        spaces = dict.fromkeys(space for space, _ in records)
        are_here = {space: lock_repository(transaction, space).is_there for space in spaces}
        for space, stored in records:
            taken = None if are_here[space] else take_in_commit(transaction, space, stored)
            found[stored.sha] = False if are_here[space] else taken
        return found


class RepositoryTransfer(CorpusTransfer):
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
        method = repository.newest.method if repository.newest else None
        said = [*repository.topics, *filter(None, (repository.turn, method))]
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
