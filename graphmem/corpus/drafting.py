"""Drafting: sessions change their drafts, and somebody approves sections of them (000)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.corpus.approvals import SectionStanding, approval_of, is_dirty, section_standings
from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld, head_of
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.looks import Look
from graphmem.corpus.manifest import ids_of, lacks_ids, with_ids
from graphmem.corpus.normalise import normalised
from graphmem.corpus.notes_policy import notes_problems
from graphmem.corpus.pull import PullResult, decide_pull, pull_before_write
from graphmem.corpus.schema import (
    SCHEMA_VERSION,
    Problem,
    corpus_problems,
    size_problems,
    value_problems,
)
from graphmem.corpus.service_metadata import with_metadata
from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import (
    Approval,
    Basis,
    Corpus,
    CorpusDraft,
    CorpusRepository,
    Documents,
    Head,
    Section,
)
from graphmem.model.event import Effect
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.store.corpora import draft_of, sessions_of
from graphmem.store.corpus_changes import CorpusChanges

_NOT_TAKEN = "A blank does not take the place of content (allow_blank)."
_SESSIONS_MAX = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftChange:
    """What a change made of a draft: where a blank was not taken, and the item that it is about."""

    corpus: Corpus
    not_taken: tuple[str, ...] = ()
    item: str | None = None
    is_new: bool = False
    files: Documents | None = None  # that the draft comes from now
    not_made: tuple[Problem, ...] = ()  # edits that could not be made
    kept_as: str | None = None  # the session in which an edited draft lies now

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the change did not do."""
        not_taken = (Problem(path=path, message=_NOT_TAKEN) for path in self.not_taken)
        return (*not_taken, *self.not_made)


Change = Callable[[Corpus], DraftChange]


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftView:
    """A draft as answers show it."""

    draft: CorpusDraft
    is_dirty: bool
    problems: tuple[Problem, ...]
    sections: dict[Section, SectionStanding]


def fresh_draft(session: str, repository: CorpusRepository, look: Look) -> CorpusDraft:
    """The draft of a session that has none yet: the proved revision."""
    corpus = loaded(look.corpus) if look.corpus else {}
    return CorpusDraft(session=session, revision=repository.verified_head.revision, corpus=corpus)


def loaded(corpus: Corpus) -> Corpus:
    """A proved corpus as a session begins with it: in its one form, each item with an id."""
    found = normalised(corpus, drops_links=False)
    return with_ids(found, ids_of(found)) if lacks_ids(found) else found


def draft_to_write(
    session: str,
    known: CorpusDraft | None,
    base: Head,
    repository: CorpusRepository,
    look: Callable[[], Look],
) -> CorpusDraft:
    """The draft that an edit or push begins from: a stale one that nobody edited is pulled first.

    ``base`` is what the known one was made from. What cannot be read is not pulled.
    """
    is_left_out = pull_before_write(known, base, repository.verified_head)
    if known and (is_left_out or look().corpus is None):
        return known
    return fresh_draft(session, repository, look())


def view_of(
    draft: CorpusDraft,
    look: Look,
    approvals: tuple[Approval, ...],
    policy: CorpusPolicy,
    *,
    now: datetime,
    more: tuple[Problem, ...] = (),
) -> DraftView:
    """A draft with what is wrong with it, and where each section stands."""
    whole = with_metadata({"schema_version": SCHEMA_VERSION, **draft.corpus}, look.corpus, now)
    problems = {*corpus_problems(whole, policy), *notes_problems(draft.corpus), *more}
    return DraftView(
        draft=draft,
        is_dirty=is_dirty(look.corpus, draft.corpus),
        problems=tuple(sorted(problems)),
        sections=dict(section_standings(approvals, draft.corpus)),
    )


def kept_form(corpus: Corpus, policy: CorpusPolicy, new_id: Callable[[], str]) -> Corpus:
    """A corpus as drafts keep it: in its one form, each item with an id.

    Raises:
        InvalidInput: no draft can hold it, as it is no object, too deep, or too large.
    """
    if not isinstance(corpus, dict):
        raise InvalidInput({"corpus": ["Must be an object."]})
    if problems := value_problems(corpus) or size_problems(corpus, policy):
        raise InvalidInput({each.path: [each.message] for each in problems})
    return with_ids(normalised(corpus, drops_links=False), new_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftWorld:
    """A draft, what it was made from, and the sessions that have one."""

    draft: CorpusDraft | None
    base: Head
    sessions: Sequence[str] = ()


def draft_world(
    transaction: Workbench, repository: CorpusRepository, session: str, *, needs_all: bool = True
) -> DraftWorld:
    """What a change of a draft rests on; without ``needs_all`` sessions only for a new one."""
    draft = draft_of(transaction, repository.space, session)
    is_listed = needs_all or draft is None
    return DraftWorld(
        draft=draft,
        base=head_of(transaction, repository, draft.revision) if draft else Head(),
        sessions=sessions_of(transaction, repository.space) if is_listed else (),
    )


@dataclass(frozen=True, kw_only=True)
class ChangeDraft(CorpusOperation[DraftChange]):
    """Change the draft of a session, which begins as the proved revision."""

    session: str
    change: Change
    words: Sequence[str]
    new_id: Callable[[], str]

    @property
    def texts(self) -> Sequence[str]:
        """All that is put into words."""
        return self.words

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> DraftWorld:
        """The draft, what it was made from, and the sessions where it is a new one."""
        return draft_world(transaction, repository, self.session, needs_all=False)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[DraftChange]:  # noqa: ARG002
        """The draft with the change.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: no draft can hold what it makes of it.
        """
        world.check_there()
        more: DraftWorld = world.more
        check_sessions(more.draft, more.sessions)
        draft = draft_to_write(
            self.session, more.draft, more.base, world.repository, lambda: world.look
        )
        made = self.change(draft.corpus)
        corpus = kept_form(made.corpus, self.policy, self.new_id)
        made = replace(made, corpus=corpus)
        files = draft.files if made.files is None else made.files
        changed = CorpusChanges(drafts=(replace(draft, corpus=corpus, files=files),))
        event = self.event(Effect.CORPUS_DRAFTED, session=self.session)
        return Decided(answer=made, events=(event,), records=changed)


def check_sessions(known: CorpusDraft | None, sessions: Sequence[str]) -> None:
    """Refuse one draft too many.

    Raises:
        Conflict: the owner has as many drafts as there can be.
    """
    if known is None and len(sessions) >= _SESSIONS_MAX:
        message = f"An owner has {_SESSIONS_MAX} drafts at most."
        raise Conflict(message)


@dataclass(frozen=True, kw_only=True)
class ApproveSection(CorpusOperation[Approval]):
    """Note what somebody said of the section that he was shown."""

    session: str
    section: Section
    shown: str
    basis: Basis
    approved: bool

    def read_more(
        self,
        transaction: Workbench,
        repository: CorpusRepository,  # noqa: ARG002
    ) -> CorpusDraft | None:
        """The draft of the session, if it has one."""
        return draft_of(transaction, self.space, self.session)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Approval]:
        """The approval.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: the draft says something else by now.
        """
        world.check_there()
        draft = world.more or fresh_draft(self.session, world.repository, world.look)
        approval = approval_of(
            draft.corpus,
            self.section,
            shown=self.shown,
            basis=self.basis,
            approved=self.approved,
            now=now,
        )
        number = world.repository.approvals + 1
        changed = CorpusChanges(
            repository=replace(world.repository, approvals=number),
            approval=(number, approval, self.key_id),
        )
        event = self.event(
            Effect.CORPUS_APPROVED, self.section.value, approved=self.approved, basis=self.basis
        )
        return Decided(answer=approval, events=(event,), records=changed)


@dataclass(frozen=True, kw_only=True)
class PullDraft(CorpusOperation[PullResult]):
    """Let a session take the proved revision; what it had edited is kept aside."""

    session: str
    force: bool

    @property
    def texts(self) -> Sequence[str]:
        """The name of the session."""
        return (self.session,)

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> DraftWorld:
        """The draft, what it was made from, and the sessions that have one."""
        return draft_world(transaction, repository, self.session)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[PullResult]:
        """What the session has afterwards; a pull that failed is recorded."""
        more: DraftWorld = world.more
        repository = world.repository
        result = decide_pull(
            repository.verified_head if repository.is_there else None,
            more.draft,
            base=more.base.documents,
            sessions=more.sessions,
            force=self.force,
        )
        if result.error_code:
            return self._failed(world.ledger(now), result)
        if result.corpus is None:
            return Decided(answer=result)
        pulled = CorpusDraft(
            session=self.session,
            revision=repository.verified_head.revision,
            corpus=loaded(result.corpus),
        )
        drafts = [pulled]
        if more.draft and result.kept_as:
            drafts.append(replace(more.draft, session=result.kept_as))
        event = self.event(Effect.CORPUS_DRAFTED, session=self.session, pulled=pulled.revision)
        return Decided(answer=result, events=(event,), records=CorpusChanges(drafts=tuple(drafts)))

    def _failed(self, ledger: Ledger, result: PullResult) -> Decided[PullResult]:
        """Nothing is taken, and a status tells that something failed."""
        ledger.note_failure()
        changed = CorpusChanges(repository=ledger.repository, transitions=tuple(ledger.transitions))
        event = self.event(Effect.CORPUS_REFUSED, cause="pull", why=result.reason)
        return Decided(answer=result, events=(event,), records=changed)
