"""Restoring: what the store did not take comes into a draft, and no other text is lost (000)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld
from graphmem.corpus.documents import digest
from graphmem.corpus.drafting import (
    DraftChange,
    DraftWorld,
    check_sessions,
    draft_to_write,
    draft_world,
    kept_form,
)
from graphmem.corpus.edits import Edit, EditKind, edited
from graphmem.corpus.pull import is_edited, kept_name
from graphmem.corpus.schema import Problem, dotted
from graphmem.errors import GraphmemError, InvalidInput, NotFound
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import CorpusDraft, CorpusRepository
from graphmem.model.event import Effect
from graphmem.store.corpus_changes import CorpusChanges


@dataclass(frozen=True, kw_only=True)
class RestoreDraft(CorpusOperation[DraftChange]):
    """Make edits of a draft that were kept in a file; those that cannot be made are named."""

    session: str
    edits: Sequence[Edit]
    not_made: tuple[Problem, ...]  # what is known of others already
    new_id: Callable[[], str]

    @property
    def texts(self) -> Sequence[str]:
        """All that is put into words."""
        return (self.session, *(word for edit in self.edits for word in edit.words))

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> DraftWorld:
        """The draft, what it was made from, and the sessions that have one."""
        return draft_world(transaction, repository, self.session)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[DraftChange]:  # noqa: ARG002
        """The draft with the edits; one that is edited is kept aside before a whole one comes.

        Raises:
            RepositoryNotFound: there is no repository.
        """
        world.check_there()
        more: DraftWorld = world.more
        check_sessions(more.draft, more.sessions)
        draft = draft_to_write(
            self.session, more.draft, more.base, world.repository, lambda: world.look
        )
        not_made = list(self.not_made)
        for edit in self._in_order():
            try:
                draft = self._with(draft, edit)
            except (InvalidInput, NotFound) as error:
                not_made += problems_of(edit, error)
        aside = self._aside(more, draft)
        made = DraftChange(
            corpus=draft.corpus,
            not_made=tuple(not_made),
            kept_as=aside.session if aside else None,
        )
        drafts = (draft, *((aside,) if aside else ()))
        event = self.event(Effect.CORPUS_DRAFTED, session=self.session)
        return Decided(answer=made, events=(event,), records=CorpusChanges(drafts=drafts))

    def _in_order(self) -> list[Edit]:
        """The last whole draft, and on it all edits, also those that it was read without."""
        whole = [each for each in self.edits if each.kind is EditKind.WHOLE]
        return [*whole[-1:], *(each for each in self.edits if each.kind is not EditKind.WHOLE)]

    def _with(self, draft: CorpusDraft, edit: Edit) -> CorpusDraft:
        corpus = kept_form(edited(draft.corpus, edit, self.new_id).corpus, self.policy, self.new_id)
        if edit.kind is EditKind.WHOLE:
            return replace(draft, corpus=corpus, revision=edit.revision, files=edit.files)
        return replace(draft, corpus=corpus)

    def _aside(self, more: DraftWorld, draft: CorpusDraft) -> CorpusDraft | None:
        """What lay in the session, where a whole draft takes its place and it would be lost."""
        whole = [each for each in self.edits if each.kind is EditKind.WHOLE]
        if more.draft is None or not whole or not is_edited(more.draft, more.base):
            return None
        if digest(whole[-1].value) == digest(more.draft.corpus):
            return None
        return replace(more.draft, session=kept_name(draft.session, more.sessions))


def problems_of(edit: Edit, error: GraphmemError) -> list[Problem]:
    """Why an edit cannot be made, by the paths of what it is about."""
    if isinstance(error, InvalidInput):
        return [
            Problem(path=path, message=message)
            for path, messages in error.fields.items()
            for message in messages
        ]
    place = tuple(filter(None, (edit.section.value if edit.section else "", edit.uid)))
    return [Problem(path=dotted(place), message=error.message)]
