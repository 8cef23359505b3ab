"""Pushing: a draft, or that onboarding is complete, becomes a revision (000, steps 0 to 11)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.corpus.approvals import section_hashes
from graphmem.corpus.corpus_operation import CorpusWorld, head_of
from graphmem.corpus.drafting import draft_to_write
from graphmem.corpus.fallback import Fallback
from graphmem.corpus.normalise import normalised
from graphmem.corpus.push import decide_push
from graphmem.corpus.push_attempts import completion, conflicted, retried
from graphmem.corpus.push_plan import PushPlan, PushRequest, PushWorld
from graphmem.corpus.push_result import (
    PushResult,
    may_retry,
    store_away,
)
from graphmem.corpus.recent import Recent
from graphmem.corpus.write_revision import COMPLETION, Attempt, WriteRevision, noted
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import (
    Approval,
    CorpusDraft,
    CorpusRepository,
    Head,
    PresentMemory,
)
from graphmem.store.corpora import (
    approvals_of,
    lock_with_draft,
    present_memories,
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
        known = self.remembered.get((self.space.key, proved.sha)) if proved else None
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
            world, found, before=before, present=more.present, drafts=(draft,), **noted(ledger)
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
        return self.planned(world, plan, before=before, rebased=rebased, **noted(ledger))
