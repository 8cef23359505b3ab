"""Writing a revision: what every revision shares that stands behind the newest one (000, 11)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.push_plan import PushPlan
from graphmem.corpus.push_result import (
    PushResult,
    with_states,
)
from graphmem.corpus.verification import tree_changes
from graphmem.gateway.operation import Decided
from graphmem.model.corpus import (
    PUSH,
    Commit,
    CorpusDraft,
    CorpusState,
    Documents,
    PresentMemory,
    StoredCommit,
)
from graphmem.model.event import Effect
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


def noted(ledger: Ledger) -> dict[str, Any]:
    """What was found on the way, such as damage."""
    if not ledger.transitions:
        return {}
    return {"repository": ledger.repository, "transitions": tuple(ledger.transitions)}
