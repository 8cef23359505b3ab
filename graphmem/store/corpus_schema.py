"""The nodes of career corpora as neomodel describes them (000)."""

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphmem.store.schema import UtcTimeProperty


class CorpusRepositoryNode(StructuredNode):
    """Where an owner's corpus lies; ``work`` is the newest operation on it as JSON."""

    __label__ = "CorpusRepository"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    tenant = StringProperty(required=True)
    owner = StringProperty(required=True)
    name = StringProperty()
    created_at = UtcTimeProperty()
    turn = StringProperty()
    topics = ArrayProperty(StringProperty())
    state = StringProperty()
    works = IntegerProperty()
    work = StringProperty()
    last_failed = IntegerProperty()
    has_failed_write = BooleanProperty()
    last_written = UtcTimeProperty()
    unproved_at = UtcTimeProperty()
    approvals = IntegerProperty()
    transitions = IntegerProperty()

    head = RelationshipTo("CorpusCommitNode", "HEAD")
    verified = RelationshipTo("CorpusCommitNode", "VERIFIED")
    drafts = RelationshipTo("CorpusDraftNode", "HAS_DRAFT")
    approved = RelationshipTo("CorpusApprovalNode", "HAS_APPROVAL")
    changes = RelationshipTo("CorpusTransitionNode", "HAS_TRANSITION")
    audiences = RelationshipTo("CorpusAudienceNode", "SHOWN_TO")


class CorpusCommitNode(StructuredNode):
    """A revision of a repository; ``tree`` says the hash of each document by its path, as JSON.

    Of an earlier revision ``delta`` says, packed, in which paths it differs from the one after it.
    """

    __label__ = "CorpusCommit"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    sha = StringProperty(required=True)
    revision = IntegerProperty(required=True)
    message = StringProperty(required=True)
    key_id = StringProperty(required=True)
    cause = StringProperty()
    tree = StringProperty()
    delta = StringProperty()  # bytes
    at = UtcTimeProperty(required=True)
    failed = BooleanProperty()
    error = StringProperty()
    retry_count = IntegerProperty()

    parent = RelationshipTo("CorpusCommitNode", "PARENT")
    documents = RelationshipTo("CorpusDocumentNode", "HOLDS")


class CorpusDocumentNode(StructuredNode):
    """A document of a repository, stored once per content.

    An earlier one may be packed: its key says the hash.
    """

    __label__ = "CorpusDocument"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    sha256 = StringProperty()
    text = StringProperty()
    packed = StringProperty()  # bytes

    commits = RelationshipFrom("CorpusCommitNode", "HOLDS")


class CorpusDraftNode(StructuredNode):
    """A corpus that is worked on in a session, and the files that it came from, as JSON."""

    __label__ = "CorpusDraft"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    session = StringProperty(required=True)
    revision = IntegerProperty(required=True)
    corpus = StringProperty(required=True)
    files = StringProperty()
    updated_at = UtcTimeProperty()


class CorpusApprovalNode(StructuredNode):
    """What somebody said of one content of a section."""

    __label__ = "CorpusApproval"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    number = IntegerProperty(required=True)
    section = StringProperty(required=True)
    content_sha256 = StringProperty(required=True)
    basis = StringProperty(required=True)
    approved = BooleanProperty(required=True)
    key_id = StringProperty()
    at = UtcTimeProperty(required=True)


class CorpusTransitionNode(StructuredNode):
    """A change of state of a corpus, and what caused it."""

    __label__ = "CorpusTransition"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    number = IntegerProperty(required=True)
    before = StringProperty(required=True)
    after = StringProperty(required=True)
    cause = StringProperty(required=True)
    extension = BooleanProperty(required=True)
    at = UtcTimeProperty(required=True)


class CorpusAudienceNode(StructuredNode):
    """Who was shown a status, and what that said."""

    __label__ = "CorpusAudience"

    key = StringProperty(required=True)
    space = StringProperty(required=True)
    audience = StringProperty(required=True)
    state = StringProperty(required=True)
    work = IntegerProperty(required=True)
