"""Telling: a status is told, and the audience that saw it is remembered (000, Status)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld
from graphmem.corpus.ledger import Ledger
from graphmem.corpus.status import EmissionPolicy, Intent, Status, StatusFacts, shown_to, status
from graphmem.gateway.operation import Decided
from graphmem.gateway.workbench import Workbench
from graphmem.store.corpora import (
    lock_as_shown,
)
from graphmem.store.corpus_changes import (
    CorpusChanges,
)


def status_facts(ledger: Ledger) -> StatusFacts:
    """What a status tells of a repository."""
    repository = ledger.repository
    return StatusFacts(
        facts=ledger.facts,
        last_written=repository.last_written,
        newest=repository.newest,
        last_failed=repository.last_failed,
    )


@dataclass(frozen=True, kw_only=True)
class TellStatus(CorpusOperation[Status]):
    """Tell an audience how a corpus stands, where that is to be shown."""

    audience: str
    intent: Intent | None
    emission: EmissionPolicy

    @property
    def texts(self) -> Sequence[str]:
        """What the audience is called."""
        return (self.audience,)

    def read_records(self, transaction: Workbench) -> CorpusWorld:
        """The repository under its lock, with what the audience saw last."""
        repository, seen = lock_as_shown(transaction, self.space, self.audience)
        look = self.looks.at(repository.verified, self.policy)
        return CorpusWorld(repository=repository, look=look, more=seen)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Status]:
        """The status; what was shown is noted, and damage that was found.

        Raises:
            NotInitialized: there is no repository, and nothing was tried.
        """
        ledger = world.ledger(now)
        told = status_facts(ledger)
        found = status(told, world.more, intent=self.intent, policy=self.emission)
        is_news = found.show and world.more != shown_to(told)
        changed = CorpusChanges(
            repository=ledger.repository if ledger.transitions else None,
            transitions=tuple(ledger.transitions),
            shown=(self.audience, shown_to(told)) if is_news else None,
        )
        return Decided(answer=found, records=changed)
