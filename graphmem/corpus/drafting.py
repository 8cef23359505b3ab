"""Drafting: sessions change their drafts, and somebody approves sections of them (000)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graphmem.corpus.approvals import SectionStanding, approval_of, is_dirty, section_standings
from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld, head_of
from graphmem.corpus.looks import Look
from graphmem.corpus.manifest import with_ids
from graphmem.corpus.normalise import normalised
from graphmem.corpus.notes_policy import notes_problems
from graphmem.corpus.pull import PullResult, decide_pull
from graphmem.corpus.schema import (
    SCHEMA_VERSION,
    Problem,
    corpus_problems,
    depth_problem,
    size_problems,
    texts,
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
from graphmem.store.corpora import (
    draft_of,
    sessions_of,
)
from graphmem.store.corpus_changes import (
    CorpusChanges,
)
from graphmem.text.normalise import is_storable

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

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the change did not do."""
        return tuple(Problem(path=path, message=_NOT_TAKEN) for path in self.not_taken)


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
    corpus = normalised(look.corpus, drops_links=False) if look.corpus else {}
    return CorpusDraft(session=session, revision=repository.verified_head.revision, corpus=corpus)


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
    too_deep = depth_problem(corpus)
    problems = (too_deep,) if too_deep else size_problems(corpus, policy)
    problems = problems or tuple(_unstorable(corpus))
    if problems:
        raise InvalidInput({each.path: [each.message] for each in problems})
    return with_ids(normalised(corpus, drops_links=False), new_id)


def _unstorable(corpus: Corpus) -> list[Problem]:
    return [
        Problem(path=".".join(map(str, place)), message="Has a character that cannot be stored.")
        for place, text in texts(corpus)
        if not is_storable(text)
    ]


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

    def read_more(
        self,
        transaction: Workbench,
        repository: CorpusRepository,  # noqa: ARG002
    ) -> tuple[CorpusDraft | None, list[str]]:
        """The draft, and the sessions that have one."""
        draft = draft_of(transaction, self.space, self.session)
        return draft, [] if draft else sessions_of(transaction, self.space)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[DraftChange]:  # noqa: ARG002
        """The draft with the change.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: no draft can hold what it makes of it.
        """
        world.check_there()
        known, sessions = world.more
        check_sessions(known, sessions)
        draft = known or fresh_draft(self.session, world.repository, world.look)
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _PullWorld:
    draft: CorpusDraft | None
    base: Head
    sessions: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class PullDraft(CorpusOperation[PullResult]):
    """Let a session take the proved revision; what it had edited is kept aside."""

    session: str
    force: bool
    new_id: Callable[[], str]

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> _PullWorld:
        """The draft, what it was made from, and the sessions that have one."""
        draft = draft_of(transaction, self.space, self.session)
        return _PullWorld(
            draft=draft,
            base=head_of(transaction, repository, draft.revision) if draft else Head(),
            sessions=sessions_of(transaction, self.space),
        )

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[PullResult]:  # noqa: ARG002
        """What the session has afterwards."""
        more: _PullWorld = world.more
        repository = world.repository
        result = decide_pull(
            _readable(world) if repository.is_there else None,
            more.draft,
            base=more.base.documents,
            sessions=more.sessions,
            force=self.force,
        )
        if result.corpus is None:
            return Decided(answer=result)
        corpus = with_ids(normalised(result.corpus, drops_links=False), self.new_id)
        pulled = CorpusDraft(
            session=self.session, revision=repository.verified_head.revision, corpus=corpus
        )
        drafts = [pulled]
        if more.draft and result.kept_as:
            drafts.append(replace(more.draft, session=result.kept_as))
        event = self.event(Effect.CORPUS_DRAFTED, session=self.session, pulled=pulled.revision)
        return Decided(answer=result, events=(event,), records=CorpusChanges(drafts=tuple(drafts)))


def _readable(world: CorpusWorld) -> Head:
    return world.repository.verified_head


def words_of(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
    """All texts and names of a value, for the screening.

    Raises:
        InvalidInput: it is nested too deeply to be walked through.
    """
    if problem := depth_problem(value):
        raise InvalidInput({problem.path: [problem.message]})
    said = list(texts(value))
    names = {str(name) for place, _ in said for name in place if isinstance(name, str)}
    return (*(text for _, text in said), *sorted(names))
