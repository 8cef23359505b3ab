"""What a persona may know for a message, and its context, in requests and answers."""

from typing import Any

from marshmallow import Schema, fields, validate

from api.companion.schemas import CompanionMemory, fact_view
from api.fields import RequestSchema, Text, WithoutNulls
from graphmem.companion.context import ContextAnswer
from graphmem.companion.context_builder import Block
from graphmem.companion.recall import Found, FoundFact
from graphmem.companion.selection import FactCard

_QUERY = {"example": "What does my sister do?"}
_QUERY_LENGTH = validate.Length(1, 8_000)
_BUDGET = validate.Range(1, 200_000)


class CompanionRecallBody(WithoutNulls):
    """What is to be found."""

    query = Text(required=True, validate=_QUERY_LENGTH, metadata=_QUERY)
    limit = fields.Integer(strict=True, validate=validate.Range(1, 50))


class FoundMemory(Schema):
    """A memory with its score, from 0 to 1, and what made it."""

    memory = fields.Nested(CompanionMemory)
    score = fields.Float()
    factors = fields.Dict(keys=fields.String(), values=fields.Float())


class CompanionCard(Schema):
    """What else is known of something that results are about."""

    key = fields.String()
    facts = fields.List(fields.Nested(CompanionMemory))
    text = fields.String()


class CompanionRecallAnswer(Schema):
    """What is known for a query."""

    results = fields.List(fields.Nested(FoundMemory))
    chosen = fields.List(
        fields.String(), metadata={"description": "uids of the results that stand in a context"}
    )
    foundation = fields.List(
        fields.Nested(CompanionMemory), metadata={"description": "Pinned memories"}
    )
    cards = fields.List(fields.Nested(CompanionCard))
    degraded = fields.List(fields.String())
    trace_id = fields.String()


class CompanionContextQuery(RequestSchema):
    """What a context is for."""

    query = Text(
        load_default=None,
        validate=_QUERY_LENGTH,
        metadata=_QUERY | {"description": "The message to be answered; else the user's last one"},
    )
    budget = fields.Integer(
        load_default=None, validate=_BUDGET, metadata={"description": "Estimated tokens; 1200"}
    )


class CompanionContextBody(WithoutNulls):
    """What a context is for."""

    query = Text(validate=_QUERY_LENGTH, metadata=_QUERY)
    budget = fields.Integer(strict=True, validate=_BUDGET)


class BlockAnswer(Schema):
    """A part of a context."""

    name = fields.String()
    text = fields.String()
    why = fields.String()
    uids = fields.List(fields.String(), metadata={"description": "What it rests on"})
    dropped = fields.Boolean()


class CompanionContext(Schema):
    """What a persona is told before it answers."""

    text = fields.String()
    blocks = fields.List(fields.Nested(BlockAnswer))
    tokens = fields.Integer(metadata={"description": "Estimated"})
    over_budget = fields.Boolean()
    warnings = fields.List(fields.String())
    degraded = fields.List(fields.String())
    trace_id = fields.String(allow_none=True)


def found_view(found: Found) -> dict[str, Any]:
    """What is known for a query, in an answer."""
    return {
        "results": list(map(_result_view, found.results)),
        "chosen": [fact.uid for fact in found.chosen],
        "foundation": list(map(fact_view, found.foundation)),
        "cards": list(map(_card_view, found.cards)),
        "degraded": list(found.degraded),
        "trace_id": found.trace_id,
    }


def _result_view(result: FoundFact) -> dict[str, Any]:
    return {
        "memory": fact_view(result.fact),
        "score": result.score,
        "factors": dict(result.factors),
    }


def _card_view(card: FactCard) -> dict[str, Any]:
    return {"key": card.key, "facts": list(map(fact_view, card.facts)), "text": card.text}


def context_view(answer: ContextAnswer) -> dict[str, Any]:
    """A context in an answer."""
    context = answer.context
    return {
        "text": context.text,
        "blocks": list(map(_block_view, context.blocks)),
        "tokens": context.tokens,
        "over_budget": context.over_budget,
        "warnings": list(context.warnings),
        "degraded": list(answer.degraded),
        "trace_id": answer.trace_id,
    }


def _block_view(block: Block) -> dict[str, Any]:
    return {
        "name": block.name,
        "text": block.text,
        "why": block.why,
        "uids": list(block.uids),
        "dropped": block.dropped,
    }
