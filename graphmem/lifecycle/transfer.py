"""Transfer: buffers, extractions and threads as lines of an export, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from marshmallow import fields, validate

from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords, check_uid
from graphmem.model.extraction import (
    Buffer,
    Category,
    EngineName,
    Extraction,
    FactOutcome,
    Kept,
    KeptEntity,
    KeptFact,
    Question,
    Refusal,
    Thread,
)
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.buffers import Buffers, take_in_buffers
from graphmem.store.extractions import Extractions, take_in_extractions
from graphmem.store.threads import ThreadReader, link_threads, threads_here
from graphmem.text.times import iso

_MOST = 100_000  # of a list in a line
_COUNT = validate.Range(0, 1_000_000_000)
_FEW, _SHORT = validate.Length(max=1_000), validate.Length(max=4_000)
_NAME = validate.Length(1, 4_000)


class _BufferLine(Line):
    session = fields.String(required=True, validate=_NAME)
    turns = fields.List(fields.String(), load_default=list, validate=validate.Length(max=_MOST))
    user_turns = fields.Integer(load_default=0, validate=_COUNT)
    characters = fields.Integer(load_default=0, validate=_COUNT)
    first_at = Moment(allow_none=True, load_default=None)
    last_at = Moment(allow_none=True, load_default=None)
    digest = fields.String(load_default="")
    last_extraction_at = Moment(allow_none=True, load_default=None)
    last_digest = fields.String(load_default="")
    extractions = fields.Integer(load_default=0, validate=_COUNT)


class _FactLine(Line):
    uid = fields.String(allow_none=True, load_default=None)
    outcome = fields.Enum(FactOutcome, by_value=True, required=True)
    category = fields.Enum(Category, by_value=True, required=True)
    confidence = fields.Float(required=True, validate=validate.Range(0, 1))
    importance = fields.Float(required=True, validate=validate.Range(0, 1))
    turns = fields.List(fields.String(), load_default=list)


class _EntityLine(Line):
    key = fields.String(required=True, validate=_SHORT)
    matched_by = fields.String(required=True, validate=_SHORT)


class _QuestionLine(Line):
    question = fields.String(required=True, validate=_SHORT)
    context = fields.String(load_default="", validate=_SHORT)
    priority = fields.Float(load_default=0.5)


class _RefusalLine(Line):
    reason = fields.String(required=True, validate=_SHORT)
    turn = fields.String(allow_none=True, load_default=None)


class _ExtractionLine(Line):
    uid = fields.String(required=True)
    session = fields.String(required=True, validate=_NAME)
    reason = fields.String(required=True, validate=_SHORT)
    is_guarded = fields.Boolean(load_default=False)
    decided_at = Moment(required=True)
    at = Moment(allow_none=True, load_default=None)
    engine = fields.Enum(EngineName, by_value=True, load_default=EngineName.RULES)
    turns = fields.List(fields.String(), load_default=list, validate=validate.Length(max=_MOST))
    facts = fields.List(fields.Nested(_FactLine), load_default=list, validate=_FEW)
    entities = fields.List(fields.Nested(_EntityLine), load_default=list, validate=_FEW)
    relationships = fields.List(
        fields.Dict(keys=fields.String(), values=fields.String(validate=_SHORT)),
        load_default=list,
        validate=_FEW,
    )
    profile_updates = fields.List(fields.String(validate=_SHORT), load_default=list, validate=_FEW)
    questions = fields.List(fields.Nested(_QuestionLine), load_default=list, validate=_FEW)
    reflection = fields.String(allow_none=True, load_default=None, validate=_SHORT)
    refused = fields.List(fields.Nested(_RefusalLine), load_default=list, validate=_FEW)
    degraded = fields.List(fields.String(validate=_SHORT), load_default=list, validate=_FEW)


class _ThreadLine(Line):
    uid = fields.String(required=True)
    session = fields.String(required=True, validate=_NAME)
    title = fields.String(required=True, validate=_SHORT)
    turn_count = fields.Integer(required=True, validate=_COUNT)
    first_at = Moment(required=True)
    last_at = Moment(required=True)
    words = fields.Dict(keys=fields.String(), values=fields.Integer(), load_default=dict)
    turns = fields.List(fields.String(), load_default=list, validate=validate.Length(max=_MOST))


class TakeInReadings(TakeInRecords):
    """Write what another store kept of turns that are read together."""

    kind = TraceKind.EXTRACTION


@dataclass(frozen=True, kw_only=True)
class BufferTransfer(RecordTransfer):
    """The buffers of a space."""

    buffers: Buffers
    kind = "buffer"
    plural = "buffers"
    operation = TakeInReadings

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The buffers of a space, with the turns that wait in them."""
        for buffer, turns in self.buffers.of_space(space):
            times = ("first_at", "last_at", "last_extraction_at")
            names = ("session", "user_turns", "characters", "digest", "last_digest", "extractions")
            yield {
                **{name: getattr(buffer, name) for name in names},
                **{name: iso(getattr(buffer, name)) for name in times},
                "turns": list(turns),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The buffer of a line, and the uids of the turns that wait in it."""
        values = checked(_BufferLine(), self.kind, value)
        turns = values.pop("turns")
        buffer = Buffer(space=space, turns=len(turns), **values)
        return Loaded(key=buffer.key, record=(buffer, turns), texts=[buffer.session])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write buffers, and let turns wait in them."""
        return take_in_buffers(transaction, records)


@dataclass(frozen=True, kw_only=True)
class ExtractionTransfer(RecordTransfer):
    """The extractions of a space; facts are told by their memories."""

    extractions: Extractions
    kind = "extraction"
    plural = "extractions"
    operation = TakeInReadings

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The extractions of a space, also those that still wait."""
        for each in self.extractions.of_space(space):
            yield _extraction_line(each)

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The extraction of a line."""
        values = checked(_ExtractionLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "an extraction")
        own = ("uid", "session", "reason", "is_guarded", "decided_at", "at", "engine")
        extraction = Extraction(
            space=space,
            turns=tuple(values["turns"]),
            kept=_kept(values),
            **{name: values[name] for name in own},
        )
        kept = extraction.kept
        texts = [
            *(extraction.session, *kept.profile_updates),
            *(text for each in kept.questions for text in (each.question, each.context)),
            *([kept.reflection] if kept.reflection else []),
            *(each.key for each in kept.entities),
            *(text for each in kept.relationships for text in each.values()),
            *(*(each.reason for each in kept.refused), *kept.degraded, extraction.reason),
        ]
        return Loaded(key=extraction.key, record=extraction, texts=texts)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write extractions, and what they read and kept."""
        return take_in_extractions(transaction, records)


def _extraction_line(extraction: Extraction) -> dict[str, Any]:
    kept = extraction.kept
    return {
        "uid": extraction.uid,
        "session": extraction.session,
        "reason": extraction.reason,
        "is_guarded": extraction.is_guarded,
        "decided_at": iso(extraction.decided_at),
        "at": iso(extraction.at),
        "engine": extraction.engine.value,
        "turns": list(extraction.turns),
        "facts": [_fact_line(fact) for fact in kept.facts],
        "entities": [asdict(each) for each in kept.entities],
        "relationships": [dict(each) for each in kept.relationships],
        "profile_updates": list(kept.profile_updates),
        "questions": [asdict(each) for each in kept.questions],
        "reflection": kept.reflection,
        "refused": [asdict(each) for each in kept.refused],
        "degraded": list(kept.degraded),
    }


def _fact_line(fact: KeptFact) -> dict[str, Any]:
    return {
        "uid": fact.uid,
        "outcome": fact.outcome.value,
        "category": fact.category.value,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "turns": list(fact.turns),
    }


def _kept(values: Mapping[str, Any]) -> Kept:
    facts = [dict(each) | {"turns": tuple(each["turns"])} for each in values["facts"]]
    return Kept(
        facts=tuple(KeptFact(content=None, **each) for each in facts),
        entities=tuple(KeptEntity(**each) for each in values["entities"]),
        relationships=tuple(values["relationships"]),
        profile_updates=tuple(values["profile_updates"]),
        questions=tuple(Question(**each) for each in values["questions"]),
        reflection=values["reflection"],
        refused=tuple(Refusal(**each) for each in values["refused"]),
        degraded=tuple(values["degraded"]),
    )


@dataclass(frozen=True, kw_only=True)
class ThreadTransfer(RecordTransfer):
    """The threads of a space."""

    threads: ThreadReader
    kind = "thread"
    plural = "threads"
    operation = TakeInReadings

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The threads of a space, with their turns."""
        for thread, turns in self.threads.of_space(space):
            yield {
                "uid": thread.uid,
                "session": thread.session,
                "title": thread.title,
                "turn_count": thread.turns,
                "first_at": iso(thread.first_at),
                "last_at": iso(thread.last_at),
                "words": dict(thread.words),
                "turns": list(turns),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The thread of a line, and the uids of its turns."""
        values = checked(_ThreadLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "a thread")
        turns, count = values.pop("turns"), values.pop("turn_count")
        thread = Thread(space=space, turns=count, **values)
        texts = [thread.session, thread.title, *thread.words]
        return Loaded(key=thread.key, record=(thread, turns), texts=texts)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write threads, and which turns are in them."""
        here = threads_here(transaction, [thread for thread, _ in records])
        new = [(thread, turns) for thread, turns in records if thread.key not in here]
        of_turns = {uid: thread.uid for thread, turns in new for uid in turns}
        link_threads(transaction, [thread for thread, _ in new], of_turns)
        return {thread.key: thread.key not in here for thread, _ in records}
