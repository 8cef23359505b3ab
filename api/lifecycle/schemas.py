"""Turns that are to be extracted, buffers, extractions and threads in requests and answers."""

from typing import Any

from marshmallow import Schema, fields, validate

from api.conversations.read_turns import ReadTurn
from api.conversations.schemas import TurnAnswer, turn_view
from api.fields import Flag, Id, RequestSchema, UtcDateTime, WithoutNulls
from api.lifecycle.session_fields import SESSION, SessionFields
from api.memories.schemas import MemoryAnswer
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField
from graphmem.bounded_fields import Several
from graphmem.lifecycle.arrival import ArrivedTurn
from graphmem.lifecycle.buffer import Choice
from graphmem.lifecycle.entity_matching import shown_key
from graphmem.lifecycle.keeper import Heeded
from graphmem.lifecycle.plan import Plan, PlannedFact
from graphmem.lifecycle.signals import Level
from graphmem.model.conversation import Saying, Turn, TurnRole
from graphmem.model.extraction import (
    Activity,
    Buffer,
    Category,
    EngineName,
    Extraction,
    FactOutcome,
    Heard,
    Kept,
    KeptEntity,
    KeptFact,
    Thread,
    Tier,
)
from graphmem.text.normalise import nfc
from graphmem.text.times import iso

TURNS_MAX, PREVIEW_MAX = 500, 50
_SPACE = {"example": "user:ada"}


class SpokenFields(ReadTurn):
    """What a turn says."""

    role = fields.Enum(TurnRole, by_value=True, required=True)
    content = fields.String(required=True, metadata={"example": "FYI we moved to Lyon."})
    actor = fields.String(metadata={"example": "Ada"})
    occurred_at = UtcDateTime(metadata={"description": "When it was said; else now"})


class HeardTurnBody(SpokenFields):
    """A turn that is to be extracted."""

    message_id = fields.String(metadata={"example": "m-1"})


class HeedBody(SessionFields, HeardTurnBody):
    """One turn of a session."""

    wait = Flag(
        load_default=True,
        metadata={"description": "Whether what it makes due is read before the answer"},
    )


class HeedBatchBody(SessionFields):
    """Turns of a session in their order, all or none."""

    turns = Several(
        fields.Nested(HeardTurnBody),
        most=TURNS_MAX,
        required=True,
        validate=validate.Length(min=1),
    )
    wait = Flag(load_default=False)


class PreviewBody(RequestSchema):
    """Turns of which is to be told what would be extracted."""

    space = SpaceField(required=True, metadata=_SPACE)
    turns = Several(
        fields.Nested(SpokenFields),
        most=PREVIEW_MAX,
        required=True,
        validate=validate.Length(min=1),
    )


class ShareBody(WithoutNulls):
    """Which space the memory to be shared lies in, where several have one of its uid."""

    space = SpaceField(metadata=_SPACE)


class ShareAnswer(Schema):
    """The copy of a memory in the shared space."""

    memory = fields.Nested(MemoryAnswer)
    trace_id = fields.String()


class SignalAnswer(Schema):
    """How much the words of a turn ask to be remembered."""

    level = fields.Enum(Level, by_value=True)
    phrases = fields.List(fields.String())
    disagreement = fields.Boolean()


class BufferDecision(Schema):
    """What a turn made of the buffer of its session."""

    decision = fields.Enum(Choice, by_value=True)
    reason = fields.String()
    turns = fields.Integer(metadata={"description": "Turns that wait in the buffer now"})


class FactAnswer(Schema):
    """What became of a fact."""

    uid = fields.String(allow_none=True, metadata={"description": "The memory that says it"})
    outcome = fields.Enum(FactOutcome, by_value=True)
    category = fields.Enum(Category, by_value=True)
    content = fields.String(allow_none=True)
    confidence = fields.Float()
    tier = fields.Enum(Tier, by_value=True)
    importance = fields.Float(metadata={"description": "0 to 1"})
    turns = fields.List(fields.String())


class NamedEntityAnswer(Schema):
    """An entity that was named, and how it was recognised."""

    key = fields.String(metadata={"example": "person-jane-doe"})
    matched_by = fields.String()


class RelationshipAnswer(Schema):
    """How one named thing stands to another."""

    uid = fields.String(metadata={"description": "The relation that says so"})
    source = fields.String()
    target = fields.String()
    label = fields.String()


class QuestionAnswer(Schema):
    """What could be asked to learn more."""

    question = fields.String()
    context = fields.String()
    priority = fields.Float()


class RefusalAnswer(Schema):
    """What was not kept, by a stable code."""

    reason = fields.String()
    turn = fields.String(allow_none=True)


class ExtractionAnswer(Schema):
    """What was read of some turns, and what was kept."""

    uid = fields.String(allow_none=True)
    session = fields.String(allow_none=True)
    engine = fields.Enum(EngineName, by_value=True)
    reason = fields.String()
    at = fields.DateTime(allow_none=True)
    turns = fields.List(fields.String())
    facts = fields.List(fields.Nested(FactAnswer))
    entities = fields.List(fields.Nested(NamedEntityAnswer))
    relationships = fields.List(fields.Nested(RelationshipAnswer))
    profile_updates = fields.List(fields.String())
    questions = fields.List(fields.Nested(QuestionAnswer))
    reflection = fields.String(allow_none=True)
    refused = fields.List(fields.Nested(RefusalAnswer))
    degraded = fields.List(fields.String())


class ExtractionWithTurns(ExtractionAnswer):
    """An extraction with the words of its turns."""

    said = fields.List(fields.Nested(TurnAnswer))


ExtractionList = page_of(ExtractionAnswer, "Extractions", "Extractions, the newest first.")


class LastRecallOf(Schema):
    """The session whose last recall is meant."""

    space = fields.String()
    session = fields.String()


_SUGGESTED = {"description": "What POST /v1/feedback may be asked for: the user objects"}


class HeedAnswer(Schema):
    """What became of a turn."""

    space = fields.String(metadata=_SPACE)
    turn = fields.Nested(TurnAnswer)
    signal = fields.Nested(SignalAnswer)
    buffer = fields.Nested(BufferDecision)
    extraction = fields.Nested(ExtractionAnswer, allow_none=True)
    suggests_feedback = fields.Nested(LastRecallOf, allow_none=True, metadata=_SUGGESTED)
    trace_id = fields.String()


class HeededTurn(Schema):
    """What became of one turn of several."""

    uid = fields.String()
    decision = fields.Enum(Choice, by_value=True)


class HeedBatchAnswer(Schema):
    """What became of some turns; ``buffer`` is what the last one made of it."""

    space = fields.String(metadata=_SPACE)
    turns = fields.List(fields.Nested(HeededTurn))
    buffer = fields.Nested(BufferDecision)
    extractions = fields.List(fields.Nested(ExtractionAnswer))
    suggests_feedback = fields.Nested(LastRecallOf, allow_none=True, metadata=_SUGGESTED)
    trace_id = fields.String()


class BufferAnswer(Schema):
    """Turns of a session that wait for their extraction."""

    session = fields.String()
    turns = fields.Integer()
    characters = fields.Integer()
    first_at = fields.DateTime(allow_none=True)
    last_at = fields.DateTime(allow_none=True)
    last_extraction_at = fields.DateTime(allow_none=True)
    extractions = fields.Integer()


BufferList = page_of(BufferAnswer, "Buffers", "Buffers by session.")


class FlushBody(WithoutNulls):
    """Which buffers to flush; without a session all of the space."""

    session = Id(metadata=SESSION)


class FlushAnswer(Schema):
    """What was extracted."""

    extractions = fields.List(fields.Nested(ExtractionAnswer))
    trace_id = fields.String(
        allow_none=True, metadata={"description": "Of the last one; null: there was nothing"}
    )


class ExtractionListQuery(PageQuery):
    """Which extractions to list."""

    space = SpaceField(required=True, metadata=_SPACE)
    session = Id(load_default=None)


class ExtractionQuery(RequestSchema):
    """Which space an extraction lies in."""

    space = SpaceField(required=True, metadata=_SPACE)


class ThreadAnswer(Schema):
    """Turns of a session that follow each other without a long pause."""

    uid = fields.String()
    title = fields.String()
    session = fields.String()
    turns = fields.Integer()
    first_at = fields.DateTime()
    last_at = fields.DateTime()


ThreadList = page_of(ThreadAnswer, "Threads", "Threads, the latest first.")


class ActivityAnswer(Schema):
    """That an extraction named an entity, and what was said of it, as it stands now."""

    at = fields.DateTime()
    note = fields.String(allow_none=True)
    memory = fields.String(allow_none=True)
    extraction = fields.String()
    session = fields.String()


class ActivityList(Schema):
    """The newest activity of an entity, 20 at most."""

    items = fields.List(fields.Nested(ActivityAnswer))
    total = fields.Integer()
    next_cursor = fields.String(allow_none=True)


class ActivityQuery(RequestSchema):
    """Which space an entity is looked at from."""

    space = SpaceField(required=True, metadata=_SPACE)


def saying_of(values: dict[str, Any]) -> Saying:
    """What the values of a turn say."""
    return Saying(
        uid="",
        role=values["role"],
        content=values["content"],
        actor=values.get("actor"),
        at=values.get("occurred_at"),
        message_id=nfc(values["message_id"]) if "message_id" in values else None,
    )


def heard_of(number: int, values: dict[str, Any], now: Any) -> Heard:  # noqa: ANN401 - a time
    """A turn of a preview as an engine reads it, by its number."""
    return Heard(
        uid=str(number),
        role=values["role"],
        content=values["content"],
        at=values.get("occurred_at") or now,
        actor=values.get("actor"),
    )


def heeded_view(heeded: Heeded) -> dict[str, Any]:
    """What became of one turn, as answers show it."""
    (arrived,) = heeded.arrived.turns
    extraction = heeded.extractions[-1] if heeded.extractions else None
    return {
        "space": arrived.turn.space.name,
        "turn": turn_view(arrived.turn),
        "signal": {
            "level": arrived.signal.level.value,
            "phrases": list(arrived.signal.phrases),
            "disagreement": arrived.signal.disagreement,
        },
        "buffer": decision_view(arrived),
        "extraction": extraction_view(extraction) if extraction else None,
        "suggests_feedback": _suggested(heeded),
        "trace_id": heeded.trace_id,
    }


def _suggested(heeded: Heeded) -> dict[str, str] | None:
    if not heeded.suggests_feedback:
        return None
    turn = heeded.arrived.turns[0].turn
    return {"space": turn.space.name, "session": turn.conversation_id}


def heeded_batch_view(heeded: Heeded) -> dict[str, Any]:
    """What became of several turns, as answers show it."""
    turns = heeded.arrived.turns
    return {
        "space": turns[0].turn.space.name,
        "turns": [{"uid": each.turn.uid, "decision": each.decision.choice.value} for each in turns],
        "buffer": decision_view(turns[-1]),
        "extractions": list(map(extraction_view, heeded.extractions)),
        "suggests_feedback": _suggested(heeded),
        "trace_id": heeded.trace_id,
    }


def decision_view(arrived: ArrivedTurn) -> dict[str, Any]:
    """What a turn made of its buffer."""
    return {
        "decision": arrived.decision.choice.value,
        "reason": arrived.decision.reason.value,
        "turns": arrived.waiting,
    }


def extraction_view(extraction: Extraction) -> dict[str, Any]:
    """An extraction as answers show it."""
    return {
        "uid": extraction.uid,
        "session": extraction.session,
        "engine": extraction.engine.value,
        "reason": extraction.reason,
        "at": iso(extraction.at),
        "turns": list(extraction.turns),
        **_kept_view(extraction.kept),
    }


def _kept_view(kept: Kept) -> dict[str, Any]:
    return {
        "facts": list(map(_fact_view, kept.facts)),
        "entities": [{"key": each.key, "matched_by": each.matched_by} for each in kept.entities],
        "relationships": [dict(each) for each in kept.relationships],
        "profile_updates": list(kept.profile_updates),
        "questions": [
            {"question": each.question, "context": each.context, "priority": each.priority}
            for each in kept.questions
        ],
        "reflection": kept.reflection,
        "refused": [{"reason": each.reason, "turn": each.turn} for each in kept.refused],
        "degraded": list(kept.degraded),
    }


def _fact_view(fact: KeptFact) -> dict[str, Any]:
    return {
        "uid": fact.uid,
        "outcome": fact.outcome.value,
        "category": fact.category.value,
        "content": fact.content,
        "confidence": fact.confidence,
        "tier": fact.tier.value,
        "importance": fact.importance,
        "turns": list(fact.turns),
    }


def with_turns_view(extraction: Extraction, turns: tuple[Turn, ...]) -> dict[str, Any]:
    """An extraction with the words of its turns."""
    return extraction_view(extraction) | {"said": list(map(turn_view, turns))}


def preview_view(plan: Plan, turns: int) -> dict[str, Any]:
    """What would be extracted; turns go by their numbers, and nothing has a uid."""
    sifted = plan.sifted
    matches = {shown_key(each.ref.key): each.matched_by.value for each in plan.matches.values()}
    kept = Kept(
        facts=tuple(map(_would_be, plan.facts)),
        entities=tuple(KeptEntity(key=key, matched_by=how) for key, how in matches.items()),
        relationships=tuple(
            {
                "source": shown_key(each.start.key),
                "target": shown_key(each.end.key),
                "label": each.request.label,
            }
            for each in plan.relations
        ),
        profile_updates=sifted.profile_updates,
        questions=sifted.questions,
        reflection=sifted.reflection,
        refused=sifted.refused,
        degraded=sifted.degraded,
    )
    return {
        "uid": None,
        "session": None,
        "engine": plan.engine.value,
        "reason": "preview",
        "at": None,
        "turns": [str(number) for number in range(turns)],
        **_kept_view(kept),
    }


def _would_be(planned: PlannedFact) -> KeptFact:
    """A fact as it would be kept."""
    fact = planned.fact
    return KeptFact(
        outcome=FactOutcome.CREATED if planned.item else FactOutcome.REFUSED,
        category=fact.category,
        content=fact.content if planned.item or fact.refusal else None,
        confidence=fact.confidence,
        importance=fact.importance.score,
        turns=fact.turns,
    )


def buffer_view(buffer: Buffer) -> dict[str, Any]:
    """A buffer as answers show it."""
    return {
        "session": buffer.session,
        "turns": buffer.turns,
        "characters": buffer.characters,
        "first_at": iso(buffer.first_at),
        "last_at": iso(buffer.last_at),
        "last_extraction_at": iso(buffer.last_extraction_at),
        "extractions": buffer.extractions,
    }


def thread_view(thread: Thread) -> dict[str, Any]:
    """A thread as answers show it."""
    return {
        "uid": thread.uid,
        "title": thread.title,
        "session": thread.session,
        "turns": thread.turns,
        "first_at": iso(thread.first_at),
        "last_at": iso(thread.last_at),
    }


def activity_view(activity: Activity) -> dict[str, Any]:
    """An activity as answers show it."""
    return {
        "at": iso(activity.at),
        "note": activity.note,
        "memory": activity.memory,
        "extraction": activity.extraction,
        "session": activity.session,
    }
