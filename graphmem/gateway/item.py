"""Items: requests that may be decided, and what deciding them needs to lock and read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.gateway.axis import values_around
from graphmem.gateway.claims import logical_claim, source_claim, timed_claim
from graphmem.gateway.edges import EdgeRequest, edge_selection
from graphmem.model.conversation import Saying, conversation_key
from graphmem.model.edge import EdgeType
from graphmem.model.memory import Status, memory_key
from graphmem.model.policy import SpeculativePolicy
from graphmem.model.source import Source
from graphmem.model.space import Space
from graphmem.model.state import Message, SaidAt, Selection, ValueAt
from graphmem.model.writing import Dedupe, WriteRequest

EDGE_FIELDS = {
    "updates": EdgeType.UPDATES,
    "contradicts": EdgeType.CONTRADICTS,
    "related_to": EdgeType.RELATED_TO,
    "caused_by": EdgeType.CAUSED_BY,
    "part_of": EdgeType.PART_OF,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One request that passed validation and screening, with the uid of a new memory.

    A correction changes a memory that is there, in any status, and exactly what it names.
    """

    index: int
    call: int = 0  # which of the calls that share a transaction it belongs to
    request: WriteRequest
    space: Space
    new_uid: str
    spare_uid: str = ""  # of a new memory, where the proposed one is taken
    content_claim: str  # of the request's own content; hashing a long text once is enough
    has_vectors: bool = True
    is_correction: bool = False
    doubt: SpeculativePolicy = field(default_factory=SpeculativePolicy)  # of its space
    expected_version: int | None = None
    said: Saying | None = None  # what is kept of it as a turn

    def key_of(self, uid: str) -> str:
        """The key of a memory of this item's space."""
        return memory_key(self.space, uid)

    def claim_of(self, source: Source) -> str | None:
        """The claim of the key of one of its sources, if that has one."""
        return source_claim(self.space, source.key, self.request.kept_by) if source.key else None

    @property
    def conversation(self) -> str:
        """The key of the conversation that it is said in, if it names one."""
        conversation_id = self.request.source.conversation_id
        return conversation_key(self.space, conversation_id) if conversation_id else ""

    @property
    def timed_claim(self) -> str:
        """The content claim together with the time that the request names."""
        return timed_claim(self.content_claim, self.request)

    @property
    def behind(self) -> str | None:
        """The key of the turn that this one follows, if the request names it."""
        return self.key_of(self.request.after) if self.request.after else None

    @property
    def references(self) -> tuple[tuple[str, str], ...]:
        """The uids that the request names, each with its field path."""
        named = [
            (f"{name}.{i}", uid)
            for name in EDGE_FIELDS
            for i, uid in enumerate(getattr(self.request, name))
        ]
        return (*named, *([("after", self.request.after)] if self.request.after else []))


def selection_for(items: Iterable[Item], edges: Sequence[EdgeRequest] = ()) -> Selection:
    """All that deciding these items and edges needs to lock and read."""
    claims: set[str] = set()
    memories: set[str] = set()
    conversations: set[str] = set()
    messages: set[Message] = set()
    said_at: set[SaidAt] = set()
    anchors: set[str] = set()
    updated: set[str] = set()
    entities: set[str] = set()
    items = list(items)
    for item in items:
        claims |= _claims_of(item)
        memories |= {item.key_of(uid) for _, uid in item.references}
        updated |= {item.key_of(uid) for uid in item.request.updates}
        if named := item.request.uid or item.request.proposed_uid:
            memories.add(item.key_of(named))
        if item.request.uid and item.request.upserts:
            updated.add(item.key_of(item.request.uid))
        if item.conversation:
            conversations.add(item.conversation)
        if item.said:
            said_at.update(_said_at(item))
        if item.said and item.said.message_id:
            messages.add((item.conversation, item.said.message_id))
        if item.request.after:
            anchors.add(item.key_of(item.request.after))
        owner = item.space.without_persona.key
        entities |= {f"{owner}|{key}" for ref in item.request.entities for key in ref.keys}
    drawn = edge_selection(edges)
    return Selection(
        values=frozenset().union(*map(_values_around, items)),
        said=frozenset(item.content_claim for item in items if _may_repeat(item)),
        claims=frozenset(claims),
        memories=frozenset(memories) | drawn.memories,
        conversations=frozenset(conversations),
        messages=frozenset(messages),
        said_at=frozenset(said_at),
        anchors=frozenset(anchors),
        updated=frozenset(updated),
        entities=frozenset(entities),
        edges=drawn.edges,
        edge_uids=drawn.edge_uids,
    )


def _values_around(item: Item) -> frozenset[ValueAt]:
    """The values of a logical key around the begin of an item, but for its own memory."""
    own = item.key_of(item.request.uid) if item.request.uid else ""
    return values_around(item.space, item.request, begin_of(item.request), other_than=own)


def _said_at(item: Item) -> Iterable[SaidAt]:
    """The turns of the memories that an item may revise, by uid or source key."""
    source, uid = item.request.source, item.request.uid
    place = SaidAt(conversation=item.conversation, said_by=source.name)
    if uid:
        yield replace(place, memory=item.key_of(uid))
    if claim := item.claim_of(source):
        yield replace(place, claim=claim)


def _may_repeat(item: Item) -> bool:
    return not item.is_correction and claims_content(item.request)


def _claims_of(item: Item) -> set[str]:
    request = item.request
    sources = (request.source, *request.sources)
    claims = {claim for source in sources if (claim := item.claim_of(source))}
    if request.logical_key:
        claims.add(logical_claim(item.space, request.logical_key, request.kept_by))
    claims.add(item.content_claim)
    if item.is_correction or claims_content(request):
        claims.add(item.timed_claim)
    return claims


def claims_content(request: WriteRequest) -> bool:
    """Whether equal content reinforces what the request writes."""
    if request.claims_content is not None:
        return request.claims_content
    return request.dedupe is Dedupe.CONTENT and not request.uid


def begin_of(request: WriteRequest) -> datetime | None:
    """When the value of a request begins: at its valid_from, when it happened; else it is now."""
    return request.valid_from or request.occurred_at or request.created_at


def keeps_status(item: Item) -> bool:
    """Whether a request brings a status of its own, by which a memory need not be current."""
    return "status" in item.request.given and item.request.status is not Status.ACTIVE
