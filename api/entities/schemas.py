"""Entities in requests and answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.edges.schemas import check_uid
from api.fields import EntityField, Line, RequestSchema, Text, UtcDateTime
from api.paging import PageQuery, page_of
from api.recall.schemas import CardFactAnswer
from api.relations.schemas import RelationAnswer, relation_view
from api.space_fields import SpaceField, SpacesField
from graphmem.bounded_fields import Several, Table
from graphmem.gateway.declaring import ALIASES_MAX, Declared, EntityRequest
from graphmem.gateway.operation import Executed
from graphmem.model.entity import TYPE_FORM, Entity, EntityType, is_entity_type
from graphmem.model.entity_change import ChangeKind, EntityChange
from graphmem.model.relation import Relation
from graphmem.model.space import space_from_key
from graphmem.model.upkeep_rows import EntitySummary
from graphmem.recall.cards import Card
from graphmem.store.entities import KnownOf
from graphmem.text.times import iso

_KEY = {"example": "person:john_doe"}
RELATIONS_SHOWN = 30
_TYPE = {
    "example": "person",
    "description": f"Any word; {', '.join(EntityType)} are the known ones",
}


def check_type(text: str) -> None:
    """Refuse what is no word for a type of entities."""
    if not is_entity_type(text):
        raise ValidationError(TYPE_FORM)


class EntityListQuery(PageQuery):
    """Which entities a list shows."""

    space = SpacesField()
    type = Several(fields.String(validate=check_type, metadata=_TYPE), most=16, load_default=list)
    prefix = Text(load_default="", validate=validate.Length(max=512))
    query = Line(
        load_default=None,
        validate=validate.Length(1, 200),
        metadata={"description": "Words of a name, also in near spellings; the best come first"},
    )

    @validates_schema
    def _either(self, values: dict[str, Any], **_: object) -> None:
        if values["query"] and values["prefix"]:
            message = "Not together with query."
            raise ValidationError(message, "prefix")


class CardQuery(RequestSchema):
    """Where to look, and how much of it to show."""

    space = SpacesField()
    limit = fields.Integer(load_default=3, validate=validate.Range(1, 30))
    as_of = UtcDateTime(load_default=None)
    known_at = UtcDateTime(load_default=None)


class EntityQuery(RequestSchema):
    """Where to look."""

    space = SpacesField()


class ChangeListQuery(PageQuery):
    """Whose merges and splits to show."""

    space = SpaceField(required=True)


class MergeBody(RequestSchema):
    """Which entity an entity is to be merged into."""

    space = SpaceField(required=True, metadata={"example": "user:ada"})
    into = fields.String(required=True, metadata=_KEY)
    reason = Text(load_default=None, validate=validate.Length(1, 500))


class SplitBody(RequestSchema):
    """Which memories are about another entity."""

    space = SpaceField(required=True, metadata={"example": "user:ada"})
    into = EntityField(required=True, metadata=_KEY)
    memories = Several(
        fields.String(validate=check_uid),
        most=500,
        required=True,
        validate=validate.Length(1),
        metadata={"description": "uids of memories of the space that mention it"},
    )
    relations = Several(
        fields.String(validate=check_uid),
        most=500,
        load_default=list,
        metadata={
            "description": "uids of relations that go along, beside those of these memories alone"
        },
    )
    reason = Text(load_default=None, validate=validate.Length(1, 500))


class _EntityValues(RequestSchema):
    """What may be said of an entity; null takes it away."""

    description = Text(allow_none=True, metadata={"example": "Ada's landlord"})
    aliases = Several(Text(), most=ALIASES_MAX, metadata={"example": ["Johnny"]})
    attributes = Table(
        keys=fields.String(),
        allow_none=True,
        metadata={"description": "A JSON object of at most 4 kB", "example": {"born": 1980}},
    )


class EntityBody(_EntityValues):
    """An entity to be declared."""

    space = SpaceField(required=True, metadata={"example": "user:ada"})
    type = Text(required=True, metadata=_TYPE)
    name = Text(required=True, metadata={"example": "John Doe"})


class EntityPatch(_EntityValues):
    """What is to be corrected of an entity."""

    space = SpaceField(required=True, metadata={"example": "user:ada"})
    name = Text(metadata={"description": "Another spelling of its name", "example": "John Doe"})


class EntityPlace(RequestSchema):
    """In which space the entity is."""

    space = SpaceField(required=True)


class EntityListed(Schema):
    """An entity. What is declared of it is said to readers of its owner's space."""

    key = fields.String(metadata=_KEY)
    type = fields.String()
    label = fields.String()
    aliases = fields.List(fields.String())
    space = fields.String()
    declared = fields.Boolean(metadata={"description": "Whether it is there without a mention"})
    description = fields.String(allow_none=True)
    attributes = fields.Dict()
    created_at = fields.DateTime(allow_none=True)
    updated_at = fields.DateTime(
        allow_none=True, metadata={"description": "When it was last declared or corrected"}
    )


class EntityOutcome(EntityListed):
    """An entity, and what became of it."""

    outcome = fields.String(metadata={"enum": ["created", "revised", "unchanged"]})
    trace_id = fields.String(
        allow_none=True, metadata={"description": "None where nothing changed"}
    )


EntityList = page_of(EntityListed, "EntityList", "One page of entities.")


class EntityCard(EntityListed):
    """What is known of an entity."""

    facts = fields.List(fields.Nested(CardFactAnswer))
    text = fields.String(metadata={"example": "[person:john]: fact1; fact2; fact3"})
    mentions = fields.Integer(
        metadata={"description": "How many current memories of these spaces mention it"}
    )
    relations = fields.List(fields.Nested(RelationAnswer), metadata={"description": "At most 30"})


class SummaryAnswer(Schema):
    """What is known of an entity within one space, in a few words."""

    space = fields.String()
    text = fields.String()
    facts = fields.Integer(metadata={"description": "How many facts there were when it was made"})
    by = fields.String(metadata={"description": "rules, or the model that put it into words"})
    made_at = fields.DateTime()


class EntityDetail(EntityListed):
    """An entity with its summaries; ``summary`` is that of the first space that has one."""

    mentions = fields.Integer(
        metadata={"description": "How many current memories of these spaces mention it"}
    )
    summary = fields.String(allow_none=True)
    summaries = fields.List(fields.Nested(SummaryAnswer))


class ChangeAnswer(Schema):
    """A merge or split, with the evidence that it rests on."""

    merge_id = fields.String()
    kind = fields.String(metadata={"enum": list(ChangeKind)})
    space = fields.String()
    from_ = fields.String(data_key="from")
    into = fields.String()
    moved = fields.Integer(
        metadata={"description": "How many memories mention the other entity since"}
    )
    evidence = fields.Dict()
    created_at = fields.DateTime()
    undone_at = fields.DateTime(allow_none=True)
    key_id = fields.String()


ChangeList = page_of(ChangeAnswer, "ChangeList", "Merges and splits, newest first.")


def entity_view(entity: Entity) -> dict[str, Any]:
    """An entity as every answer shows it."""
    return {
        "key": entity.key,
        "type": entity.type,
        "label": entity.label,
        "aliases": list(entity.aliases),
        "space": space_from_key(entity.space).name,
        "declared": entity.is_declared,
        "description": entity.description,
        "attributes": dict(entity.attributes),
        "created_at": iso(entity.created_at),
        "updated_at": iso(entity.updated_at),
    }


def outcome_view(done: Executed[tuple[Declared, ...]]) -> dict[str, Any]:
    """What became of an entity."""
    ((entity, outcome),) = done.answer
    trace_id = done.trace_id if done.events else None
    return entity_view(entity) | {"outcome": outcome.value, "trace_id": trace_id}


def entity_request(values: Mapping[str, Any]) -> EntityRequest:
    """What a body says of an entity."""
    said = {name: value for name, value in values.items() if name not in {"space", "type"}}
    return EntityRequest(**said, given=frozenset(said))


def known_view(known: KnownOf, relations: Sequence[Relation]) -> dict[str, Any]:
    """What is known of an entity, as a card."""
    card = Card(key=known.entity.key, label=known.entity.label, facts=known.facts)
    facts = [{"uid": fact.uid, "content": fact.content} for fact in known.facts]
    return entity_view(known.entity) | {
        "facts": facts,
        "text": card.text,
        "mentions": known.mentions,
        "relations": [relation_view(each) for each in relations],
    }


def entity_answer(known: KnownOf, summaries: Mapping[str, EntitySummary]) -> dict[str, Any]:
    """An entity with what is known of it, by space."""
    shown = [
        {
            "space": space_from_key(key).name,
            "text": summary.text,
            "facts": summary.facts,
            "by": summary.by,
            "made_at": iso(summary.made_at),
        }
        for key, summary in sorted(summaries.items())
    ]
    return entity_view(known.entity) | {
        "mentions": known.mentions,
        "summary": shown[0]["text"] if shown else None,
        "summaries": shown,
    }


def change_view(change: EntityChange) -> dict[str, Any]:
    """A merge or split as every answer shows it."""
    return {
        "merge_id": change.uid,
        "kind": change.kind.value,
        "space": space_from_key(change.space).name,
        "from": change.from_key,
        "into": change.into_key,
        "moved": change.moved,
        "evidence": dict(change.evidence),
        "created_at": iso(change.created_at),
        "undone_at": iso(change.undone_at),
        "key_id": change.key_id,
    }
