"""Bootstrapping: an owner's repository comes to be, once (000, Bootstrap)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.corpus.corpus_operation import CorpusOperation, CorpusWorld
from graphmem.corpus.initialisation import Initialisation, initialised
from graphmem.gateway.operation import Decided
from graphmem.model.event import Effect
from graphmem.store.corpus_changes import CorpusChanges
from graphmem.text.secrets import has_secret

_TOPIC = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")
_TOPICS_MAX = 20


@dataclass(frozen=True, kw_only=True)
class Bootstrap(CorpusOperation[Initialisation]):
    """Let an owner have a repository; ``was_tried``: a create was tried earlier in the turn."""

    turn: str
    topics: Sequence[object] = ()
    was_tried: bool = False

    @property
    def texts(self) -> Sequence[str]:
        """What the turn is called."""
        return (self.turn,)

    def decided(self, world: CorpusWorld, now: datetime) -> Decided[Initialisation]:
        """Create it where there is none.

        Raises:
            Conflict: it was to be created in this turn before.
        """
        repository = world.repository
        was_tried = self.was_tried or (repository.is_there and repository.turn == self.turn)
        found = initialised(has_repository=repository.is_there, was_tried=was_tried)
        if not found.created:
            return Decided(answer=found)
        ledger = world.ledger(now)
        ledger.put("bootstrap", created_at=now, turn=self.turn, topics=taken_topics(self.topics))
        changed = CorpusChanges(repository=ledger.repository, transitions=tuple(ledger.transitions))
        event = self.event(Effect.CORPUS_CREATED)
        return Decided(answer=found, events=(event,), records=changed)


def taken_topics(topics: Sequence[object]) -> tuple[str, ...]:
    """The topics that a repository can have; one that it cannot is ignored."""
    named = (each for each in topics if isinstance(each, str) and _TOPIC.fullmatch(each))
    return tuple(dict.fromkeys(each for each in named if not has_secret(each)))[:_TOPICS_MAX]
