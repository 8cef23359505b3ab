"""Revision writer: pushes and other writes of revisions, each proved by a new reading (000)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graphmem.corpus.corpus_operation import UnprovedCommit
from graphmem.corpus.drafting import (
    words_of,
)
from graphmem.corpus.edits import Edit, EditKind
from graphmem.corpus.fallback import Fallback, StoreAway
from graphmem.corpus.looks import Look, Looks
from graphmem.corpus.proving import MemoriesMoved, ProveCommit
from graphmem.corpus.push_plan import PushRequest
from graphmem.corpus.push_result import PushResult, with_states
from graphmem.corpus.pushing import (
    COMPLETION,
    IMPORT,
    PUSH,
    REPAIR,
    REVERT,
    Attempt,
    CompleteOnboarding,
    ImportRevision,
    PushDraft,
    RecordFailure,
    RepairCorpus,
    RevertTo,
    WriteRevision,
)
from graphmem.corpus.recent import Recent
from graphmem.corpus.remembering import PreparedMemories, prepared, wanted_memories
from graphmem.errors import DiskLow, StoreUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Actor
from graphmem.gateway.screening import screen
from graphmem.model.caller import Caller
from graphmem.model.corpus import Corpus, CorpusState, Documents, PresentMemory
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
        seen: list[Corpus] = []
        try:
            return self._pushed(space, session, request, seen, caller)
        except StoreUnavailable as error:
            edit = Edit(kind=EditKind.WHOLE, value=seen[-1]) if seen else None
            is_kept = edit is not None and self._kept(
                space, session, edit, words_of(edit.value), error, is_push=True
            )
            raise StoreAway(is_kept=is_kept) from error

    def _pushed(
        self, space: Space, session: str, request: PushRequest, seen: list[Corpus], caller: Caller
    ) -> PushResult:
        operation = PushDraft(
            **self._common(space, caller),
            session=session,
            request=request,
            new_id=self.new_id,
            seen=seen,
            remembered=self.remembered,
        )
        before, result = self._written(operation, PUSH, caller)
        if not result.ok or result.state is not CorpusState.CORPUS_PARTIAL:
            return result
        after = self._complete(space, caller)
        return with_states(result, before, after or CorpusState.CORPUS_PARTIAL)

    def revert(self, space: Space, revision: int, *, caller: Caller) -> PushResult:
        """Let an earlier revision be the next one too.

        Raises:
            RepositoryNotFound: there is no repository.
            InvalidInput: there is no such revision.
        """
        operation = RevertTo(**self._common(space, caller), revision=revision)
        return self._written(operation, REVERT, caller)[1]

    def import_revision(
        self,
        space: Space,
        files: Documents,
        *,
        message: str = "Import",
        at: datetime | None = None,
        is_later: bool = False,
        caller: Caller,
    ) -> PushResult:
        """Let files be the first revision exactly as they are, or a later one of such files.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is a corpus.
        """
        operation = ImportRevision(
            **self._common(space, caller),
            files=files,
            message=message,
            at=at,
            is_later=is_later,
        )
        return self._written(operation, IMPORT, caller, is_validated=False)[1]

    def repair(self, space: Space, *, caller: Caller) -> PushResult:
        """Set an invalid corpus aside.

        Raises:
            RepositoryNotFound: there is no repository.
            Conflict: there is no invalid corpus.
        """
        operation = RepairCorpus(**self._common(space, caller))
        return self._written(operation, REPAIR, caller, is_validated=False)[1]

    def _written(
        self, operation: WriteRevision, cause: str, actor: Actor, *, is_validated: bool = True
    ) -> tuple[CorpusState, PushResult]:
        """The state before, and what became of a write; its proof is a transaction of its own."""
        attempt = self._attempted(operation, actor)
        result = attempt.result or self.prove(
            operation.space, attempt, cause, actor, is_validated=is_validated
        )
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
        return self.prove(space, attempt, COMPLETION, actor).state if attempt.sha else None

    def settle(self, space: Space, actor: Actor) -> None:
        """Prove or mark the newest commit, where it waits for that; record pushes that failed."""
        self._record_failures(space, actor)
        sha, verified = pointers_of(self.connection, space)
        if sha and sha != verified:
            self.prove(space, Attempt(before=CorpusState.NO_REPO, sha=sha), PUSH, actor)

    def _record_failures(self, space: Space, actor: Actor) -> None:
        for failed, session in list(self.fallback.failed()):
            if failed == space:
                self.gateway.execute(RecordFailure(**self._common(space, actor)), actor)
                self.fallback.recorded(space, session)

    def prove(
        self,
        space: Space,
        attempt: Attempt,
        cause: str,
        actor: Actor,
        *,
        is_validated: bool = True,
    ) -> PushResult:
        """Prove a commit by a new reading, and let its memories be there, or mark it."""
        ready = self._prepared_by(space, attempt)
        for _ in range(_ROUNDS):
            operation = ProveCommit(
                **self._common(space, actor),
                sha=attempt.sha,
                cause=cause,
                plan=attempt.plan,
                index=self.policies.base.index,
                prepared=ready or self._prepared(space, attempt.sha),
                uids=iter(lambda: self.ids.new("memory"), ""),
                is_validated=is_validated,
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
                self.remembered.put(attempt.sha, operation.after[-1])
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

    def _kept(
        self,
        space: Space,
        session: str,
        edit: Edit,
        words: Sequence[str],
        error: StoreUnavailable,
        *,
        is_push: bool = False,
    ) -> bool:
        """Whether what the store did not take lies in a file; nothing does that is not screened."""
        if isinstance(error, DiskLow):
            return False
        try:
            screen(words, self.policies.of(space))
        except StoreUnavailable:
            return False
        return self.fallback.keep(space, session, edit, is_push=is_push)

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
