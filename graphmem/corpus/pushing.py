"""Pushing: what writes a revision behind the newest one (000, steps 0 to 11)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from graphmem.corpus.approvals import section_hashes
from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld, head_of
from graphmem.corpus.documents import tree_of
from graphmem.corpus.drafting import draft_to_write
from graphmem.corpus.fallback import Fallback
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.normalise import normalised
from graphmem.corpus.push import decide_push
from graphmem.corpus.push_attempts import completion, conflicted, retried, reverted
from graphmem.corpus.push_plan import PushPlan, PushRequest, PushWorld
from graphmem.corpus.push_result import (
    PushCode,
    PushResult,
    may_retry,
    refused,
    store_away,
    with_states,
)
from graphmem.corpus.recent import Recent
from graphmem.corpus.state import REPAIR, repaired
from graphmem.corpus.verification import tree_changes
from graphmem.corpus.words import words_of_files
from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import (
    PUSH,
    Approval,
    Commit,
    CorpusDraft,
    CorpusRepository,
    CorpusState,
    Documents,
    Head,
    PresentMemory,
    StoredCommit,
)
from graphmem.model.event import Effect
from graphmem.store.corpora import (
    approvals_of,
    lock_with_draft,
    present_memories,
)
from graphmem.store.corpus_changes import (
    CorpusChanges,
    NewCommit,
)

COMPLETION, REVERT, IMPORT = "onboarding", "revert", "import"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What became of an attempt: a result without a commit, or a commit that waits for its proof.

    ``before`` is the state in which it was made, ``verified`` the proved commit of that time, and
    ``present`` the memories, where these were read.
    """

    before: CorpusState
    result: PushResult | None = None
    sha: str = ""
    plan: PushPlan | None = None
    verified: str | None = None
    present: tuple[PresentMemory, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class WriteRevision(CorpusOperation[Attempt]):
    """Write a revision behind the proved one; HEAD moves with it, VERIFIED only with its proof."""

    cause: ClassVar[str] = PUSH

    def committed(
        self,
        world: CorpusWorld,
        commit: Commit,
        documents: Documents,
        **more: Any,  # noqa: ANN401
    ) -> tuple[str, CorpusChanges]:
        """A commit of some documents, and how it is written."""
        verified = world.repository.verified
        known = {each.sha256 for each in verified.documents.values()} if verified else set()
        sha = more.pop("sha")
        stored = StoredCommit(
            sha=sha,
            commit=commit,
            parent=verified.sha if verified else None,
            documents=documents,
            retry_count=more.pop("retry_count", 0),
        )
        written = {path: each for path, each in documents.items() if each.sha256 not in known}
        differs = tree_changes(verified.commit.tree if verified else {}, commit.tree).paths
        new = NewCommit(stored=stored, written=written, differs=differs)
        return sha, CorpusChanges(commit=new, **more)

    def planned(
        self,
        world: CorpusWorld,
        plan: PushPlan,
        *,
        before: CorpusState,
        present: tuple[PresentMemory, ...] | None = None,
        **more: Any,  # noqa: ANN401
    ) -> Decided[Attempt]:
        """The decision that writes a plan."""
        plan = replace(plan, attempt=world.repository.works)
        commit = Commit(
            revision=plan.revision,
            message=plan.message,
            at=plan.at,
            key_id=self.key_id,
            tree=plan.tree,
            cause=self.cause,
        )
        sha, changed = self.committed(
            world,
            commit,
            plan.documents,
            sha=plan.commit_sha,
            retry_count=plan.retry_count,
            **more,
        )
        event = self.event(
            Effect.CORPUS_PUSHED,
            str(plan.revision),
            changed=list(plan.changes.changed),
            deleted=list(plan.changes.deleted),
            retry_count=plan.retry_count,
        )
        verified = world.repository.verified
        attempt = Attempt(
            before=before,
            sha=sha,
            plan=plan,
            verified=verified.sha if verified else None,
            present=present,
        )
        return Decided(answer=attempt, events=(event,), records=changed)

    def ended(
        self,
        ledger: Ledger,
        result: PushResult,
        *,
        before: CorpusState,
        drafts: tuple[CorpusDraft, ...] = (),
    ) -> Decided[Attempt]:
        """The decision that only records what became of an attempt."""
        ledger.note(result)
        if result.is_failed_write:
            ledger.fail(self.cause)
        changed = CorpusChanges(
            repository=ledger.repository, drafts=drafts, transitions=tuple(ledger.transitions)
        )
        result = with_states(result, before, ledger.state)
        event = self.event(
            Effect.UNCHANGED if result.ok else Effect.CORPUS_REFUSED,
            cause=self.cause,
            why=str(result.reason),
        )
        return Decided(
            answer=Attempt(before=before, result=result), events=(event,), records=changed
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _PushWorld:
    draft: CorpusDraft
    is_pulled: bool = False
    base: Head = field(default_factory=Head)
    approvals: tuple[Approval, ...] = ()
    present: tuple[PresentMemory, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PushDraft(WriteRevision):
    """Let the draft of a session be the next revision, if it may.

    ``remembered`` are memories by the proved commit that they are of, as this process left them.
    """

    session: str
    request: PushRequest
    new_id: Callable[[], str]
    seen: list[CorpusDraft] = field(default_factory=list)  # as it was read
    remembered: Recent[tuple[PresentMemory, ...]] = field(default_factory=lambda: Recent(1))

    @property
    def texts(self) -> list[str]:
        """The message of the revision, and the name of the session."""
        return [*filter(None, (self.request.message,)), self.session]

    def read_records(self, transaction: Workbench) -> CorpusWorld:
        """The repository, the draft, what that was made from, and what was said of what it says."""
        repository, known = lock_with_draft(transaction, self.space, self.session)
        look = self.looks.at(repository.verified, self.policy)
        base = head_of(transaction, repository, known.revision) if known else Head()
        draft = draft_to_write(self.session, known, base, repository, lambda: look)
        is_pulled = draft is not known
        hashes = section_hashes(normalised(draft.corpus, drops_links=False)).values()
        more = _PushWorld(
            draft=draft,
            is_pulled=is_pulled and known is not None,
            base=repository.verified_head if is_pulled else base,
            approvals=approvals_of(transaction, self.space, hashes),
            present=self._present(transaction, repository),
        )
        return CorpusWorld(repository=repository, look=look, more=more)

    def _present(
        self, transaction: Workbench, repository: CorpusRepository
    ) -> tuple[PresentMemory, ...]:
        """The memories; all but retracting them is done by who moves the proved commit."""
        proved = repository.verified
        known = self.remembered.get(proved.sha) if proved else None
        return known or present_memories(transaction, self.space)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """Write the next revision, or say why not.

        Raises:
            UnprovedCommit: the newest commit waits for its proof.
        """
        world.check_proved()
        more: _PushWorld = world.more
        self.seen.append(more.draft)
        ledger = world.ledger(now)
        before = ledger.state
        known = PushWorld(
            has_repository=world.repository.is_there,
            is_invalid=not world.look.is_valid,
            draft=more.draft.corpus,
            base=more.base,
            approvals=more.approvals,
            files=more.draft.files,
        )
        found = decide_push(self.request, known, self.policy, now=now, new_id=self.new_id)
        head = world.repository.verified_head
        if isinstance(found, PushPlan) and found.expected_revision != head.revision:
            lost = conflicted(found)
            found = retried(found, head, self.policy, now=now) if may_retry(lost) else lost
        if isinstance(found, PushResult):
            pulled = (more.draft,) if more.is_pulled else ()
            return self.ended(ledger, found, before=before, drafts=pulled)
        self.looks.note(found, self.policy)
        draft = _pushed(more.draft, found)
        return self.planned(
            world, found, before=before, present=more.present, drafts=(draft,), **_noted(ledger)
        )


def _pushed(draft: CorpusDraft, plan: PushPlan) -> CorpusDraft:
    """A draft after its push; what scaffold stood in for is in it as it was.

    Where somebody else was faster it stays on what it was made from, so that a later push of the
    rest sees what he changed.
    """
    if not plan.withheld:
        return replace(draft, corpus=plan.corpus, revision=plan.revision, files={})
    if plan.retry_count:
        return draft
    rest = {section.value: draft.corpus[section] for section in plan.withheld}
    return replace(draft, corpus={**plan.corpus, **rest}, revision=plan.revision)


def _noted(ledger: Ledger) -> dict[str, Any]:
    """What was found on the way, such as damage."""
    if not ledger.transitions:
        return {}
    return {"repository": ledger.repository, "transitions": tuple(ledger.transitions)}


@dataclass(frozen=True, kw_only=True)
class RecordFailure(WriteRevision):
    """Record a push that the store did not take, as soon as that can be recorded."""

    session: str
    fallback: Fallback

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> bool:  # noqa: ARG002
        """Whether it is still to be recorded: another process may have been faster."""
        return self.fallback.has_failed(self.space, self.session)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """The write has failed."""
        ledger = world.ledger(now)
        before = ledger.state
        if not world.more or not world.repository.is_there:
            return Decided(answer=Attempt(before=before))
        is_kept = bool(self.fallback.edits(self.space, self.session))
        return self.ended(ledger, store_away(is_kept=is_kept), before=before)


@dataclass(frozen=True, kw_only=True)
class CompleteOnboarding(WriteRevision):
    """Let the service end onboarding, once the proved revision is approved as a whole."""

    cause = COMPLETION

    def read_more(
        self, transaction: Workbench, repository: CorpusRepository
    ) -> tuple[Approval, ...]:
        """What was said of what the revision says."""
        look = self.looks.at(repository.verified, self.policy)
        if look.corpus is None:
            return ()
        return approvals_of(transaction, self.space, look.hashes.values())

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """Write the commit that ends it, or nothing.

        Raises:
            UnprovedCommit: the newest commit waits for its proof.
        """
        world.check_proved()
        ledger = world.ledger(now)
        before, repository = ledger.state, world.repository
        plan = None
        if world.look.is_valid:
            plan = completion(repository.verified_head, world.more, now=now)
        if plan is None:
            return Decided(answer=Attempt(before=before))
        rebased = ((repository.verified_head.revision, plan.revision),)
        return self.planned(world, plan, before=before, rebased=rebased, **_noted(ledger))


@dataclass(frozen=True, kw_only=True)
class RevertTo(WriteRevision):
    """Let an earlier revision be the next one too, file by file."""

    cause = REVERT

    revision: int
    new_id: Callable[[], str]

    def read_more(self, transaction: Workbench, repository: CorpusRepository) -> Head | None:
        """The earlier revision."""
        if self.revision < 1 or self.revision > repository.verified_head.revision:
            return None
        head = head_of(transaction, repository, self.revision)
        return head if head.revision else None

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """Write it again, or say why not.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: there is no such revision.
            UnprovedCommit: the newest commit waits for its proof.
        """
        world.check_there()
        world.check_proved()
        if world.more is None:
            raise InvalidInput({"revision": ["There is no such revision."]})
        ledger = world.ledger(now)
        before, head = ledger.state, world.repository.verified_head
        found: PushPlan | PushResult = refused(PushCode.CORPUS_INVALID)
        if world.look.is_valid:
            found = reverted(head, world.more, self.policy, now=now, new_id=self.new_id)
        if isinstance(found, PushResult):
            return self.ended(ledger, found, before=before)
        return self.planned(world, found, before=before, **_noted(ledger))


class CorpusInvalid(Conflict):
    """The corpus that is there is not valid: repair it first."""

    code = "corpus_invalid"


@dataclass(frozen=True, kw_only=True)
class ImportRevision(WriteRevision):
    """Let files be the first revision exactly as they are, as a clone would be."""

    cause = IMPORT

    files: Documents
    message: str = "Import"
    at: datetime | None = None  # when it was made, where that is known
    behind: int = 0  # the revision that it goes on from; 0 where it is the first of a history

    @property
    def texts(self) -> list[str]:
        """What they say."""
        return [self.message, *words_of_files(self.files)]

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """Write them, while there is no corpus.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is a corpus, or somebody else wrote since the revision before.
            UnprovedCommit: the newest commit waits for its proof.
        """
        world.check_there()
        world.check_proved()
        if self.behind and self.behind != world.repository.verified_head.revision:
            message = "Somebody else wrote a revision between two of the history."
            raise Conflict(message)
        if world.look.has_corpus and not self.behind:
            message = "There is a corpus already: import into a draft."
            raise Conflict(message)
        return self._of_files(world, world.ledger(now), now, message=self.message)

    def _of_files(
        self,
        world: CorpusWorld,
        ledger: Ledger,
        now: datetime,
        *,
        message: str,
        **more: Any,  # noqa: ANN401
    ) -> Decided[Attempt]:
        head = world.repository.verified_head
        plan = PushPlan(
            expected_revision=head.revision,
            base=head,
            corpus={},
            documents=self.files,
            changes=tree_changes(tree_of(head.documents), tree_of(self.files)),
            message=message,
            at=self.at or now,
        )
        return self.planned(world, plan, before=ledger.state, **_noted(ledger), **more)


@dataclass(frozen=True, kw_only=True)
class RepairCorpus(ImportRevision):
    """Set an invalid corpus aside as a revision; the owner begins anew."""

    cause = REPAIR

    files: Documents = field(default_factory=dict)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """Write a revision without documents.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is no invalid corpus.
            UnprovedCommit: the newest commit waits for its proof.
        """
        world.check_there()
        world.check_proved()
        ledger = world.ledger(now)
        repaired(ledger.facts)
        message = "Set the invalid corpus aside"
        revision = world.repository.verified_head.revision + 1
        return self._of_files(world, ledger, now, message=message, all_rebased=revision)
