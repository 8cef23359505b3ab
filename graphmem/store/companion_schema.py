"""The nodes of the companion as neomodel describes them (001)."""

from typing import ClassVar

from neomodel import (
    BooleanProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphmem.store.schema import UtcTimeProperty


class PersonaNode(StructuredNode):
    """Who speaks with the users of a tenant."""

    __label__ = "Persona"

    key = StringProperty(required=True)
    tenant = StringProperty(required=True)
    slug = StringProperty(required=True)
    name = StringProperty()
    prompt = StringProperty()
    enable_spine = BooleanProperty()
    is_active = BooleanProperty()
    created_at = UtcTimeProperty()
    updated_at = UtcTimeProperty()


class UserNode(StructuredNode):
    """A user whom personas know; ``spine_messages`` counts what he said since the last spine."""

    __label__ = "User"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    email = StringProperty()
    spine_messages = IntegerProperty()
    spine_version = IntegerProperty()
    overrides = StringProperty()
    created_at = UtcTimeProperty()
    updated_at = UtcTimeProperty()

    seed = RelationshipTo("UserSeedNode", "HAS_SEED")


class UserSeedNode(StructuredNode):
    """What an operator wrote of a user."""

    __label__ = "UserSeed"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    content = StringProperty(required=True)
    updated_at = UtcTimeProperty(required=True)

    user = RelationshipFrom("UserNode", "HAS_SEED")


class SessionStateNode(StructuredNode):
    """What lasts of a user with a persona; an unrolled one waits for its rolling summary."""

    __label__ = "SessionState"
    __optional_labels__: ClassVar[list[str]] = ["UnrolledState"]

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    message_count = IntegerProperty()
    last_interaction = UtcTimeProperty()
    last_user_message = StringProperty()
    last_user_at = UtcTimeProperty()
    curator_last_run_at = UtcTimeProperty()
    curator_last_memory_count = IntegerProperty()
    last_rolling_attempt_at = UtcTimeProperty()
    last_rolling_success_at = UtcTimeProperty()
    last_rolling_error = StringProperty()
    last_rolling_detail = StringProperty()
    rolling_summary = StringProperty()
    rolled_count = IntegerProperty()


class SessionNode(StructuredNode):
    """Messages that follow each other; an open one may go on, an unsummed one has no summary."""

    __label__ = "Session"
    __optional_labels__: ClassVar[list[str]] = ["OpenSession", "UnsummedSession"]

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    started_at = UtcTimeProperty(required=True)
    last_activity_at = UtcTimeProperty(required=True)
    ended_at = UtcTimeProperty()
    turn_count = IntegerProperty(required=True)

    messages = RelationshipFrom("TurnNode", "IN_SESSION")
    summary = RelationshipTo("SessionSummaryNode", "HAS_SUMMARY")


class SessionSummaryNode(StructuredNode):
    """What a session was about."""

    __label__ = "SessionSummary"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    summary = StringProperty()
    model = StringProperty(required=True)
    parse_error = BooleanProperty()
    truncated = BooleanProperty()
    created_at = UtcTimeProperty(required=True)


class RollingSummaryNode(StructuredNode):
    """What was lately spoken of, at one time; the newest one is that of the state."""

    __label__ = "RollingSummary"

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    text = StringProperty()
    model = StringProperty(required=True)
    created_at = UtcTimeProperty(required=True)

    messages = RelationshipTo("graphmem.store.schema.TurnNode", "RESTS_ON")


class SummarySpineNode(StructuredNode):
    """One version of the long summary of a user, or of his open loops with a persona."""

    __label__ = "SummarySpine"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    version = IntegerProperty(required=True)
    sections = StringProperty(required=True)
    message_count = IntegerProperty(required=True)
    created_at = UtcTimeProperty(required=True)

    memories = RelationshipTo("graphmem.store.schema.MemoryNode", "RESTS_ON")
