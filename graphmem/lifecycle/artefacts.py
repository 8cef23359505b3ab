"""Artefacts: what a turn says word for word, kept beside its memory (003, Persist order). Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from graphmem.lifecycle.told import Told
from graphmem.model.conversation import Turn
from graphmem.model.extraction import Category
from graphmem.model.notebook import Artefact, ArtefactType
from graphmem.model.policy import LifecycleConfig
from graphmem.recall.planner import Plan
from graphmem.text.instructions import is_instruction_like
from graphmem.text.normalise import one_line
from graphmem.text.sentences import sentences
from graphmem.text.statements import statement_form

ARTEFACT_MAX_CHARS = 280
_SENTENCES_MAX = 200  # of a turn that are looked at
TYPE_OF: Mapping[Category, ArtefactType] = {
    Category.DECISION: ArtefactType.DECISION,
    Category.CORRECTION: ArtefactType.CORRECTION,
    Category.COMMITMENT: ArtefactType.COMMITMENT,
    Category.PRINCIPLE: ArtefactType.CONSTRAINT,
}


def is_worth_quoting(category: Category, confidence: float, least: float) -> bool:
    """Whether the words behind a fact are kept: of four categories, from a confidence on."""
    return category in TYPE_OF and confidence >= least


def quote_of(turns: Sequence[Turn], content: str) -> tuple[Turn, str] | None:
    """The sentence of some turns that states a fact, and its turn; None if it gives orders.

    It is the first one that shares most words with the fact, at most 280 characters of it.
    """
    said = [(turn, sentence) for turn in turns for sentence in _sentences(turn.content)]
    if not said:
        return None
    words = set(statement_form(content).split())
    turn, sentence = max(said, key=lambda each: len(words & set(statement_form(each[1]).split())))
    return None if is_instruction_like(sentence) else (turn, within(sentence))


def _sentences(content: str) -> Sequence[str]:
    found = sentences(content, limit=_SENTENCES_MAX) or (content,)
    return [line for line in map(one_line, found) if line]


def within(text: str) -> str:
    """A text of at most 280 characters; a longer one ends with an ellipsis."""
    if len(text) <= ARTEFACT_MAX_CHARS:
        return text
    return text[: ARTEFACT_MAX_CHARS - 1] + "\u2026"


def artefact_limit(plan: Plan, results: int, most: int) -> int:
    """How many artefacts a recall shows: no more than results where few are wanted."""
    if results == 0 or plan is Plan.NO_RECALL:
        return 0
    return min(results, most) if plan is Plan.MINIMAL else most


def artefacts_of(told: Told, config: LifecycleConfig, now: datetime) -> Iterator[Artefact]:
    """The words of turns behind new facts that are worth quoting."""
    if not config.verbatim_artifacts_enabled:
        return
    turns = {turn.uid: turn for turn in told.turns}
    least = config.verbatim_artifacts_min_confidence
    for number, (planned, kept, uid) in enumerate(told.new_facts):
        if not is_worth_quoting(kept.category, kept.confidence, least):
            continue
        said = [turns[each] for each in kept.turns if each in turns]
        quote = quote_of(said, planned.fact.content)
        if quote:
            turn, text = quote
            yield Artefact(
                uid=f"{told.extraction.uid}-a{number}",
                space=told.extraction.space,
                memory=uid,
                turn=turn.uid,
                type=TYPE_OF[kept.category],
                text=text,
                noted_at=now,
            )
