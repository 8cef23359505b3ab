"""Revisions that are no push: reverts, imports and repairs of a corpus (000)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.corpus.corpus_operation import CorpusWorld, head_of
from graphmem.corpus.documents import tree_of
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.push_attempts import reverted
from graphmem.corpus.push_plan import PushPlan
from graphmem.corpus.push_result import (
    PushCode,
    PushResult,
    refused,
)
from graphmem.corpus.state import REPAIR, repaired
from graphmem.corpus.verification import tree_changes
from graphmem.corpus.words import words_of_files
from graphmem.corpus.write_revision import IMPORT, REVERT, Attempt, WriteRevision, noted
from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.model.corpus import (
    CorpusRepository,
    Documents,
    Head,
)


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
        return self.planned(world, found, before=before, **noted(ledger))


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
        return self.planned(world, plan, before=ledger.state, **noted(ledger), **more)


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
