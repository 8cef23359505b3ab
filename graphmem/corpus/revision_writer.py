"""Revision writer: pushes and other writes of revisions, each proved by a new reading (000)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphmem.corpus.corpus_operation import UnprovedCommit
from graphmem.corpus.edits import Edit, whole
from graphmem.corpus.fallback import Fallback, StoreAway
from graphmem.corpus.importing import GivenRevision, check_history
from graphmem.corpus.looks import Look, Looks
from graphmem.corpus.proving import MemoriesMoved, ProveCommit
from graphmem.corpus.push_plan import PushRequest
from graphmem.corpus.push_result import PushCode, PushResult, refused, with_states
from graphmem.corpus.pushing import CompleteOnboarding, PushDraft, RecordFailure
from graphmem.corpus.recent import Recent
from graphmem.corpus.remembering import PreparedMemories, prepared, wanted_memories
from graphmem.corpus.revisions import ImportRevision, RepairCorpus, RevertTo
from graphmem.corpus.write_revision import Attempt, WriteRevision
from graphmem.errors import DiskLow, StoreUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Actor
from graphmem.gateway.screening import screen
from graphmem.model.caller import Caller
from graphmem.model.corpus import CorpusDraft, CorpusState, Documents, PresentMemory
from graphmem.model.job import Run
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import Space
from graphmem.ports import Clock, Embedder, IdSource
from graphmem.store.connection import Connection, Transaction
from graphmem.store.corpora import (
    commit_by_sha,
    pointers_of,
    present_memories,
)
from graphmem.store.spaces import SpacePolicies

log = logging.getLogger(__name__)

_NOT_COMPLETE = frozenset({CorpusState.CORPUS_PARTIAL, CorpusState.PERSIST_FAILED})
_ROUNDS = 50  # in which another writer may be ahead
_KEPT = 64  # proved commits whose memories are known


@dataclass(frozen=True, kw_only=True)
class RevisionWriter:
    """Writes revisions of corpora, and what they say as memories, for callers and jobs."""

    gateway: Gateway
    connection: Connection
    policies: SpacePolicies
    embedder: Embedder
    clock: Clock
    ids: IdSource
    fallback: Fallback
    looks: Looks = field(default_factory=Looks)
    remembered: Recent[tuple[PresentMemory, ...]] = field(default_factory=lambda: Recent(_KEPT))

    def push(
        self, space: Space, session: str, request: PushRequest, *, caller: Caller
    ) -> PushResult:
        """Let the draft of a session be the next revision, and prove it.

        Raises:
            StoreAway: the store did not take it; what was read of the draft may lie in a file.
        """
        seen: list[CorpusDraft] = []
        try:
            return self._pushed(space, session, request, seen, caller)
        except StoreUnavailable as error:
            is_kept = bool(seen) and self._kept(space, session, whole(seen[-1]), error)
            self.fallback.mark_failed(space, session)
            raise StoreAway(is_kept=is_kept) from error

    def _pushed(
        self,
        space: Space,
        session: str,
        request: PushRequest,
        seen: list[CorpusDraft],
        caller: Caller,
    ) -> PushResult:
        operation = PushDraft(
            **self._common(space, caller),
            session=session,
            request=request,
            new_id=self.new_id,
            seen=seen,
            remembered=self.remembered,
        )
        before, result = self._written(operation, caller)
        if not result.ok or result.state not in _NOT_COMPLETE:
            return result
        try:
            after = self._complete(space, caller)
        except StoreUnavailable:  # what was pushed is proved; the next push ends it
            log.warning("onboarding of %s is not ended, the store is away", space.key)
            after = None
        return with_states(result, before, after or result.state)

    def revert(self, space: Space, revision: int, *, caller: Caller) -> PushResult:
        """Let an earlier revision be the next one too.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: there is no such revision.
        """
        operation = RevertTo(**self._common(space, caller), revision=revision, new_id=self.new_id)
        return self._written(operation, caller)[1]

    def import_revision(self, space: Space, files: Documents, *, caller: Caller) -> PushResult:
        """Let files be the first revision exactly as they are.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is a corpus.
        """
        return self.import_history(space, [GivenRevision(files=files)], caller=caller)

    def import_history(
        self, space: Space, revisions: Sequence[GivenRevision], *, caller: Caller
    ) -> PushResult:
        """Let revisions from outside be the first ones here; what became of the last.

        All are looked at before one is written.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: one leaves out the corpus that an earlier one holds.
            PolicyRefused: the words of one may not be stored.
            Conflict: there is a corpus.
        """
        check_history(revisions)
        operations = [
            ImportRevision(
                **self._common(space, caller), files=each.files, message=each.message, at=each.at
            )
            for each in revisions
        ]
        if len(operations) > 1:  # a single one is screened as it is written
            for operation in operations:
                screen(operation.texts, self.policies.of(space))
        result, behind = refused(PushCode.INVALID_INPUT), 0
        for operation in operations:
            _, result = self._written(replace(operation, behind=behind), caller)
            if not result.ok:
                break
            behind = result.revision or 0
        return result

    def repair(self, space: Space, *, caller: Caller) -> PushResult:
        """Set an invalid corpus aside.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is no invalid corpus.
        """
        operation = RepairCorpus(**self._common(space, caller))
        return self._written(operation, caller)[1]

    def _written(self, operation: WriteRevision, actor: Actor) -> tuple[CorpusState, PushResult]:
        """The state before, and what became of a write; its proof is a transaction of its own."""
        attempt = self._attempted(operation, actor)
        result = attempt.result or self.prove(operation.space, attempt, actor)
        after = result.state or attempt.before
        return attempt.before, with_states(result, attempt.before, after)

    def _attempted(self, operation: WriteRevision, actor: Actor) -> Attempt:
        """Write behind the proved revision; what waits for its proof is proved before."""
        self._record_failures(operation.space, actor)
        for _ in range(_ROUNDS):
            try:
                return self.gateway.execute(operation, actor).answer
            except UnprovedCommit:
                self.settle(operation.space, actor)
        raise StoreUnavailable

    def _complete(self, space: Space, actor: Actor) -> CorpusState | None:
        """End onboarding by a commit of the service, where all seven sections are approved.

        The state after it, if there was one.
        """
        operation = CompleteOnboarding(**self._common(space, actor))
        attempt = self._attempted(operation, actor)
        return self.prove(space, attempt, actor).state if attempt.sha else None

    def settle(self, space: Space, actor: Actor) -> PushResult | None:
        """Prove or mark the newest commit, and record pushes that failed.

        What became of the commit, where one waited for its proof.
        """
        self._record_failures(space, actor)
        sha, verified = pointers_of(self.connection, space)
        if sha is None or sha == verified:
            return None
        return self.prove(space, Attempt(before=CorpusState.NO_REPO, sha=sha), actor)

    def _record_failures(self, space: Space, actor: Actor) -> None:
        for failed, session in list(self.fallback.failed()):
            if failed == space:
                self._record_failure(space, session, actor)

    def _record_failure(self, space: Space, session: str, actor: Actor) -> None:
        operation = RecordFailure(
            **self._common(space, actor), session=session, fallback=self.fallback
        )
        self.gateway.execute(operation, actor)
        is_undone = isinstance(actor, Run) and actor.dry_run
        if not is_undone:
            self.fallback.recorded(space, session)

    def prove(self, space: Space, attempt: Attempt, actor: Actor) -> PushResult:
        """Prove a commit by a new reading, and let its memories be there, or mark it."""
        ready = self._prepared_by(space, attempt)
        for _ in range(_ROUNDS):
            operation = ProveCommit(
                **self._common(space, actor),
                sha=attempt.sha,
                plan=attempt.plan,
                index=self.policies.base.index,
                prepared=ready or self._prepared(space, attempt.sha),
                uids=iter(lambda: self.ids.new("memory"), ""),
            )
            operation = replace(operation, vectors=operation.prepared.vectors)
            try:
                result = self.gateway.execute(operation, actor).answer
            except MemoriesMoved:
                ready = None
                continue
            if result.ok and operation.prepared.look:
                self.looks.see(space, operation.prepared.look)
            if operation.after and operation.after[-1]:
                self.remembered.put((space.key, attempt.sha), operation.after[-1])
            return result
        raise StoreUnavailable

    def _prepared_by(self, space: Space, attempt: Attempt) -> PreparedMemories | None:
        """What the memories of a commit are likely to need, as it was read when it was written."""
        plan = attempt.plan
        if plan is None or attempt.present is None:
            return None
        look = self.looks.note(plan, self.policy(space))
        return self._prepared_of(space, look, plan.documents, attempt.present, attempt.verified)

    def _prepared(self, space: Space, sha: str) -> PreparedMemories:
        """What the memories of a commit are likely to need."""
        policy = self.policy(space)

        def work(transaction: Transaction) -> Any:  # noqa: ANN401
            _, verified = pointers_of(transaction, space)
            stored = commit_by_sha(transaction, space, sha)
            return stored, present_memories(transaction, space), verified

        stored, present, verified = self.connection.read(work)
        if stored is None:
            return PreparedMemories()
        look = self.looks.at(stored, policy)
        return self._prepared_of(space, look, stored.documents, present, verified)

    def _prepared_of(
        self,
        space: Space,
        look: Look,
        documents: Documents,
        present: tuple[PresentMemory, ...],
        verified: str | None,
    ) -> PreparedMemories:
        return prepared(
            space,
            wanted_memories(look, documents, self.policy(space)),
            present,
            verified=verified,
            look=look,
            embedder=self.embedder,
            index=self.policies.base.index,
        )

    def _kept(self, space: Space, session: str, edit: Edit, error: StoreUnavailable) -> bool:
        """Whether what the store did not take lies in a file; nothing does that is not screened."""
        if isinstance(error, DiskLow):
            return False
        try:
            screen((*edit.words, session), self.policies.of(space))
        except StoreUnavailable:
            return False
        return self.fallback.keep(space, session, edit)

    def policy(self, space: Space) -> CorpusPolicy:
        """The policy of corpora that holds in a space."""
        return self.policies.of(space).corpus

    def new_id(self) -> str:
        """A new id of 32 hex digits."""
        return self.ids.new("corpus").replace("-", "")

    def _common(self, space: Space, actor: Actor) -> dict[str, Any]:
        """What all operations have."""
        return {
            "space": space,
            "policy": self.policy(space),
            "looks": self.looks,
            "key_id": actor.key_id if isinstance(actor, Caller) else f"job:{actor.job}",
        }
