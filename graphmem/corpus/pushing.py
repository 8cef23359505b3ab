"""Pushing: what writes a revision behind the newest one (000, steps 0 to 11)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graphmem.corpus.approvals import section_hashes
from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld, head_of
from graphmem.corpus.documents import tree_of
from graphmem.corpus.drafting import fresh_draft
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.normalise import normalised
from graphmem.corpus.push import decide_push
from graphmem.corpus.push_attempts import completion, retried, reverted
from graphmem.corpus.push_plan import PushPlan, PushRequest, PushWorld
from graphmem.corpus.push_result import PushResult, store_away, with_states
from graphmem.corpus.recent import Recent
from graphmem.corpus.state import repaired
from graphmem.corpus.verification import tree_changes
from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import (
    Approval,
    Commit,
    Corpus,
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

PUSH, COMPLETION, REVERT, IMPORT, REPAIR = "push", "onboarding", "revert", "import", "repair"


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
        commit = Commit(
            revision=plan.revision,
            message=plan.message,
            at=plan.at,
            key_id=self.key_id,
            tree=plan.tree,
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
        self, ledger: Ledger, result: PushResult, *, before: CorpusState, cause: str
    ) -> Decided[Attempt]:
        """The decision that only records what became of an attempt."""
        ledger.note(result)
        if result.is_failed_write:
            ledger.put(cause, has_failed_write=True)
        changed = CorpusChanges(repository=ledger.repository, transitions=tuple(ledger.transitions))
        result = with_states(result, before, ledger.state)
        event = self.event(
            Effect.UNCHANGED if result.ok else Effect.CORPUS_REFUSED,
            cause=cause,
            why=str(result.reason),
        )
        return Decided(
            answer=Attempt(before=before, result=result), events=(event,), records=changed
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _PushWorld:
    draft: CorpusDraft | None
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
    seen: list[Corpus] = field(default_factory=list)  # what was read of the draft
    remembered: Recent[tuple[PresentMemory, ...]] = field(default_factory=lambda: Recent(1))

    @property
    def texts(self) -> list[str]:
        """The message of the revision."""
        return [self.request.message] if self.request.message else []

    def read_records(self, transaction: Workbench) -> CorpusWorld:
        """The repository, the draft, what that was made from, and what was said of what it says."""
        repository, draft = lock_with_draft(transaction, self.space, self.session)
        look = self.looks.at(repository.verified, self.policy)
        draft = draft or fresh_draft(self.session, repository, look)
        self.seen.append(draft.corpus)
        hashes = section_hashes(normalised(draft.corpus, drops_links=False)).values()
        more = _PushWorld(
            draft=draft,
            base=head_of(transaction, repository, draft.revision),
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
        ledger, more = world.ledger(now), world.more
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
            found = retried(found, head, self.policy, now=now)
        if isinstance(found, PushResult):
            return self.ended(ledger, found, before=before, cause=PUSH)
        self.looks.note(found, self.policy)
        draft = replace(more.draft, corpus=found.corpus, revision=found.revision, files={})
        return self.planned(
            world, found, before=before, present=more.present, drafts=(draft,), **_noted(ledger)
        )


def _noted(ledger: Ledger) -> dict[str, Any]:
    """What was found on the way, such as damage."""
    if not ledger.transitions:
        return {}
    return {"repository": ledger.repository, "transitions": tuple(ledger.transitions)}


@dataclass(frozen=True, kw_only=True)
class RecordFailure(WriteRevision):
    """Record a push that the store did not take, as soon as that can be recorded."""

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """The write has failed."""
        ledger = world.ledger(now)
        before = ledger.state
        if not world.repository.is_there or not world.look.is_valid:
            return Decided(answer=Attempt(before=before))
        return self.ended(ledger, store_away(is_kept=True), before=before, cause=PUSH)


@dataclass(frozen=True, kw_only=True)
class CompleteOnboarding(WriteRevision):
    """Let the service end onboarding, once the proved revision is approved as a whole."""

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
        if world.look.is_valid and before is CorpusState.CORPUS_PARTIAL:
            plan = completion(repository.verified_head, world.more, now=now)
        if plan is None:
            return Decided(answer=Attempt(before=before))
        rebased = ((repository.verified_head.revision, plan.revision),)
        return self.planned(world, plan, before=before, rebased=rebased, **_noted(ledger))


@dataclass(frozen=True, kw_only=True)
class RevertTo(WriteRevision):
    """Let an earlier revision be the next one too, file by file."""

    revision: int

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
        before = ledger.state
        _check_valid(world)
        found = reverted(world.repository.verified_head, world.more, self.policy, now=now)
        if isinstance(found, PushResult):
            return self.ended(ledger, found, before=before, cause=REVERT)
        return self.planned(world, found, before=before, **_noted(ledger))


class CorpusInvalid(Conflict):
    """The corpus that is there is not valid: repair it first."""

    code = "corpus_invalid"


def _check_valid(world: CorpusWorld) -> None:
    if not world.look.is_valid:
        raise CorpusInvalid


@dataclass(frozen=True, kw_only=True)
class ImportRevision(WriteRevision):
    """Let files be the first revision exactly as they are, as a clone would be."""

    files: Documents
    message: str = "Import"
    at: datetime | None = None  # when it was made, where that is known
    is_later: bool = False  # another one of the same files is there

    @property
    def texts(self) -> list[str]:
        """What they say."""
        return [self.message, *(each.text for each in self.files.values())]

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Attempt]:
        """Write them, while there is no corpus.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is a corpus.
            UnprovedCommit: the newest commit waits for its proof.
        """
        world.check_there()
        world.check_proved()
        if world.look.has_corpus and not self.is_later:
            message = "There is a corpus already: import into a draft."
            raise Conflict(message)
        ledger = world.ledger(now)
        return self._written(world, ledger, self.files, now, cause=IMPORT, message=self.message)

    def _written(
        self,
        world: CorpusWorld,
        ledger: Ledger,
        files: Documents,
        now: datetime,
        *,
        cause: str,
        message: str,
    ) -> Decided[Attempt]:
        head = world.repository.verified_head
        plan = PushPlan(
            expected_revision=head.revision,
            base=head,
            corpus={},
            documents=files,
            changes=tree_changes(tree_of(head.documents), tree_of(files)),
            message=message,
            at=self.at or now,
        )
        more = (
            {**_noted(ledger), "all_rebased": plan.revision} if cause == REPAIR else _noted(ledger)
        )
        return self.planned(world, plan, before=ledger.state, **more)


@dataclass(frozen=True, kw_only=True)
class RepairCorpus(ImportRevision):
    """Set an invalid corpus aside as a revision; the owner begins anew."""

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
        return self._written(world, ledger, {}, now, cause=REPAIR, message=message)
