"""Proving: a written revision is read back, and only then is it what readers see (000, step 12).

The operation that moves VERIFIED records the write, and writes the memories.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld
from graphmem.corpus.documents import MANIFEST, content_hash, payload
from graphmem.corpus.looks import Look
from graphmem.corpus.memory_changes import MemoryChanges, memory_changes
from graphmem.corpus.push_attempts import proved
from graphmem.corpus.push_plan import PushPlan
from graphmem.corpus.push_result import VALID, PushCode, PushReason, PushResult, Verified, sound
from graphmem.corpus.remembering import PreparedMemories, Remembering, wanted_memories
from graphmem.corpus.state import ForbiddenTransition
from graphmem.corpus.verification import tree_changes, verified
from graphmem.corpus.write_revision import COMPLETION, REVERT
from graphmem.errors import GraphmemError, NotFound
from graphmem.gateway.draft import Draft
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import PUSH, PresentMemory, StoredCommit
from graphmem.model.event import Effect
from graphmem.model.policy import IndexPolicy
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.store.corpora import (
    lock_written,
    present_memories,
)
from graphmem.store.corpus_changes import (
    CorpusChanges,
)
from graphmem.store.corpus_deltas import delta_of

log = logging.getLogger(__name__)

_PAYLOADS_MAX = 20  # in a trace
_FORBIDDEN = "forbidden_transition"
# what the validator let pass before it was written
VALIDATED = frozenset({PUSH, COMPLETION, REVERT})


class MemoriesMoved(GraphmemError):
    """Memories of the corpus changed between preparing and writing them; it is prepared anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What the proof of a commit rests on: the commit as it was read back, and the one before."""

    stored: StoredCommit
    parent: Mapping[str, str]  # the tree of the one before
    look: Look
    present: tuple[PresentMemory, ...]


def result_of(stored: StoredCommit, parent: Mapping[str, str]) -> PushResult:
    """What became of a commit whose plan nobody has any more, such as of a push that was cut."""
    changed = tree_changes(parent, stored.commit.tree)
    found = verified(changed, stored.commit.tree, stored.documents)
    manifest = stored.documents.get(MANIFEST)
    result = replace(
        VALID,
        pushed=True,
        remote_written=True,
        retry_count=stored.retry_count,
        revision=stored.revision,
        remote_blob_sha=manifest.sha256 if manifest else None,
        remote_commit_sha=stored.sha,
        remote_file_sha=content_hash(manifest) if manifest else None,
        verification=found,
        verify_ok=found.ok,
        persisted=found.ok,
        reason=found.error or PushReason.PUSH_VERIFIED,
    )
    if found.ok:
        return sound(result)
    return replace(result, ok=False, error_code=PushCode.TRANSPORT_CORRUPTION)


def _failed(result: PushResult, reason: str) -> PushResult:
    """A result of what was written and is not proved."""
    return replace(
        result,
        ok=False,
        persisted=False,
        verify_ok=False,
        verification=Verified(ok=False, error=reason),
        reason=reason,
        error_code=PushCode.TRANSPORT_CORRUPTION,
    )


@dataclass(frozen=True, kw_only=True)
class ProveCommit(CorpusOperation[PushResult]):
    """Prove a commit by a new reading, or mark it; once for each commit."""

    sha: str
    index: IndexPolicy
    plan: PushPlan | None = None
    prepared: PreparedMemories = field(default_factory=PreparedMemories)
    uids: Iterable[str] = ()
    after: list[tuple[PresentMemory, ...] | None] = field(
        default_factory=list
    )  # what is then there

    def selection(self) -> Selection:
        """The memories that it is likely to change."""
        return self.prepared.selection

    def read_records(self, transaction: Workbench) -> CorpusWorld:
        """The repository, and the commit, read back in a transaction of its own.

        Memories are as they were when it was prepared, while the proved revision is the same: all
        but retracting them is done under the lock of the repository.

        Raises:
            NotFound: there is no such commit.
        """
        repository, found = lock_written(transaction, self.space, self.sha)
        if found is None:
            raise NotFound
        verified = repository.verified.sha if repository.verified else None
        is_known = self.prepared.verified == (verified,)
        proof = Proof(
            stored=found.stored,
            parent=found.parent,
            look=self.looks.at(found.stored, self.policy),
            present=self.prepared.present
            if is_known
            else present_memories(transaction, self.space),
        )
        look = self.looks.at(repository.verified, self.policy)
        return CorpusWorld(repository=repository, look=look, more=proof)

    def decide(self, state: GraphState, now: datetime) -> Decided[PushResult]:
        """Let it be the proved revision, or mark it; nothing where that was done already."""
        world: CorpusWorld = state.records
        proof: Proof = world.more
        result = self._result(proof)
        if world.repository.unproved != self.sha:
            return Decided(answer=replace(result, state=world.ledger(now).state))
        if not result.ok:
            return self._marked(world, proof, result, now)
        try:
            return self._moved(state, world, proof, result, now)
        except ForbiddenTransition:
            log.exception("a commit of %s can not be what readers see", self.space.key)
            return self._marked(world, proof, _failed(result, _FORBIDDEN), now)

    def _result(self, proof: Proof) -> PushResult:
        stored = proof.stored
        found = (
            proved(self.plan, stored.documents)
            if self.plan and MANIFEST in self.plan.documents
            else result_of(stored, proof.parent)
        )
        if stored.commit.has_failed:
            found = _failed(found, stored.error or PushCode.TRANSPORT_CORRUPTION)
        if stored.commit.cause in VALIDATED:
            return found
        has_corpus = proof.look.has_corpus
        is_valid = has_corpus and proof.look.is_valid
        return replace(found, validated=is_valid, validation_ran=has_corpus)

    def _moved(
        self,
        state: GraphState,
        world: CorpusWorld,
        proof: Proof,
        result: PushResult,
        now: datetime,
    ) -> Decided[PushResult]:
        """VERIFIED moves, the write is recorded, and the memories are those of the revision."""
        ledger = world.ledger(now)
        ledger.note(result)
        is_repair = not proof.look.has_corpus
        cause = proof.stored.commit.cause
        ledger.put(
            cause,
            look=proof.look,
            has_failed_write=ledger.repository.has_failed_write
            and (is_repair or not proof.look.is_valid),
            last_written=ledger.repository.last_written if is_repair else now,
        )
        changed = CorpusChanges(
            repository=ledger.repository,
            verified=self.sha,
            shortened=delta_of(world.repository.verified, proof.stored),
            transitions=tuple(ledger.transitions),
        )
        event = self.event(Effect.CORPUS_VERIFIED, str(proof.stored.revision), cause=cause)
        return Decided(
            answer=replace(result, state=ledger.state),
            events=(event,),
            records=changed,
            memories=self._memories(state, proof, now),
        )

    def _memories(self, state: GraphState, proof: Proof, now: datetime) -> Decision:
        """What becomes of the memories.

        Raises:
            MemoriesMoved: one is needed that was not locked.
        """
        changes = self._memory_changes(proof)
        if changes.is_empty:
            self.after.append(None)
            return Decision()
        draft = Draft(before=state, now=now, context_words=self.index.context_words)
        remembering = Remembering(
            space=self.space, draft=draft, state=state, prepared=self.prepared, uids=self.uids
        )
        if not remembering.decide(changes, proof.present):
            raise MemoriesMoved
        self.after.append(remembering.present_after(changes, proof.present))
        return draft.decision()

    def _memory_changes(self, proof: Proof) -> MemoryChanges:
        """What is to be written; as it was prepared, where all that it rests on is the same."""
        known = self.prepared
        if proof.present is known.present and proof.look is known.look:
            return known.changes
        wanted = wanted_memories(proof.look, proof.stored.documents, self.policy)
        return memory_changes(wanted, proof.present)

    def _payloads(self, proof: Proof) -> dict[str, Any]:
        """The figures of what was read back and is not what was written, and of that if known."""
        written = self.plan.payloads if self.plan else {}
        stored = proof.stored
        wrong = (
            document
            for path, document in sorted(stored.documents.items())
            if document.sha256 != stored.commit.tree.get(path)
        )
        return {
            document.path: {
                "read": asdict(payload(document)),
                "written": asdict(written[document.path]) if document.path in written else None,
            }
            for document in islice(wrong, _PAYLOADS_MAX)
        }

    def _marked(
        self, world: CorpusWorld, proof: Proof, result: PushResult, now: datetime
    ) -> Decided[PushResult]:
        """The commit is marked, HEAD goes back, and the write has failed."""
        ledger = world.ledger(now)
        ledger.note(result)
        ledger.fail(proof.stored.commit.cause)
        back = world.repository.verified_head.revision
        changed = CorpusChanges(
            repository=ledger.repository,
            failed=(self.sha, str(result.reason)),
            rebased=((proof.stored.revision, back),),
            transitions=tuple(ledger.transitions),
        )
        event = self.event(
            Effect.CORPUS_FAILED,
            str(proof.stored.revision),
            why=str(result.reason),
            payloads=self._payloads(proof),
        )
        return Decided(answer=replace(result, state=ledger.state), events=(event,), records=changed)
