"""The keeper of career corpora: repositories, drafts and pushes, for callers (000)."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from graphmem.corpus.approvals import (
    SectionStanding,
    is_dirty,
    section_hashes,
    standings_of,
)
from graphmem.corpus.bootstrapping import Bootstrap
from graphmem.corpus.corpus_operation import RepositoryNotFound
from graphmem.corpus.drafting import (
    ApproveSection,
    Change,
    ChangeDraft,
    DraftChange,
    DraftView,
    PullDraft,
    fresh_draft,
    loaded,
    view_of,
)
from graphmem.corpus.edits import Edit, edited
from graphmem.corpus.fallback import StoreAway
from graphmem.corpus.initialisation import Initialisation
from graphmem.corpus.join import own_documents
from graphmem.corpus.json_resume import json_resume
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.looks import Look, facts_of
from graphmem.corpus.onboarding import Onboarding, onboarding
from graphmem.corpus.pull import PullResult
from graphmem.corpus.restoring import RestoreDraft, problems_of
from graphmem.corpus.revision_writer import RevisionWriter
from graphmem.corpus.revisions import CorpusInvalid
from graphmem.corpus.schema import Problem
from graphmem.corpus.state import CorpusFacts, state_of
from graphmem.corpus.status import EmissionPolicy, Intent, Status, status
from graphmem.corpus.telling import TellStatus, status_facts
from graphmem.corpus.words import words_of, words_of_files
from graphmem.errors import InvalidInput, NotFound, PolicyRefused, StoreUnavailable
from graphmem.gateway.screening import screen
from graphmem.model.caller import Caller
from graphmem.model.corpus import (
    Approval,
    Basis,
    Corpus,
    CorpusRepository,
    CorpusState,
    Documents,
    Head,
    Section,
    StoredCommit,
)
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.store.connection import Transaction
from graphmem.store.corpora import (
    Corpora,
    approvals_of,
    commit_of_revision,
    draft_of,
    read_repository,
    repository_as_shown,
    repository_of,
)

_TURNS = 10_000  # that are remembered


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusView:
    """What is known of an owner's corpus."""

    repository: CorpusRepository
    facts: CorpusFacts
    sections: Mapping[Section, SectionStanding]
    is_dirty: bool

    @property
    def state(self) -> CorpusState:
        """The state that the facts say."""
        return state_of(self.facts)


@dataclass(kw_only=True)
class _Turns:
    """The turns in which a create was tried, with their owners."""

    _tried: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def note(self, space: Space, turn: str) -> bool:
        """Note a turn; whether it was noted before."""
        key = (space.key, turn)
        with self._lock:
            was_tried = key in self._tried
            self._tried[key] = None
            while len(self._tried) > _TURNS:
                self._tried.popitem(last=False)
        return was_tried


@dataclass(frozen=True, kw_only=True)
class CorpusKeeper(RevisionWriter):
    """Runs operations on career corpora for callers."""

    corpora: Corpora
    turns: _Turns = field(default_factory=_Turns)

    def bootstrap(
        self, space: Space, turn: str, topics: Sequence[object], *, caller: Caller
    ) -> Initialisation:
        """Let an owner have a repository.

        Raises:
            Conflict: it was to be created in this turn before.
        """
        was_tried = self.turns.note(space, turn)
        operation = Bootstrap(
            **self._common(space, caller), turn=turn, topics=topics, was_tried=was_tried
        )
        done = self.gateway.execute(operation, caller).answer
        if not self.corpora.find(space).is_there:
            raise RepositoryNotFound
        return done

    def view(self, space: Space, session: str = "default") -> CorpusView:
        """What is known of an owner's corpus, and whether a session changed it."""

        def work(transaction: Transaction) -> CorpusView:
            likely = self.looks.newest(space)
            read = read_repository(transaction, space, session, likely)
            look = self.looks.at(read.repository.verified, self.policy(space))
            hashes, approvals = set(look.hashes.values()), read.approvals
            if not hashes <= likely:
                approvals = approvals_of(transaction, space, hashes)
                self.looks.see(space, look)
            return CorpusView(
                repository=read.repository,
                facts=facts_of(read.repository, look),
                sections=standings_of(approvals, look.hashes),
                is_dirty=self._is_dirty(look, read.draft),
            )

        return self.connection.read(work)

    def _is_dirty(self, look: Look, draft: str | None) -> bool:
        """Whether a draft says something else; one that is not there yet may by its one form."""
        if draft is None:
            first = loaded(look.corpus) if look.corpus else {}
            return first != (look.corpus or {}) and is_dirty(look.corpus, first)
        return _is_changed(look, self.looks.of_draft(draft))

    def page(self, caller: Caller, after: Cursor | None, *, limit: int) -> Page[CorpusView]:
        """One page of the corpora that a caller may see, by owner."""
        page = self.corpora.page(caller.tenant, caller.visible_spaces, after, limit=limit)
        views = tuple(self.view(each.space) for each in page.items)
        return Page(items=views, total=page.total, next=page.next)

    def draft(self, space: Space, session: str, change: DraftChange | None = None) -> DraftView:
        """The draft of a session; one that has none sees the proved revision.

        Raises:
            RepositoryNotFound: there is no repository.
        """

        def work(transaction: Transaction) -> DraftView:
            repository, look = self._found(transaction, space)
            draft = draft_of(transaction, space, session)
            draft = draft or fresh_draft(session, repository, look)
            approvals = approvals_of(transaction, space, section_hashes(draft.corpus).values())
            return view_of(
                draft,
                look,
                approvals,
                self.policy(space),
                now=self.clock.now(),
                more=change.problems if change else (),
            )

        return self.connection.read(work)

    def _found(self, reader: Transaction, space: Space) -> tuple[CorpusRepository, Look]:
        repository = repository_of(reader, space)
        if not repository.is_there:
            raise RepositoryNotFound
        return repository, self.looks.at(repository.verified, self.policy(space))

    def change_draft(
        self, space: Space, session: str, change: Change, *, words: Sequence[str], caller: Caller
    ) -> DraftChange:
        """Change the draft of a session; ``words`` are screened.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: no draft can hold what becomes of it.
            PolicyRefused: its words may not be stored.
        """
        operation = ChangeDraft(
            **self._common(space, caller),
            session=session,
            change=change,
            words=words,
            new_id=self.new_id,
        )
        return self.gateway.execute(operation, caller).answer

    def edit(self, space: Space, session: str, edit: Edit, *, caller: Caller) -> DraftChange:
        """Make an edit of the draft of a session.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: no draft can hold what becomes of it.
            PolicyRefused: its words may not be stored.
            StoreAway: the store did not take it; it may lie in a file.
        """
        words = (*edit.words, session)

        def change(corpus: Corpus) -> DraftChange:
            return edited(corpus, edit, self.new_id)

        try:
            return self.change_draft(space, session, change, words=words, caller=caller)
        except StoreUnavailable as error:
            is_kept = self._kept(space, session, edit, error)
            raise StoreAway(is_kept=is_kept) from error

    def restore(self, space: Space, session: str, *, caller: Caller) -> DraftChange:
        """Take what lies in the file of a session into its draft, but for what cannot be.

        Raises:
            NotFound: there is no file.
        """
        kept = self.fallback.edits(space, session)
        if not kept:
            raise NotFound
        self.settle(space, caller)
        edits, not_made = self._screened(space, kept)
        operation = RestoreDraft(
            **self._common(space, caller),
            session=session,
            edits=edits,
            not_made=tuple(not_made),
            new_id=self.new_id,
        )
        made = self.gateway.execute(operation, caller).answer
        self.fallback.drop(space, session, len(kept))
        return made

    def _screened(self, space: Space, edits: Sequence[Edit]) -> tuple[list[Edit], list[Problem]]:
        """The edits whose words may be stored now, and why the others may not."""
        good: list[Edit] = []
        not_made: list[Problem] = []
        for edit in edits:
            try:
                screen(edit.words, self.policies.of(space))
                good.append(edit)
            except (InvalidInput, PolicyRefused) as error:
                not_made += problems_of(edit, error)
        return good, not_made

    def approve(
        self,
        space: Space,
        session: str,
        section: Section,
        *,
        shown: str,
        basis: Basis,
        approved: bool,
        caller: Caller,
    ) -> Approval:
        """Note what somebody said of the section that he was shown.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: the draft says something else by now.
        """
        operation = ApproveSection(
            **self._common(space, caller),
            session=session,
            section=section,
            shown=shown,
            basis=basis,
            approved=approved,
        )
        return self.gateway.execute(operation, caller).answer

    def pull(self, space: Space, session: str, *, force: bool, caller: Caller) -> PullResult:
        """Let a session take the proved revision."""
        self.settle(space, caller)
        operation = PullDraft(**self._common(space, caller), session=session, force=force)
        return self.gateway.execute(operation, caller).answer

    def tell(
        self,
        space: Space,
        audience: str,
        *,
        intent: Intent | None,
        emission: EmissionPolicy,
        caller: Caller,
    ) -> Status:
        """Tell an audience how a corpus stands, and remember what it saw.

        Raises:
            NotInitialized: there is no repository, and nothing was tried.
        """
        operation = TellStatus(
            **self._common(space, caller), audience=audience, intent=intent, emission=emission
        )
        return self.gateway.execute(operation, caller).answer

    def status(self, space: Space, audience: str | None = None) -> Status:
        """How a corpus stands, as an audience would be told; nothing is remembered.

        Raises:
            NotInitialized: there is no repository, and nothing was tried.
        """
        repository, seen = repository_as_shown(self.connection, space, audience or "")
        look = self.looks.at(repository.verified, self.policy(space))
        ledger = Ledger(repository=repository, look=look, now=self.clock.now())
        return status(status_facts(ledger), seen, intent=Intent.MEMORY_STATUS)

    def onboarding(self, space: Space, session: str) -> Onboarding:
        """Where the interview about a draft stands.

        Raises:
            RepositoryNotFound: there is no repository.
        """
        view = self.draft(space, session)
        approved = [section for section, each in view.sections.items() if each.approved]
        return onboarding(view.draft.corpus, approved)

    def commit(self, space: Space, revision: int) -> StoredCommit:
        """A proved revision with its documents.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: there is no such revision.
        """
        repository = self.corpora.find(space)
        if not repository.is_there:
            raise RepositoryNotFound
        is_proved = 1 <= revision <= repository.verified_head.revision
        found = commit_of_revision(self.connection, space, revision) if is_proved else None
        if found is None:
            raise InvalidInput({"revision": [f"There is no revision {revision}."]})
        return found

    def files(self, space: Space) -> Head:
        """The files of the verified revision.

        Raises:
            RepositoryNotFound: there is no repository.
        """
        repository = self.corpora.find(space)
        if not repository.is_there:
            raise RepositoryNotFound
        return repository.verified_head

    def resume(self, space: Space) -> tuple[int, Mapping[str, object]]:
        """The verified revision, and its corpus as a JSON Resume.

        Raises:
            RepositoryNotFound: there is no repository.
            NotFound: there is no corpus.
            CorpusInvalid: it is not valid, or damaged.
        """
        repository = self.corpora.find(space)
        if not repository.is_there:
            raise RepositoryNotFound
        look = self.looks.at(repository.verified, self.policy(space))
        if not look.has_corpus:
            raise NotFound
        if look.corpus is None or not look.is_valid:
            raise CorpusInvalid
        return repository.verified_head.revision, json_resume(look.corpus)

    def import_draft(
        self,
        space: Space,
        session: str,
        corpus: Corpus,
        files: Documents | None = None,
        *,
        caller: Caller,
    ) -> DraftChange:
        """Let a corpus from outside be the draft; ``files`` are those that it came from.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: no draft can hold it.
            PolicyRefused: its words may not be stored.
        """
        given = files or {}
        made = DraftChange(corpus=corpus, files=own_documents(given))
        words = (*words_of(corpus), *words_of_files(given), session)
        return self.change_draft(space, session, lambda _: made, words=words, caller=caller)


def _is_changed(look: Look, draft: Look) -> bool:
    """Whether a draft says something else than a revision; most do not."""
    corpus = draft.corpus or {}
    if look.corpus is None:
        return is_dirty(None, corpus)
    version = look.corpus.get("schema_version")
    has_version = corpus.get("schema_version", version) == version
    is_same = draft.hashes == look.hashes and has_version
    return not is_same and is_dirty(look.corpus, corpus)
