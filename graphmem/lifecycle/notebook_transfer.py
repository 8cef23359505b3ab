"""Notebook transfer: boxes, artefacts, profile, identity, questions in an export, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marshmallow import fields, validate

from graphmem.errors import InvalidInput
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords, check_uid
from graphmem.lifecycle.artefacts import ARTEFACT_MAX_CHARS
from graphmem.lifecycle.boxes import sealed
from graphmem.lifecycle.identity import REFLECTION_MAX_CHARS
from graphmem.model.notebook import (
    Artefact,
    ArtefactType,
    Box,
    Member,
    NotedQuestion,
    ProfileLine,
    Reflection,
    SealReason,
    TopicTrace,
)
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.artefacts import Artefacts, save_artefacts
from graphmem.store.boxes import Boxes, has_open_box, take_in_boxes, take_in_traces
from graphmem.store.connection import Connection
from graphmem.store.identity import reflections_of_space, take_in_reflections
from graphmem.store.notebooks import lock_notebook
from graphmem.store.profile import WrittenLine, lines_of_space, save_lines
from graphmem.store.questions import Questions, save_questions
from graphmem.text.times import iso

_NAME = validate.Length(1, 4_000)
_TOPICS = validate.Length(max=10_000)
_RESTING = validate.Length(1, 1_000)
_MEMBERS = validate.Length(max=10_000)


def _topics() -> fields.List[str]:
    return fields.List(fields.String(validate=_NAME), load_default=list, validate=_TOPICS)


class _MemberLine(Line):
    memory = fields.String(required=True, validate=_NAME)
    topics = _topics()


class _BoxLine(Line):
    uid = fields.String(required=True)
    session = fields.String(required=True, validate=_NAME)
    created_at = Moment(required=True)
    last_at = Moment(required=True)
    kept_at = Moment(required=True)
    sealed_at = Moment(allow_none=True, load_default=None)
    seal_reason = fields.Enum(SealReason, by_value=True, allow_none=True, load_default=None)
    topics = _topics()
    members = fields.List(fields.Nested(_MemberLine), load_default=list, validate=_MEMBERS)
    trace = fields.String(allow_none=True, load_default=None, validate=_NAME)


class _TopicTraceLine(Line):
    uid = fields.String(required=True)
    topics = _topics()
    first_at = Moment(required=True)
    last_at = Moment(required=True)


class _ArtefactLine(Line):
    uid = fields.String(required=True)
    memory = fields.String(required=True, validate=_NAME)
    turn = fields.String(required=True, validate=_NAME)
    type = fields.Enum(ArtefactType, by_value=True, required=True)
    text = fields.String(required=True, validate=validate.Length(1, ARTEFACT_MAX_CHARS))
    noted_at = Moment(required=True)


class _ProfileLineLine(Line):
    uid = fields.String(required=True)
    text = fields.String(allow_none=True, load_default=None, validate=_NAME)
    memories = fields.List(fields.String(validate=_NAME), required=True, validate=_RESTING)
    importance = fields.Integer(required=True, validate=validate.Range(0, 100))
    noted_at = Moment(required=True)
    extraction = fields.String(allow_none=True, load_default=None, validate=_NAME)
    dropped_at = Moment(allow_none=True, load_default=None)


class _ReflectionLine(Line):
    uid = fields.String(required=True)
    text = fields.String(required=True, validate=validate.Length(1, REFLECTION_MAX_CHARS))
    noted_at = Moment(required=True)
    extraction = fields.String(allow_none=True, load_default=None, validate=_NAME)
    dropped_at = Moment(allow_none=True, load_default=None)


class _NotedQuestionLine(Line):
    uid = fields.String(required=True)
    question = fields.String(required=True, validate=_NAME)
    context = fields.String(load_default="", validate=validate.Length(max=4_000))
    priority = fields.Float(required=True, validate=validate.Range(0, 1))
    memories = fields.List(fields.String(validate=_NAME), required=True, validate=_RESTING)
    noted_at = Moment(required=True)
    extraction = fields.String(allow_none=True, load_default=None, validate=_NAME)
    resolved_at = Moment(allow_none=True, load_default=None)
    resolved_by = fields.String(allow_none=True, load_default=None, validate=_NAME)
    answer = fields.String(allow_none=True, load_default=None, validate=_NAME)


class TakeInNotes(TakeInRecords):
    """Write what another store kept of a space beside its memories."""

    kind = TraceKind.NOTEBOOK


@dataclass(frozen=True, kw_only=True)
class TopicTraceTransfer(RecordTransfer):
    """The topic traces of a space; boxes tell which one they are of."""

    boxes: Boxes
    kind = "topic_trace"
    plural = "topic_traces"
    operation = TakeInNotes

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The topic traces of a space."""
        for trace in self.boxes.traces_of_space(space):
            yield {
                "uid": trace.uid,
                "topics": list(trace.topics),
                "first_at": iso(trace.first_at),
                "last_at": iso(trace.last_at),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The topic trace of a line."""
        values = checked(_TopicTraceLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "a topic trace")
        trace = TopicTrace(space=space, **values | {"topics": tuple(values["topics"])})
        return Loaded(key=trace.key, record=trace, texts=trace.topics)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write topic traces."""
        return take_in_traces(transaction, records)


@dataclass(frozen=True, kw_only=True)
class BoxTransfer(RecordTransfer):
    """The boxes of a space; one that comes open where another is open is sealed."""

    boxes: Boxes
    kind = "box"
    plural = "boxes"
    operation = TakeInNotes

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The boxes of a space, with all that was put in."""
        for box in self.boxes.of_space(space):
            yield {
                "uid": box.uid,
                "session": box.session,
                "created_at": iso(box.created_at),
                "last_at": iso(box.last_at),
                "kept_at": iso(box.kept_at),
                "sealed_at": iso(box.sealed_at),
                "seal_reason": box.seal_reason.value if box.seal_reason else None,
                "topics": list(box.topics),
                "trace": box.trace,
                "members": [
                    {"memory": member.memory, "topics": list(member.topics)}
                    for member in box.members
                ],
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The box of a line."""
        values = checked(_BoxLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "a box")
        if (values["sealed_at"] is None) != (values["seal_reason"] is None):
            problem = "Must be there together with sealed_at, or not at all."
            raise InvalidInput({f"{self.kind}.seal_reason": [problem]})
        members = (
            Member(memory=each["memory"], topics=tuple(each["topics"]))
            for each in values["members"]
        )
        topics = tuple(values["topics"])
        box = Box(space=space, **values | {"topics": topics, "members": tuple(members)})
        brought = (topic for member in box.members for topic in member.topics)
        return Loaded(key=box.key, record=box, texts=[box.session, *topics, *brought])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write boxes, of which at most one stays open."""
        is_taken: dict[Space, bool] = {}
        boxes: list[Box] = []
        for box in records:
            if box.sealed_at is None:
                if box.space not in is_taken:
                    lock_notebook(transaction, box.space)
                    is_taken[box.space] = has_open_box(transaction, box.space)
                is_second = is_taken[box.space]
                is_taken[box.space] = True
                boxes.append(sealed(box, SealReason.FORCED, box.last_at) if is_second else box)
            else:
                boxes.append(box)
        return take_in_boxes(transaction, boxes)


@dataclass(frozen=True, kw_only=True)
class ArtefactTransfer(RecordTransfer):
    """The artefacts of a space; one whose memory or turn is not here is left out."""

    artefacts: Artefacts
    kind = "artefact"
    plural = "artefacts"
    operation = TakeInNotes

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The artefacts of a space."""
        for each in self.artefacts.of_space(space):
            yield {
                "uid": each.uid,
                "memory": each.memory,
                "turn": each.turn,
                "type": each.type.value,
                "text": each.text,
                "noted_at": iso(each.noted_at),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The artefact of a line."""
        values = checked(_ArtefactLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "an artefact")
        artefact = Artefact(space=space, **values)
        return Loaded(key=artefact.key, record=artefact, texts=[artefact.text])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write artefacts whose memories and turns are here."""
        return save_artefacts(transaction, records)


@dataclass(frozen=True, kw_only=True)
class ProfileTransfer(RecordTransfer):
    """The lines of the profile of a space; those without words say what their memory says."""

    connection: Connection
    kind = "profile_line"
    plural = "profile_lines"
    operation = TakeInNotes

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The lines of a space, also those that were dropped."""
        for each in lines_of_space(self.connection, space):
            line = each.line
            yield {
                "uid": line.uid,
                "text": line.text if each.has_words else None,
                "memories": list(line.memories),
                "importance": line.importance,
                "noted_at": iso(line.noted_at),
                "extraction": line.extraction,
                "dropped_at": iso(line.dropped_at),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The line of a profile of a line."""
        values = checked(_ProfileLineLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "a line of a profile")
        text = values.pop("text")
        memories = tuple(values.pop("memories"))
        line = ProfileLine(space=space, text=text or "", memories=memories, **values)
        record = WrittenLine(line=line, has_words=text is not None)
        return Loaded(key=line.key, record=record, texts=[text] if text else [])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write lines that rest on memories which are here."""
        return save_lines(transaction, records)


@dataclass(frozen=True, kw_only=True)
class IdentityTransfer(RecordTransfer):
    """The reflections of a space."""

    connection: Connection
    kind = "reflection"
    plural = "reflections"
    operation = TakeInNotes

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The reflections of a space, also those that were dropped."""
        for each in reflections_of_space(self.connection, space):
            yield {
                "uid": each.uid,
                "text": each.text,
                "noted_at": iso(each.noted_at),
                "extraction": each.extraction,
                "dropped_at": iso(each.dropped_at),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The reflection of a line."""
        values = checked(_ReflectionLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "a reflection")
        reflection = Reflection(space=space, **values)
        return Loaded(key=reflection.key, record=reflection, texts=[reflection.text])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write reflections that are not here yet."""
        return take_in_reflections(transaction, records)


@dataclass(frozen=True, kw_only=True)
class QuestionTransfer(RecordTransfer):
    """The questions of a space."""

    questions: Questions
    kind = "question"
    plural = "questions"
    operation = TakeInNotes

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The questions of a space, open and resolved ones."""
        for each in self.questions.of_space(space):
            yield {
                "uid": each.uid,
                "question": each.question,
                "context": each.context,
                "priority": each.priority,
                "memories": list(each.memories),
                "noted_at": iso(each.noted_at),
                "extraction": each.extraction,
                "resolved_at": iso(each.resolved_at),
                "resolved_by": each.resolved_by,
                "answer": each.answer,
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The question of a line."""
        values = checked(_NotedQuestionLine(), self.kind, value)
        check_uid(f"{self.kind}.uid", values["uid"], "a question")
        question = NotedQuestion(space=space, **values | {"memories": tuple(values["memories"])})
        texts = [question.question, question.context, question.answer or ""]
        return Loaded(key=question.key, record=question, texts=[each for each in texts if each])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write questions about memories that are here."""
        return save_questions(transaction, records)
