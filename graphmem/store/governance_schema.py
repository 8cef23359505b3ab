"""The nodes of governed memory as neomodel describes them (004)."""

from typing import ClassVar

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphmem.store.schema import MemoryNode, UtcTimeProperty


class AiProfileNode(StructuredNode):
    """An AI profile of a tenant, whose calls a contract governs."""

    __label__ = "AiProfile"

    key = StringProperty(required=True)
    tenant = StringProperty(required=True)
    profile = StringProperty(required=True)

    versions = RelationshipTo("ContractNode", "HAS_VERSION")
    current = RelationshipTo("ContractNode", "CURRENT")


class ContractNode(StructuredNode):
    """One version of a contract; ``document`` is the whole of it as JSON."""

    __label__ = "Contract"

    key = StringProperty(required=True)
    tenant = StringProperty(required=True)
    profile = StringProperty(required=True)
    version = IntegerProperty(required=True)
    document = StringProperty(required=True)
    key_id = StringProperty()
    created_at = UtcTimeProperty()


class GovernedPlaceNode(StructuredNode):
    """What lasts of a space: its present phase, its counters, and the clock of a person."""

    __label__ = "GovernedPlace"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    person = StringProperty()
    token = StringProperty()
    phase_index = IntegerProperty()
    phase_started_at = IntegerProperty()
    phase_reason = StringProperty()
    phase_name = StringProperty()
    dropped = IntegerProperty()
    short_term = IntegerProperty()
    semantic = IntegerProperty()
    profile = IntegerProperty()
    created = IntegerProperty()
    top_tick = IntegerProperty()
    clock = IntegerProperty()

    phases = RelationshipTo("PhaseNode", "HAS_PHASE")


class PhaseNode(StructuredNode):
    """A phase of a space; that of a ``dropped`` one has no ledger any more."""

    __label__ = "Phase"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    index = IntegerProperty(required=True)
    started_at = IntegerProperty()
    reason = StringProperty()
    name = StringProperty()
    dropped = BooleanProperty()

    added_items = RelationshipFrom("GovernedItemNode", "ADDED_IN")
    deleted_items = RelationshipFrom("GovernedItemNode", "DELETED_IN")


class GovernedItemNode(MemoryNode):
    """A memory that a contract governs, with what calls find it by.

    Its place, class, words, dedup hash and due tick are there only while it is present.
    """

    __label__ = "GovernedItem"
    __optional_labels__: ClassVar[list[str]] = []

    governed_list = StringProperty()
    governed_number = IntegerProperty()
    governed_place = StringProperty()
    governed_class = StringProperty()
    governed_words = StringProperty()
    governed_dedup = StringProperty()
    governed_key = StringProperty()
    governed_due = IntegerProperty()
    governed_event = StringProperty()
    governed_tick = IntegerProperty()
    governed_mark = IntegerProperty()
    governed_phase = IntegerProperty()
    governed_until = IntegerProperty()
    governed_summary_of = ArrayProperty(IntegerProperty())
