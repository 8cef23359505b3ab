"""Recalls in requests and answers."""

from typing import Any

from marshmallow import Schema, fields, validate

from api.edges.schemas import EdgeAnswer, edge_view
from api.fields import Flag, Id, Line, Number, RequestSchema, Text, UtcDateTime
from api.memories.schemas import MemoryAnswer, memory_view
from graphmem.bounded_fields import Several
from graphmem.model.memory import Memory, MemoryType
from graphmem.model.policy import RecallPolicy
from graphmem.model.source import CapturedBy, Source
from graphmem.recall.candidates import Arm
from graphmem.recall.cards import Card
from graphmem.recall.planner import Plan
from graphmem.recall.request import Bundle, Mode, RankerName, RecallItem

_LIMITS = RecallPolicy()
_CANDIDATES = validate.Range(1, _LIMITS.candidates_max)


class RecallBody(RequestSchema):
    """A question to some spaces."""

    spaces = Several(
        fields.String(),
        most=_LIMITS.spaces_max,
        required=True,
        validate=validate.Length(1),
        metadata={"example": ["user:ada"]},
    )
    query = Text(
        required=True,
        validate=[
            validate.Length(1, _LIMITS.query_max_chars),
            validate.Regexp(r"(?s).*\S", error="Must not be blank."),
        ],
        metadata={"example": "What does Ada drink?"},
    )
    limit = fields.Integer(
        strict=True,
        validate=validate.Range(1, _LIMITS.limit_max),
        metadata={"description": "20 by default; in orchestrator spaces memory.retrieval.top_n"},
    )
    ranker = fields.Enum(RankerName, by_value=True, load_default=None)
    candidates_vector = fields.Integer(strict=True, load_default=None, validate=_CANDIDATES)
    candidates_text = fields.Integer(strict=True, load_default=None, validate=_CANDIDATES)
    types = Several(fields.Enum(MemoryType, by_value=True), most=32, load_default=list)
    tags = Several(Line(validate=validate.Length(1, 64)), most=32, load_default=list)
    entities = Several(Text(validate=validate.Length(1, 512)), most=16, load_default=list)
    captured_by = Several(fields.Enum(CapturedBy, by_value=True), most=8, load_default=list)
    conversation_id = Id(load_default=None, validate=validate.Length(1, 512))
    include_superseded = Flag(load_default=False)
    include_archived = Flag(load_default=False)
    as_of = UtcDateTime(
        load_default=None,
        metadata={"description": "What was true then; by default now"},
    )
    known_at = UtcDateTime(
        load_default=None,
        metadata={"description": "What was recorded by then; by default now"},
    )
    cards = Flag(load_default=False)
    graph = Flag(
        load_default=False,
        metadata={
            "description": "Whether memories near the best ones in the graph are candidates too"
        },
    )
    plan = Flag(
        load_default=False,
        metadata={
            "description": "Whether the cue decides how much is recalled: nothing, 4 or 8 memories"
        },
    )
    min_score = Number(load_default=0.0, validate=validate.Range(0, 1))
    explain = Flag(load_default=False)


class ArmAnswer(Schema):
    """The rank and score of a memory in one arm."""

    rank = fields.Integer()
    score = fields.Float()


class RankAnswer(Schema):
    """The rank of a memory among those that words found."""

    rank = fields.Integer()


class Arms(Schema):
    """The rank and score in each arm; null where the arm did not find the memory.

    Words have no score: it rests on how rare they are, also where the caller may not look.
    """

    vector = fields.Nested(ArmAnswer, allow_none=True)
    text = fields.Nested(RankAnswer, allow_none=True)
    graph = fields.Nested(ArmAnswer, allow_none=True)


class ExplanationAnswer(Schema):
    """Why a memory has its rank."""

    arms = fields.Nested(Arms)
    factors = fields.Dict(keys=fields.String(), values=fields.Float())
    search = fields.String(
        metadata={"description": "index, or exact where every match was compared"}
    )
    ranker = fields.String()


class Citation(Schema):
    """Where a memory came from."""

    uid = fields.String()
    source_type = fields.String()
    source_path = fields.String(allow_none=True)
    conversation_id = fields.String(allow_none=True)
    workflow_run_id = fields.String(allow_none=True)
    step_id = fields.String(allow_none=True)


class RecallItemAnswer(Schema):
    """One recalled memory."""

    memory = fields.Nested(MemoryAnswer)
    score = fields.Float()
    contradicted = fields.Boolean()
    citation = fields.Nested(Citation)
    citations = fields.List(
        fields.Nested(Citation), metadata={"description": "One for each of its sources"}
    )
    explanation = fields.Nested(ExplanationAnswer)


class CardFactAnswer(Schema):
    """A memory on a card."""

    uid = fields.String()
    content = fields.String()


class CardRelationAnswer(Schema):
    """A relation on a card, in the keys of its ends."""

    uid = fields.String()
    from_ = fields.String(data_key="from")
    label = fields.String()
    to = fields.String()


class CardAnswer(Schema):
    """What else is known of an entity that the results mention."""

    key = fields.String()
    label = fields.String()
    facts = fields.List(fields.Nested(CardFactAnswer))
    relations = fields.List(fields.Nested(CardRelationAnswer))
    text = fields.String(metadata={"example": "[person:john]: fact1; fact2; fact3"})


class RecallAnswer(Schema):
    """The bundle of a recall, best first."""

    items = fields.List(fields.Nested(RecallItemAnswer))
    edges = fields.List(fields.Nested(EdgeAnswer))
    cards = fields.List(fields.Nested(CardAnswer))
    mode = fields.String(metadata={"enum": list(Mode)})
    plan = fields.String(allow_none=True, metadata={"enum": list(Plan)})
    degraded = fields.List(fields.String())
    trace_id = fields.String()


def bundle_view(bundle: Bundle, *, explain: bool) -> dict[str, Any]:
    """A bundle as the answer shows it."""
    return {
        "items": [_item(item, bundle, explain=explain) for item in bundle.items],
        "edges": [edge_view(edge) for edge in bundle.edges],
        "cards": [card_view(card) for card in bundle.cards],
        "mode": bundle.mode.value,
        "plan": bundle.plan.value if bundle.plan else None,
        "degraded": list(bundle.degraded),
        "trace_id": bundle.trace_id,
    }


def card_view(card: Card) -> dict[str, Any]:
    """A card as every answer shows it."""
    return {
        "key": card.key,
        "label": card.label,
        "facts": [{"uid": fact.uid, "content": fact.content} for fact in card.facts],
        "relations": [
            {"uid": each.uid, "from": each.start.key, "label": each.label, "to": each.end.key}
            for each in card.relations
        ],
        "text": card.text,
    }


def citation_view(memory: Memory, source: Source | None = None) -> dict[str, Any]:
    """Where a memory came from, first or by another source, as every answer shows it."""
    source = source or memory.source
    return {
        "uid": memory.uid,
        "source_type": source.type.value,
        "source_path": source.path,
        "conversation_id": source.conversation_id,
        "workflow_run_id": source.workflow_run_id,
        "step_id": source.step_id,
    }


def _item(item: RecallItem, bundle: Bundle, *, explain: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "memory": memory_view(item.memory),
        "score": item.score,
        "contradicted": item.contradicted,
        "citation": citation_view(item.memory),
        "citations": [citation_view(item.memory, each) for each in item.memory.sources],
    }
    if explain:
        why = item.explanation
        answer["explanation"] = {
            "arms": {
                "vector": _arm(why.vector),
                "text": {"rank": why.text.rank} if why.text else None,
                "graph": _arm(why.graph),
            },
            "factors": {name: round(value, 6) for name, value in why.factors.items()},
            "search": bundle.search,
            "ranker": bundle.ranker.value,
        }
    return answer


def _arm(arm: Arm | None) -> dict[str, Any] | None:
    return {"rank": arm.rank, "score": round(arm.score, 6)} if arm else None
