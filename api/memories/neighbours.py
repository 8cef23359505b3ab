"""What is around a memory, in answers."""

from marshmallow import Schema, fields

from api.edges.schemas import EdgeAnswer
from api.memories.schemas import EntityAnswer, MemoryAnswer
from api.relations.schemas import RelationAnswer


class NeighbourAnswer(Schema):
    """What is around a memory, nearest first."""

    memories = fields.List(fields.Nested(MemoryAnswer))
    edges = fields.List(fields.Nested(EdgeAnswer))
    entities = fields.List(fields.Nested(EntityAnswer))
    relations = fields.List(
        fields.Nested(RelationAnswer), metadata={"description": "Of these entities"}
    )
