"""Transfer: the drafts, approvals and transitions of a repository in an export, and back."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marshmallow import fields, validate

from graphmem.corpus.commit_transfer import (
    COUNT,
    NUMBER,
    SHA,
    CommitTransfer,
    CorpusTransfer,
    RepositoryTransfer,
    name_field,
    texts_field,
)
from graphmem.corpus.documents import parsed
from graphmem.corpus.file_names import check_paths
from graphmem.corpus.schema import value_problems
from graphmem.corpus.words import words_of, words_of_files
from graphmem.errors import InvalidInput
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment
from graphmem.intake.record_transfer import Loaded
from graphmem.model.corpus import (
    Approval,
    Basis,
    CorpusDraft,
    CorpusState,
    Document,
    Section,
    Transition,
)
from graphmem.model.page import Cursor, Page, every_item
from graphmem.model.space import Space
from graphmem.rooms import Transfer
from graphmem.store.connection import Connection
from graphmem.store.corpora import (
    Corpora,
    draft_of,
    drafts_of,
    lock_repository,
)
from graphmem.store.corpus_changes import (
    save_approval,
    save_draft,
    save_transition,
)
from graphmem.store.corpus_transfer import numbers_of
from graphmem.text.times import iso, moment_of

Values = dict[str, Any]
_AT_ONCE = 200


class CorpusDraftLine(Line):
    """A draft; the corpus is JSON in a text."""

    created_at = Moment(required=True)
    session = fields.String(required=True, validate=validate.Length(1, 200))
    revision = fields.Integer(strict=True, required=True, validate=COUNT)
    corpus = fields.String(required=True)
    files = texts_field()


class CorpusApprovalLine(Line):
    """What somebody said of one content of a section."""

    created_at = Moment(required=True)
    number = fields.Integer(strict=True, required=True, validate=NUMBER)
    section = fields.Enum(Section, by_value=True, required=True)
    content_sha256 = fields.String(required=True, validate=SHA)
    basis = fields.Enum(Basis, by_value=True, required=True)
    approved = fields.Boolean(required=True)
    at = Moment(required=True)
    key_id = name_field(required=True)


class CorpusTransitionLine(Line):
    """A change of state, and what caused it."""

    created_at = Moment(required=True)
    number = fields.Integer(strict=True, required=True, validate=NUMBER)
    before = fields.Enum(CorpusState, by_value=True, required=True)
    after = fields.Enum(CorpusState, by_value=True, required=True)
    at = Moment(required=True)
    cause = name_field(required=True)
    extension = fields.Boolean(load_default=False)


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
class _PartTransfer(CorpusTransfer):
    """Kinds that belong to one repository, which is known by when it was created."""

    def are_here(
        self, transaction: Workbench, records: Sequence[Any]
    ) -> Mapping[tuple[Space, object], bool]:
        """Whether the repositories here are those of some records, by space and when created."""
        named = dict.fromkeys((record[0], record[1]) for record in records)
        return {
            (space, created_at): lock_repository(transaction, space).created_at == created_at
            for space, created_at in named
        }

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
        are_here = self.are_here(transaction, records)
        for space, created_at, number, *said in records:
            if not are_here[space, created_at]:
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
        check_paths(values["files"], f"{self.kind}.files")
        files = {path: Document(path=path, text=text) for path, text in values["files"].items()}
        draft = CorpusDraft(
            session=values["session"], revision=values["revision"], corpus=corpus, files=files
        )
        said = [draft.session, *words_of(corpus), *words_of_files(files)]
        record = (space, values["created_at"], draft)
        return Loaded(key=draft.session, record=record, texts=said)

    def _corpus(self, text: str) -> Values:
        try:
            corpus = parsed(text)
        except ValueError as error:
            raise InvalidInput({f"{self.kind}.corpus": ["Must be JSON."]}) from error
        if not isinstance(corpus, dict):
            raise InvalidInput({f"{self.kind}.corpus": ["Must be an object."]})
        if problems := value_problems(corpus):
            raise InvalidInput({f"{self.kind}.corpus.{e.path}": [e.message] for e in problems})
        return corpus

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write drafts of sessions that have none here."""
        found: dict[str, bool | None] = {}
        are_here = self.are_here(transaction, records)
        for space, created_at, draft in records:
            if not are_here[space, created_at]:
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
        return Loaded(key=str(number), record=record, texts=[values["key_id"]])

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
