"""Transfer: buffers, extractions and threads as lines of an export, and back."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeVar

from marshmallow import fields, validate

from graphmem.errors import GraphmemError, InvalidInput
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.validation import is_uid
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.model.caller import Caller
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

UNCHANGED = "unchanged"  # else what was added, as lines of an import are counted
_MOST = 100_000  # of a list in a line
_COUNT = validate.Range(0, 1_000_000_000)
_FEW, _SHORT = validate.Length(max=1_000), validate.Length(max=4_000)
_NAME = validate.Length(1, 4_000)
Record = TypeVar("Record")
Write = Callable[[Workbench, Sequence[Any]], Mapping[str, bool]]


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


@dataclass(frozen=True, kw_only=True)
class TakeInRecords(Operation[None, Mapping[str, bool]]):
    """Write records of one kind that another store kept; those that are here stay as they are.

    The answer is filled in as they are written: by key whether each is new.
    """

    kind = TraceKind.EXTRACTION

    space: Space
    records: Sequence[Any]
    texts_of: Sequence[str]
    write: Write
    found: dict[str, bool]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the records."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """What they put into words."""
        return self.texts_of

    def read(self, transaction: Workbench) -> None:
        """Nothing: what is here is looked at as they are written."""

    def decide(self, state: None, now: datetime) -> Decided[Mapping[str, bool]]:  # noqa: ARG002
        """Write all of them."""
        return Decided(answer=self.found)

    def apply(self, transaction: Workbench, decided: Decided[Mapping[str, bool]]) -> None:  # noqa: ARG002
        """Write those that are not here."""
        self.found.clear()
        self.found.update(self.write(transaction, self.records))


@dataclass(frozen=True, kw_only=True)
class _RecordTransfer(ABC):
    """What the three kinds have in common."""

    gateway: Gateway
    kind: ClassVar[str]

    @abstractmethod
    def _loaded(self, value: Any, space: Space) -> tuple[str, Any, Sequence[str]]:  # noqa: ANN401 - any JSON
        """The key of a line, what it holds, and its texts.

        Raises:
            InvalidInput: something is wrong with it.
        """

    @abstractmethod
    def _write(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write records that are not here; by key whether each is new."""

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Write what is not here."""
        loaded = [self._one(value, space) for value in values]
        good = [each for each in loaded if not isinstance(each, GraphmemError)]
        found = self._written(space, good, caller)
        return [
            each if isinstance(each, GraphmemError) else found.get(each[0], UNCHANGED)
            for each in loaded
        ]

    def _one(self, value: Any, space: Space) -> "tuple[str, Any, Sequence[str]] | InvalidInput":  # noqa: ANN401
        try:
            return self._loaded(value, space)
        except InvalidInput as error:
            return error

    def _written(
        self, space: Space, good: Sequence[tuple[str, Any, Sequence[str]]], caller: Caller
    ) -> dict[str, str | GraphmemError]:
        if not good:
            return {}
        operation = TakeInRecords(
            space=space,
            records=[record for _, record, _ in good],
            texts_of=[text for _, _, texts in good for text in texts],
            write=self._write,
            found={},
        )
        try:
            answer = self.gateway.execute(operation, caller).answer
        except GraphmemError as error:
            if len(good) == 1:
                return {good[0][0]: error}
            each = (self._written(space, [one], caller) for one in good)
            return {key: outcome for found in each for key, outcome in found.items()}
        return {key: f"{self.kind}s" if is_new else UNCHANGED for key, is_new in answer.items()}


@dataclass(frozen=True, kw_only=True)
class BufferTransfer(_RecordTransfer):
    """The buffers of a space."""

    buffers: Buffers
    kind: ClassVar[str] = "buffer"

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

    def _loaded(self, value: Any, space: Space) -> tuple[str, Any, Sequence[str]]:  # noqa: ANN401
        values = checked(_BufferLine(), self.kind, value)
        turns = values.pop("turns")
        buffer = Buffer(space=space, turns=len(turns), **values)
        return buffer.key, (buffer, turns), [buffer.session]

    def _write(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        return take_in_buffers(transaction, records)


@dataclass(frozen=True, kw_only=True)
class ExtractionTransfer(_RecordTransfer):
    """The extractions of a space; facts are told by their memories."""

    extractions: Extractions
    kind: ClassVar[str] = "extraction"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The extractions of a space, also those that still wait."""
        for each in self.extractions.of_space(space):
            yield _extraction_line(each)

    def _loaded(self, value: Any, space: Space) -> tuple[str, Any, Sequence[str]]:  # noqa: ANN401
        values = checked(_ExtractionLine(), self.kind, value)
        if not is_uid(values["uid"]):
            raise InvalidInput({f"{self.kind}.uid": ["Must be the uid of an extraction."]})
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
        return extraction.key, extraction, texts

    def _write(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
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
class ThreadTransfer(_RecordTransfer):
    """The threads of a space."""

    threads: ThreadReader
    kind: ClassVar[str] = "thread"

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

    def _loaded(self, value: Any, space: Space) -> tuple[str, Any, Sequence[str]]:  # noqa: ANN401
        values = checked(_ThreadLine(), self.kind, value)
        if not is_uid(values["uid"]):
            raise InvalidInput({f"{self.kind}.uid": ["Must be the uid of a thread."]})
        turns, count = values.pop("turns"), values.pop("turn_count")
        thread = Thread(space=space, turns=count, **values)
        return thread.key, (thread, turns), [thread.session, thread.title, *thread.words]

    def _write(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        here = threads_here(transaction, [thread for thread, _ in records])
        new = [(thread, turns) for thread, turns in records if thread.key not in here]
        of_turns = {uid: thread.uid for thread, turns in new for uid in turns}
        link_threads(transaction, [thread for thread, _ in new], of_turns)
        return {thread.key: thread.key not in here for thread, _ in records}
