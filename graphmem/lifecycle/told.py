"""Told: an extraction as it was done, as the rules of a notebook read it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from graphmem.lifecycle.plan import Plan, PlannedFact
from graphmem.model.conversation import Turn
from graphmem.model.extraction import Extraction, FactOutcome, KeptFact
from graphmem.text.analysis import STOP_WORDS
from graphmem.text.statements import statement_form

_NEW = {FactOutcome.CREATED, FactOutcome.SUPERSEDED, FactOutcome.SUPERSEDED_BY_NEWER}


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """An extraction as it was done, its plan, and the turns that are left of it.

    ``superseded`` are the uids of memories that it superseded.
    """

    extraction: Extraction
    plan: Plan
    turns: tuple[Turn, ...]
    box_uid: str
    superseded: frozenset[str] = frozenset()

    @property
    def facts(self) -> Iterator[tuple[PlannedFact, KeptFact]]:
        """Each fact that a memory says, as it was planned and as it was kept."""
        for planned, kept in zip(self.plan.facts, self.extraction.kept.facts, strict=True):
            if kept.uid:
                yield planned, kept

    @property
    def said_at(self) -> datetime:
        """When the last of the turns was said."""
        return max(turn.at for turn in self.turns)

    @property
    def new_facts(self) -> Iterator[tuple[PlannedFact, KeptFact, str]]:
        """Each fact that is a new memory, with its uid."""
        for planned, kept in self.facts:
            if kept.uid and kept.outcome in _NEW:
                yield planned, kept, kept.uid


def stating(text: str, told: Told) -> tuple[str, ...]:
    """The memories that a text of a model rests on: those that share most words, else all."""
    words = _content_words(text)
    facts = [kept for _, kept in told.facts if kept.outcome is not FactOutcome.SUPERSEDED_BY_NEWER]
    shared = [(len(words & _content_words(kept.content or "")), kept.uid) for kept in facts]
    most = max((count for count, _ in shared), default=0)
    return tuple(dict.fromkeys(uid for count, uid in shared if uid and count == most))


def _content_words(text: str) -> set[str]:
    return set(statement_form(text).split()) - STOP_WORDS
