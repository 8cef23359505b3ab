"""Personas, users and their memories in requests and answers, in the words of 001."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.fields import Flag, Line, Number, RequestSchema, Text, WithoutNulls
from api.paging import PageQuery, page_of
from graphmem.bounded_fields import Several, Table
from graphmem.companion.entity_refs import LABEL_MAX_CHARS, REF_MAX_CHARS, REFS_MAX, ref_of
from graphmem.companion.keeping import Kept
from graphmem.companion.overrides import Suggestion
from graphmem.companion.projection import fact_of
from graphmem.companion.summaries import spine_of, spine_text
from graphmem.model.companion import (
    CompanionUser,
    EntityKind,
    Fact,
    FactKind,
    FactSource,
    FactStatus,
    FactType,
    NewFact,
    Persona,
    Spine,
    Subtype,
)
from graphmem.model.entity import Likeness
from graphmem.model.policy import WritePolicy
from graphmem.model.policy.companion import SummaryPolicy
from graphmem.text.normalise import shows_something, with_layout
from graphmem.text.times import iso

_LIMITS = WritePolicy()
_REFS_MOST = 16
_PROMPT_MAX_CHARS, _SEED_MAX_CHARS, _EMAIL_MAX_CHARS = 32_000, 32_000, 320
_NAME = validate.Length(1, 100)


class Content(Text):
    """A text that shows something, of at most 32,000 characters."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:  # noqa: ANN401
        text = super()._deserialize(value, attr, data, **options)
        formed = with_layout(text)
        if not shows_something(formed) or len(formed) > _LIMITS.content_max_chars:
            most = _LIMITS.content_max_chars
            message = f"Must be 1 to {most:,} characters that show something."
            raise ValidationError(message)
        return text


class RefField(fields.String):
    """The key of a person, place, org or project: ``person:john_doe``, in its normal form."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:  # noqa: ANN401
        text = super()._deserialize(value, attr, data, **options)
        kind, _, name = text.partition(":")
        ref = ref_of(EntityKind(kind), name) if kind in set(EntityKind) else None
        if ref is None or len(ref) > REF_MAX_CHARS:
            message = f"Must be type:name with a type of {', '.join(EntityKind)}."
            raise ValidationError(message)
        return ref


class PersonaBody(WithoutNulls):
    """What a persona is; of one that is there, what is to change."""

    name = Line(validate=_NAME, metadata={"example": "Coach"})
    prompt = Text(validate=validate.Length(max=_PROMPT_MAX_CHARS))
    enable_spine = Flag(metadata={"description": "Whether long summaries are made"})
    is_active = Flag(metadata={"description": "Whether it takes messages"})


class PersonaAnswer(Schema):
    """Who speaks with users."""

    slug = fields.String()
    name = fields.String()
    prompt = fields.String()
    enable_spine = fields.Boolean()
    is_active = fields.Boolean()
    created_at = fields.DateTime()
    updated_at = fields.DateTime()


PersonaList = page_of(PersonaAnswer, "Personas", "Personas by slug.")


class UserBody(RequestSchema):
    """Who a user is."""

    email = Line(
        allow_none=True,
        validate=validate.And(validate.Email(), validate.Length(max=_EMAIL_MAX_CHARS)),
    )


class UserAnswer(Schema):
    """A user whom personas know."""

    user = fields.String()
    email = fields.String(allow_none=True)
    created_at = fields.DateTime()
    updated_at = fields.DateTime()


class SeedBody(RequestSchema):
    """What an operator says of a user."""

    content = Text(required=True, validate=validate.Length(max=_SEED_MAX_CHARS))


class SeedAnswer(Schema):
    """What an operator said of a user."""

    content = fields.String()
    updated_at = fields.DateTime(allow_none=True)


class OverridesBody(RequestSchema):
    """What variants of names mean, instead of what was said before."""

    overrides = Table(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"example": {"person:makesh": "person:mukesh"}},
    )


class OverridesAnswer(Schema):
    """What variants of names mean."""

    overrides = fields.Dict(keys=fields.String(), values=fields.String())
    merges = fields.List(
        fields.String(), metadata={"description": "ids of merges, each of which can be undone"}
    )


class SuggestionAnswer(Schema):
    """Two entities that may be one; ``into`` is mentioned more."""

    key = fields.String()
    into = fields.String()
    likeness = fields.Enum(Likeness, by_value=True)
    mentions = fields.List(fields.Integer(), metadata={"description": "Of the two"})


SuggestionList = page_of(
    SuggestionAnswer, "EntitySuggestions", "Entities that may be one, the nearest first."
)


class SpineQuery(RequestSchema):
    """Whose open loops a long summary shows."""

    persona = fields.String(load_default=None)


class SpineLineAnswer(Schema):
    """A line of the long summary, and the memory or todo that it rests on."""

    text = fields.String()
    uid = fields.String()


class SpineAnswer(Schema):
    """The long summary of a user."""

    version = fields.Integer()
    content = fields.String(metadata={"description": "Its sections as text"})
    sections = fields.Dict(keys=fields.String(), values=fields.List(fields.Nested(SpineLineAnswer)))
    message_count = fields.Integer(
        metadata={"description": "Messages of the user since the version before"}
    )
    created_at = fields.DateTime()


class SubtypeBody(WithoutNulls):
    """What a memory says of what."""

    entity_type = fields.Enum(EntityKind, by_value=True)
    fact_type = fields.Enum(FactType, by_value=True)


class SubtypeAnswer(Schema):
    """What a memory says of what."""

    entity_type = fields.Enum(EntityKind, by_value=True, allow_none=True)
    fact_type = fields.Enum(FactType, by_value=True, allow_none=True)


class FactBody(WithoutNulls):
    """A memory of a user."""

    type = fields.Enum(FactKind, by_value=True, required=True)
    content = Content(required=True, metadata={"example": "John is my cofounder."})
    subtype = fields.Nested(SubtypeBody)
    entity_refs = Several(
        RefField(),
        most=_REFS_MOST,
        metadata={
            "example": ["person:john_doe"],
            "description": f"The first is the main one; {REFS_MAX} are kept",
        },
    )
    entity_label = Line(validate=validate.Length(1, LABEL_MAX_CHARS))
    importance = fields.Integer(
        strict=True, validate=validate.Range(0, 3), metadata={"description": "3 is critical"}
    )
    pinned = Flag()
    source = fields.Enum(FactSource, by_value=True)
    confidence = Number(validate=validate.Range(0, 1))
    persona = fields.String(metadata={"description": "The only persona that is to see it"})


class CompanionMemory(Schema):
    """A memory of a user."""

    uid = fields.String()
    user = fields.String()
    persona = fields.String(allow_none=True, metadata={"description": "null: all personas see it"})
    type = fields.Enum(FactKind, by_value=True)
    content = fields.String()
    memory_key = fields.String()
    subtype = fields.Nested(SubtypeAnswer)
    entity_refs = fields.List(fields.String())
    entity_label = fields.String(allow_none=True)
    importance = fields.Integer()
    pinned = fields.Boolean()
    source = fields.Enum(FactSource, by_value=True)
    status = fields.Enum(FactStatus, by_value=True)
    confidence = fields.Float(allow_none=True)
    mention_count = fields.Integer()
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    archived_at = fields.DateTime(allow_none=True)
    archive_reason = fields.String(allow_none=True)
    folded_from_ids = fields.List(fields.String())


class KeptCompanionMemory(Schema):
    """What became of a memory."""

    memory = fields.Nested(CompanionMemory)
    outcome = fields.String()
    trace_id = fields.String()


class FactListQuery(PageQuery):
    """Which memories of a user to list."""

    persona = fields.String(load_default=None)
    type = fields.Enum(FactKind, by_value=True, load_default=None)
    status = fields.Enum(FactStatus, by_value=True, load_default=None)


FactList = page_of(CompanionMemory, "CompanionMemoryList", "Memories of a user, the newest first.")


def fact_from(values: Mapping[str, Any]) -> NewFact:
    """The memory that a request states."""
    is_pinned = values.get("pinned", False)
    return NewFact(
        kind=values["type"],
        content=with_layout(values["content"]),
        subtype=Subtype(**values.get("subtype", {})),
        entity_refs=tuple(dict.fromkeys(values.get("entity_refs", ())))[:REFS_MAX],
        entity_label=values.get("entity_label"),
        importance=3 if is_pinned else values.get("importance", 1),
        pinned=is_pinned,
        confidence=values.get("confidence"),
        source=values.get("source", FactSource.SEEDED_PROFILE),
    )


def persona_view(persona: Persona) -> dict[str, Any]:
    """A persona in an answer."""
    names = ("slug", "name", "prompt", "enable_spine", "is_active")
    return {name: getattr(persona, name) for name in names} | {
        "created_at": iso(persona.created_at),
        "updated_at": iso(persona.updated_at),
    }


def user_view(user: CompanionUser) -> dict[str, Any]:
    """A user in an answer."""
    return {
        "user": user.space.owner,
        "email": user.email,
        "created_at": iso(user.created_at),
        "updated_at": iso(user.updated_at),
    }


def seed_view(user: CompanionUser | None) -> dict[str, Any]:
    """The seed of a user in an answer; empty where nobody wrote one."""
    return {
        "content": (user.seed if user else None) or "",
        "updated_at": iso(user.seeded_at) if user else None,
    }


def suggestion_view(suggestion: Suggestion) -> dict[str, Any]:
    """Two entities that may be one, in an answer."""
    one, into = suggestion.one, suggestion.into
    return {
        "key": one.key,
        "into": into.key,
        "likeness": suggestion.likeness.value,
        "mentions": [one.mentions, into.mentions],
    }


def spine_view(spine: Spine, persona: str | None, policy: SummaryPolicy) -> dict[str, Any]:
    """The long summary of a user as a persona sees it, in an answer."""
    seen = spine_of(spine.sections, persona, policy)
    return {
        "version": spine.version,
        "content": spine_text(spine.sections, persona=persona, policy=policy),
        "sections": {
            name: [{"text": line.text, "uid": line.uid} for line in lines]
            for name, lines in seen.items()
        },
        "message_count": spine.message_count,
        "created_at": iso(spine.created_at),
    }


def fact_view(fact: Fact) -> dict[str, Any]:
    """A memory of a user in an answer."""
    plain = (
        *("uid", "user", "persona", "content", "memory_key", "entity_label", "importance"),
        *("pinned", "confidence", "mention_count", "archive_reason"),
    )
    times = ("created_at", "updated_at", "archived_at")
    return {
        **{name: getattr(fact, name) for name in plain},
        **{name: iso(getattr(fact, name)) for name in times},
        "type": fact.kind.value,
        "subtype": {
            "entity_type": fact.subtype.entity_type,
            "fact_type": fact.subtype.fact_type,
        },
        "entity_refs": list(fact.entity_refs),
        "source": fact.source.value,
        "status": fact.status.value,
        "folded_from_ids": list(fact.folded_from),
    }


def kept_fact_view(kept: Kept, trace_id: str) -> dict[str, Any]:
    """What became of a memory."""
    assert kept.memory is not None  # noqa: S101 - an error was raised before
    return {
        "memory": fact_view(fact_of(kept.memory)),
        "outcome": kept.outcome.value,
        "trace_id": trace_id,
    }
