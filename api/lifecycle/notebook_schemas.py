"""Boxes, artefacts, profile, identity and questions in requests and answers."""

from collections.abc import Sequence
from typing import Any

from marshmallow import Schema, fields, validate

from api.fields import Id, RequestSchema, WithoutNulls
from api.paging import PageQuery, page_of
from graphmem.model.notebook import (
    Artefact,
    ArtefactType,
    Box,
    NotebookLine,
    NotedQuestion,
    Reflection,
    SealReason,
    TopicTrace,
)
from graphmem.text.times import iso

_DAYS_MAX = 36_500


class BoxListQuery(PageQuery):
    """Which boxes to list."""

    open = fields.Boolean(load_default=None, metadata={"description": "Only open or sealed ones"})
    days = fields.Integer(
        load_default=None,
        validate=validate.Range(0, _DAYS_MAX),
        metadata={"description": "Only those in which something was told in the last days"},
    )
    session = Id(load_default=None, metadata={"description": "Only those that it began"})


class BoxAnswer(Schema):
    """Memories of a space that were told one after the other."""

    id = fields.String()
    created_at = fields.DateTime(metadata={"description": "When the first of it was said"})
    last_at = fields.DateTime(metadata={"description": "When the last of it was said"})
    sealed_at = fields.DateTime(allow_none=True)
    seal_reason = fields.Enum(SealReason, by_value=True, allow_none=True)
    session = fields.String(metadata={"description": "The session that began it"})
    topics = fields.List(fields.String())
    memories = fields.List(fields.String(), metadata={"description": "Their uids"})
    trace_id = fields.String(allow_none=True, metadata={"description": "Its topic trace"})


BoxList = page_of(BoxAnswer, "Boxes", "Boxes, the latest first.")


class SealAnswer(Schema):
    """The box that was sealed."""

    box = fields.Nested(BoxAnswer, allow_none=True)
    trace_id = fields.String(allow_none=True, metadata={"description": "null: none was open"})


class TopicTraceAnswer(Schema):
    """Topics that go through boxes of several days."""

    id = fields.String(metadata={"example": "trace-9f86d081"})
    topics = fields.List(fields.String())
    first_at = fields.DateTime()
    last_at = fields.DateTime()
    boxes = fields.List(fields.String(), metadata={"description": "The latest first, 1,000"})


TopicTraceList = page_of(TopicTraceAnswer, "TopicTraces", "Topic traces, the latest first.")


class ArtefactAnswer(Schema):
    """What a turn says word for word, kept beside its memory."""

    id = fields.String()
    type = fields.Enum(ArtefactType, by_value=True)
    text = fields.String(metadata={"description": "280 characters at most"})
    memory = fields.String(metadata={"description": "The uid of the memory that rests on it"})
    turn = fields.String()
    noted_at = fields.DateTime()


ArtefactList = page_of(ArtefactAnswer, "Artefacts", "Artefacts, the newest first.")


class LineAnswer(Schema):
    """A line, and the memories that it rests on."""

    text = fields.String()
    uids = fields.List(fields.String())


class LinesAnswer(Schema):
    """Lines, and the text that they make."""

    text = fields.String()
    lines = fields.List(fields.Nested(LineAnswer))


class ReflectionBody(RequestSchema):
    """What was learned of one's own part."""

    text = fields.String(required=True, metadata={"example": "Short answers are what Ada wants."})


class ReflectionAnswer(Schema):
    """A reflection as it was kept."""

    id = fields.String()
    text = fields.String()
    noted_at = fields.DateTime()


class ReflectedAnswer(Schema):
    """What became of a reflection."""

    reflection = fields.Nested(ReflectionAnswer)
    trace_id = fields.String()


class QuestionListQuery(PageQuery):
    """Which questions to list."""

    open = fields.Boolean(load_default=None, metadata={"description": "Only open or resolved ones"})


class NotedQuestionAnswer(Schema):
    """What is worth asking about memories."""

    id = fields.String()
    question = fields.String()
    context = fields.String()
    priority = fields.Float(metadata={"description": "0 to 1"})
    uids = fields.List(fields.String(), metadata={"description": "The memories it is about"})
    noted_at = fields.DateTime()
    resolved_at = fields.DateTime(allow_none=True)
    resolved_by = fields.String(
        allow_none=True, metadata={"description": "The extraction that did; null: somebody"}
    )
    answer = fields.String(allow_none=True)


NotedQuestionList = page_of(NotedQuestionAnswer, "Questions", "Questions, by priority.")


class ResolveBody(WithoutNulls):
    """How a question is resolved."""

    answer = fields.String(metadata={"example": "Yes, since May."})


class ResolvedAnswer(Schema):
    """A question that was resolved."""

    question = fields.Nested(NotedQuestionAnswer)
    trace_id = fields.String()


def artefact_view(artefact: Artefact) -> dict[str, Any]:
    """An artefact as answers show it."""
    return {
        "id": artefact.uid,
        "type": artefact.type.value,
        "text": artefact.text,
        "memory": artefact.memory,
        "turn": artefact.turn,
        "noted_at": iso(artefact.noted_at),
    }


def lines_view(lines: Sequence[NotebookLine]) -> dict[str, Any]:
    """Lines as answers show them."""
    return {
        "text": "\n".join(line.text for line in lines),
        "lines": [{"text": line.text, "uids": list(line.uids)} for line in lines],
    }


def reflection_view(reflection: Reflection) -> dict[str, Any]:
    """A reflection as answers show it."""
    return {
        "id": reflection.uid,
        "text": reflection.text,
        "noted_at": iso(reflection.noted_at),
    }


def question_view(question: NotedQuestion) -> dict[str, Any]:
    """A question as answers show it."""
    return {
        "id": question.uid,
        "question": question.question,
        "context": question.context,
        "priority": question.priority,
        "uids": list(question.memories),
        "noted_at": iso(question.noted_at),
        "resolved_at": iso(question.resolved_at),
        "resolved_by": question.resolved_by,
        "answer": question.answer,
    }


def box_view(box: Box) -> dict[str, Any]:
    """A box as answers show it."""
    return {
        "id": box.uid,
        "created_at": iso(box.created_at),
        "last_at": iso(box.last_at),
        "sealed_at": iso(box.sealed_at),
        "seal_reason": box.seal_reason.value if box.seal_reason else None,
        "session": box.session,
        "topics": list(box.topics),
        "memories": [member.memory for member in box.members],
        "trace_id": box.trace,
    }


def topic_trace_view(trace: TopicTrace) -> dict[str, Any]:
    """A topic trace as answers show it."""
    return {
        "id": trace.uid,
        "topics": list(trace.topics),
        "first_at": iso(trace.first_at),
        "last_at": iso(trace.last_at),
        "boxes": list(trace.boxes),
    }
