"""Questions: what is worth asking, because a fact is doubtful or a model wants to know. Pure."""

from collections.abc import Iterator
from datetime import datetime

from graphmem.lifecycle.told import Told, stating
from graphmem.model.extraction import EngineName, Tier, tier_of
from graphmem.model.notebook import NotedQuestion
from graphmem.text.normalise import shorten

_CONTENT_MAX_CHARS = 200


def is_doubtful(confidence: float) -> bool:
    """Whether a fact of a confidence is worth a question: a speculative one."""
    return tier_of(confidence) is Tier.SPECULATIVE


def question_of(content: str) -> str:
    """The question whether a doubtful fact holds."""
    return f"Is this so: \u201c{shorten(content, _CONTENT_MAX_CHARS)}\u201d?"


def priority_of(confidence: float) -> float:
    """How much a question about a fact of a confidence matters, 0 to 1: the less sure, the more."""
    return round(1 - confidence, 2)


def new_questions(told: Told, now: datetime) -> Iterator[NotedQuestion]:
    """What a model wants to know, and for the rules whether a speculative fact holds."""
    extraction = told.extraction
    for number, each in enumerate(extraction.kept.questions):
        memories = stating(f"{each.question} {each.context}", told)
        if memories:
            yield NotedQuestion(
                uid=f"{extraction.uid}-q{number}",
                space=extraction.space,
                question=each.question,
                context=each.context,
                priority=each.priority,
                memories=memories,
                noted_at=now,
                extraction=extraction.uid,
            )
    if extraction.engine is EngineName.MODEL:
        return
    for number, (planned, kept, uid) in enumerate(told.new_facts):
        if is_doubtful(kept.confidence):
            yield NotedQuestion(
                uid=f"{extraction.uid}-d{number}",
                space=extraction.space,
                question=question_of(planned.fact.content),
                priority=priority_of(kept.confidence),
                memories=(uid,),
                noted_at=now,
            )
