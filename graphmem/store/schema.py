"""The nodes as neomodel describes them. Cypher acts on them; no class leaves ``store/``."""

from datetime import UTC, datetime
from typing import Any, ClassVar

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphmem.model.memory import MemoryType


class UtcTimeProperty(DateTimeNeo4jFormatProperty):
    """A native Neo4j time in UTC.

    Our queries return times as ISO text where many come at once: the driver takes a tenth of a
    millisecond to build each temporal value, the standard library less than a microsecond to read
    the text.
    """

    def inflate(self, value: Any, rethrow: bool = False) -> datetime:  # noqa: ANN401, ARG002, FBT001, FBT002 - neomodel's
        """The moment of a stored value."""
        moment: datetime = (
            datetime.fromisoformat(value) if isinstance(value, str) else value.to_native()
        )
        return moment.astimezone(UTC)


class MemoryNode(StructuredNode):
    """One remembered statement (design, The graph)."""

    __label__ = "Memory"
    __optional_labels__: ClassVar[list[str]] = [*MemoryType, "EmbedPending"]

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    actor = StringProperty()
    type = StringProperty(required=True)
    content = StringProperty(required=True)
    summary = StringProperty(required=True)
    context = StringProperty()
    context_built = BooleanProperty()
    importance = IntegerProperty(required=True)
    confidence = FloatProperty(required=True)
    logical_key = StringProperty()
    status = StringProperty(required=True)
    status_reason = StringProperty()
    status_at = UtcTimeProperty()
    pinned = BooleanProperty()
    tags = ArrayProperty(StringProperty())
    metadata = StringProperty()
    source_type = StringProperty()
    source_path = StringProperty()
    source_key = StringProperty()
    conversation_id = StringProperty()
    workflow_run_id = StringProperty()
    step_id = StringProperty()
    captured_by = StringProperty()
    authority = StringProperty()
    occurred_at = UtcTimeProperty()
    valid_from = UtcTimeProperty()
    valid_until = UtcTimeProperty()
    expires_at = IntegerProperty(required=True)
    created_at = UtcTimeProperty(required=True)
    updated_at = UtcTimeProperty(required=True)
    mention_count = IntegerProperty()
    recall_count = IntegerProperty()
    last_recalled_at = UtcTimeProperty()
    feedback_up = IntegerProperty()
    feedback_down = IntegerProperty()
    negative_hits = IntegerProperty()
    embedded = BooleanProperty()
    claims_content = BooleanProperty()
    version = IntegerProperty()
    native = StringProperty()
    kept_by = StringProperty()
    turns = ArrayProperty(StringProperty())
    taken_words = ArrayProperty(StringProperty())
    search_text = StringProperty()
    search_context = StringProperty()
    search_actor = StringProperty()
    space_token = StringProperty()
    statement = StringProperty()
    asserts = StringProperty()
    memory_kind = StringProperty()
    native_category = StringProperty()
    unchecked = BooleanProperty()

    chunks = RelationshipFrom("ChunkNode", "OF")
    entities = RelationshipTo("EntityNode", "MENTIONS")
    revisions = RelationshipTo("RevisionNode", "HAS_REVISION")
    next_turn = RelationshipTo("MemoryNode", "NEXT")
    more_sources = RelationshipTo("SourceNode", "FROM")
    said_in = RelationshipTo("TurnNode", "FROM_TURN")
    extracted_by = RelationshipTo("ExtractionNode", "EXTRACTED_BY")


class SourceNode(StructuredNode):
    """A further source of a memory; the first one lies flat on it."""

    __label__ = "Source"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    source_type = StringProperty(required=True)
    source_path = StringProperty()
    source_key = StringProperty()
    conversation_id = StringProperty()
    workflow_run_id = StringProperty()
    step_id = StringProperty()
    captured_by = StringProperty(required=True)
    at = UtcTimeProperty(required=True)

    memory = RelationshipFrom("MemoryNode", "FROM")


class ChunkNode(StructuredNode):
    """An index entry of a memory: one vector, with what the index filters on."""

    __label__ = "Chunk"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    status = StringProperty(required=True)
    expires_at = IntegerProperty(required=True)
    type = StringProperty(required=True)
    captured_by = StringProperty(required=True)
    conversation_id = StringProperty(required=True)
    valid_from = IntegerProperty(required=True)
    valid_until = IntegerProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    embedder = StringProperty(required=True)

    memory = RelationshipTo("MemoryNode", "OF")


class EntityNode(StructuredNode):
    """A person, place, organisation, project or thing; unique per space without its persona."""

    __label__ = "Entity"

    key = StringProperty(required=True)
    entity_key = StringProperty(required=True)
    space = StringProperty(required=True)
    type = StringProperty(required=True)
    label = StringProperty(required=True)
    aliases = ArrayProperty(StringProperty())
    declared = BooleanProperty()
    description = StringProperty()
    attributes = StringProperty()
    created_at = UtcTimeProperty()
    updated_at = UtcTimeProperty()
    search_names = StringProperty()
    space_token = StringProperty()

    stands_for = RelationshipFrom("EntityNode", "MERGED_INTO")


class EntitySummaryNode(StructuredNode):
    """What is known of an entity within one space, in a few words."""

    __label__ = "EntitySummary"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    entity_key = StringProperty(required=True)
    text = StringProperty(required=True)
    facts = IntegerProperty(required=True)
    by = StringProperty(required=True)
    sources = ArrayProperty(StringProperty())
    made_at = UtcTimeProperty(required=True)

    entity = RelationshipTo("EntityNode", "SUMMARISES")


class TopicNode(StructuredNode):
    """A word that stands out in a space, and the memories that are most about it."""

    __label__ = "Topic"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    topic = StringProperty(required=True)
    score = FloatProperty(required=True)
    memories = IntegerProperty(required=True)
    rank = IntegerProperty(required=True)
    made_at = UtcTimeProperty(required=True)

    about_it = RelationshipFrom("MemoryNode", "ABOUT")


class BulletinNode(StructuredNode):
    """What an orchestrator was told before it answered a message."""

    __label__ = "Bulletin"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    message_id = StringProperty(required=True)
    rendered = StringProperty()
    sections = StringProperty(required=True)
    citations = ArrayProperty(StringProperty())
    mode = StringProperty(required=True)
    fallback = StringProperty()
    generated_at = UtcTimeProperty(required=True)


class SpaceNode(StructuredNode):
    """A space with memories or a policy of its own, and when it was tended; no edge leads to it."""

    __label__ = "Space"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    policy = StringProperty()
    curated_at = UtcTimeProperty()
    fold_due = BooleanProperty()
    consolidated_at = UtcTimeProperty()
    check_due = BooleanProperty()
    checked_at = UtcTimeProperty()


class EntityChangeNode(StructuredNode):
    """A merge or split of entities, and what it rests on."""

    __label__ = "EntityChange"

    uid = StringProperty(required=True)
    kind = StringProperty(required=True)
    space = StringProperty(required=True)
    from_key = StringProperty(required=True)
    into_key = StringProperty(required=True)
    into_is_new = BooleanProperty()
    aliases_before = ArrayProperty(StringProperty())
    evidence = StringProperty()
    moved = IntegerProperty()
    key_id = StringProperty()
    created_at = UtcTimeProperty(required=True)
    undone_at = UtcTimeProperty()


class ClaimKeyNode(StructuredNode):
    """The identity of what a memory says."""

    __label__ = "ClaimKey"

    key = StringProperty(required=True)
    space = StringProperty(required=True)

    memory = RelationshipTo("MemoryNode", "CLAIMS")


class RevisionNode(StructuredNode):
    """An earlier version of a memory, kept whole as JSON."""

    __label__ = "Revision"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    version = IntegerProperty(required=True)
    content = StringProperty(required=True)
    status = StringProperty(required=True)
    valid_from = UtcTimeProperty()
    valid_until = UtcTimeProperty()
    memory = StringProperty(required=True)
    created_at = UtcTimeProperty(required=True)
    replaced_at = UtcTimeProperty(required=True)
    vectors_forgotten = BooleanProperty()

    chunks = RelationshipFrom("FormerChunkNode", "OF")


class FormerChunkNode(StructuredNode):
    """A vector of an earlier version: in no index, only for recalls of a past time."""

    __label__ = "FormerChunk"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    embedder = StringProperty(required=True)
    replaced_at = UtcTimeProperty()

    revision = RelationshipTo("RevisionNode", "OF")


class ConversationNode(StructuredNode):
    """A conversation; ``numbered`` counts the turns that it ever had, ``turns`` those it has."""

    __label__ = "Conversation"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    conversation_id = StringProperty()
    title = StringProperty()
    user = StringProperty()
    kept_by = StringProperty()
    turns = IntegerProperty()
    numbered = IntegerProperty()
    created_at = UtcTimeProperty()
    updated_at = UtcTimeProperty()

    last_turn = RelationshipTo("MemoryNode", "LAST")


class TurnNode(StructuredNode):
    """What somebody said in a conversation, byte for byte; an unjudged one waits for its judge."""

    __label__ = "Turn"
    __optional_labels__: ClassVar[list[str]] = ["UnjudgedTurn"]

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    conversation = StringProperty(required=True)  # its key
    number = IntegerProperty(required=True)
    role = StringProperty(required=True)
    actor = StringProperty()
    content = StringProperty()
    chars = IntegerProperty(required=True)
    digest = StringProperty(required=True)
    metadata = StringProperty()
    message_id = StringProperty()
    native = StringProperty()
    forgotten = BooleanProperty()
    status = StringProperty(required=True)
    version = IntegerProperty(required=True)
    at = UtcTimeProperty(required=True)
    recorded_at = UtcTimeProperty(required=True)
    changed_at = UtcTimeProperty(required=True)
    judged_by = UtcTimeProperty()
    judge_claim = StringProperty()

    said_in = RelationshipTo("ConversationNode", "IN")
    revisions = RelationshipTo("TurnRevisionNode", "HAS_REVISION")
    waits_in = RelationshipTo("BufferNode", "WAITS_IN")
    thread = RelationshipTo("ThreadNode", "IN_THREAD")
    session = RelationshipTo("graphmem.store.companion_schema.SessionNode", "IN_SESSION")


class BufferNode(StructuredNode):
    """The turns of a session that wait for their extraction (003)."""

    __label__ = "Buffer"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    session = StringProperty(required=True)
    turns = IntegerProperty()
    user_turns = IntegerProperty()
    characters = IntegerProperty()
    digest = StringProperty()
    first_at = UtcTimeProperty()
    last_at = UtcTimeProperty()
    last_extraction_at = UtcTimeProperty()
    last_digest = StringProperty()
    extractions = IntegerProperty()


class ExtractionNode(StructuredNode):
    """Turns that are read together, and what was kept of them (003)."""

    __label__ = "Extraction"
    __optional_labels__: ClassVar[list[str]] = ["WaitingExtraction", "EmptyExtraction"]

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    session = StringProperty(required=True)
    reason = StringProperty(required=True)
    engine = StringProperty()
    is_guarded = BooleanProperty()
    is_empty = BooleanProperty()
    turn_count = IntegerProperty()
    characters = IntegerProperty()
    first_at = UtcTimeProperty()
    decided_at = UtcTimeProperty(required=True)
    at = UtcTimeProperty()
    claim = StringProperty()
    claimed_until = UtcTimeProperty()
    tries = IntegerProperty()
    has_words = BooleanProperty()
    has_texts = BooleanProperty()
    entities = StringProperty()
    relationships = StringProperty()
    refused_facts = StringProperty()
    profile_updates = StringProperty()
    questions = StringProperty()
    reflection = StringProperty()
    refused = StringProperty()
    degraded = ArrayProperty(StringProperty())

    turns = RelationshipTo("TurnNode", "READS")
    buffer = RelationshipTo("BufferNode", "EMPTIES")
    entities_named = RelationshipTo("EntityNode", "NAMED")


class ThreadNode(StructuredNode):
    """Turns of a session that follow each other without a long pause (003)."""

    __label__ = "Thread"

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    session = StringProperty(required=True)
    title = StringProperty(required=True)
    turn_count = IntegerProperty(required=True)
    words = StringProperty(required=True)
    first_at = UtcTimeProperty(required=True)
    last_at = UtcTimeProperty(required=True)


class NotebookNode(StructuredNode):
    """What is locked where the boxes, the profile or the identity of a space change."""

    __label__ = "Notebook"

    space = StringProperty(required=True)


class BoxNode(StructuredNode):
    """Memories that were told one after the other (003)."""

    __label__ = "Box"
    __optional_labels__: ClassVar[list[str]] = ["OpenBox"]

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    session = StringProperty(required=True)
    topics = ArrayProperty(StringProperty())
    created_at = UtcTimeProperty(required=True)
    last_at = UtcTimeProperty(required=True)
    kept_at = UtcTimeProperty(required=True)
    sealed_at = UtcTimeProperty()
    seal_reason = StringProperty()

    memories = RelationshipTo("MemoryNode", "HOLDS")
    trace = RelationshipTo("TopicTraceNode", "OF_TRACE")


class TopicTraceNode(StructuredNode):
    """A thread of topics through boxes (003)."""

    __label__ = "TopicTrace"

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    topics = ArrayProperty(StringProperty())
    first_at = UtcTimeProperty(required=True)
    last_at = UtcTimeProperty(required=True)


class ArtefactNode(StructuredNode):
    """The words of a turn that a memory rests on (003)."""

    __label__ = "Artefact"

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    type = StringProperty(required=True)
    text = StringProperty(required=True)
    noted_at = UtcTimeProperty(required=True)

    memory = RelationshipTo("MemoryNode", "RESTS_ON")
    turn = RelationshipTo("TurnNode", "QUOTES")


class ProfileLineNode(StructuredNode):
    """A line of the profile of a space; without words it says what its memory says (003)."""

    __label__ = "ProfileLine"

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    text = StringProperty()
    importance = IntegerProperty(required=True)
    extraction = StringProperty()
    noted_at = UtcTimeProperty(required=True)
    dropped_at = UtcTimeProperty()

    memories = RelationshipTo("MemoryNode", "RESTS_ON")


class ReflectionNode(StructuredNode):
    """What was learned of one's own part in a space (003)."""

    __label__ = "Reflection"

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    text = StringProperty(required=True)
    extraction = StringProperty()
    noted_at = UtcTimeProperty(required=True)
    dropped_at = UtcTimeProperty()


class QuestionNode(StructuredNode):
    """What is worth asking about memories (003)."""

    __label__ = "Question"
    __optional_labels__: ClassVar[list[str]] = ["OpenQuestion"]

    uid = StringProperty(required=True)
    key = StringProperty(required=True)
    space = StringProperty(required=True)
    text = StringProperty(required=True)
    context = StringProperty()
    priority = FloatProperty(required=True)
    extraction = StringProperty()
    noted_at = UtcTimeProperty(required=True)
    resolved_at = UtcTimeProperty()
    resolved_by = StringProperty()
    answer = StringProperty()

    memories = RelationshipTo("MemoryNode", "RESTS_ON")


class FeedbackNode(StructuredNode):
    """Whether a memory was useful when a recall gave it (003)."""

    __label__ = "Feedback"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    recall = StringProperty(required=True)
    memory = StringProperty(required=True)  # its uid
    useful = BooleanProperty(required=True)
    note = StringProperty()
    noted_at = UtcTimeProperty()
    at = UtcTimeProperty(required=True)
    is_vote = BooleanProperty(required=True)
    is_example = BooleanProperty(required=True)

    given_on = RelationshipTo("MemoryNode", "FEEDBACK_ON")


class LastRecallNode(StructuredNode):
    """What the last recall of a session gave (003)."""

    __label__ = "LastRecall"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    session = StringProperty(required=True)
    recall = StringProperty(required=True)
    memories = ArrayProperty(StringProperty())
    query_hash = StringProperty(required=True)
    at = UtcTimeProperty(required=True)


class TurnRevisionNode(StructuredNode):
    """Words that a turn once had."""

    __label__ = "TurnRevision"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    version = IntegerProperty(required=True)
    content = StringProperty(required=True)
    recorded_from = UtcTimeProperty(required=True)
    replaced_at = UtcTimeProperty(required=True)

    turn = RelationshipFrom("TurnNode", "HAS_REVISION")


class TraceNode(StructuredNode):
    """What one write or job did and why."""

    __label__ = "Trace"

    uid = StringProperty(required=True)
    kind = StringProperty(required=True)
    tenant = StringProperty(required=True)
    spaces = ArrayProperty(StringProperty())
    key_id = StringProperty()
    created_at = UtcTimeProperty(required=True)
    events = StringProperty()
    packed = StringProperty()  # of a governed call: its events, compressed
    query = StringProperty()
    request = StringProperty()
    forget_at = UtcTimeProperty()

    tells_of = RelationshipTo("MemoryNode", "TELLS_OF")


class ApiKeyNode(StructuredNode):
    """An API key; only its hash is stored."""

    __label__ = "ApiKey"

    uid = StringProperty(required=True)
    hash = StringProperty(required=True)
    name = StringProperty(required=True)
    tenant = StringProperty(required=True)
    role = StringProperty(required=True)
    spaces = ArrayProperty(StringProperty())
    created_at = UtcTimeProperty(required=True)
    revoked_at = UtcTimeProperty()


class IdempotencyKeyNode(StructuredNode):
    """A caller's retry key and what was answered to it."""

    __label__ = "IdempotencyKey"

    key = StringProperty(required=True)
    request_digest = StringProperty(required=True)
    answer = StringProperty()
    expires_at = UtcTimeProperty(required=True)


class LeaseNode(StructuredNode):
    """Who may do what only one process may do at a time, and until when."""

    __label__ = "Lease"

    name = StringProperty(required=True)
    holder = StringProperty()
    expires_at = UtcTimeProperty()


class JobRunNode(StructuredNode):
    """One run of a job."""

    __label__ = "JobRun"

    uid = StringProperty(required=True)
    job = StringProperty(required=True)
    status = StringProperty(required=True)
    dry_run = BooleanProperty()
    space = StringProperty()
    by_hand = BooleanProperty()
    holder = StringProperty()
    started_at = UtcTimeProperty(required=True)
    finished_at = UtcTimeProperty()
    counts = StringProperty()
    examples = StringProperty()
    degraded = ArrayProperty(StringProperty())
    error = StringProperty()


class JobNode(StructuredNode):
    """A job: what it does, when it runs, and how many of its runs went how."""

    __label__ = "Job"

    name = StringProperty(required=True)
    does = StringProperty()
    schedule = StringProperty()
    next_run_at = UtcTimeProperty()
    slot = IntegerProperty()
    succeeded = IntegerProperty()
    partial = IntegerProperty()
    failed = IntegerProperty()
    abandoned = IntegerProperty()
    missed = IntegerProperty()
    idle_run = StringProperty()
    last_started_at = UtcTimeProperty()
    last_succeeded_at = UtcTimeProperty()
    last_seconds = FloatProperty()


class SchemaNode(StructuredNode):
    """What the database was prepared for: the last migration and the embedder of its vectors."""

    __label__ = "Schema"

    name = StringProperty(required=True)
    version = IntegerProperty(required=True)
    embedder = StringProperty()
    dimensions = IntegerProperty()
    secret = StringProperty()
    slot = StringProperty()
    next_embedder = StringProperty()
    next_dimensions = IntegerProperty()
