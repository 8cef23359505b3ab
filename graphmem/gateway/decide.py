"""decide: what each write becomes. Pure: the same state, items, policy and time give the same decision."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.errors import Conflict, GraphmemError, InvalidInput
from graphmem.gateway.claims import content_claim, logical_claim, source_claim
from graphmem.gateway.conversation import Chain, conversation_key, with_built_context
from graphmem.model.edge import Edge, EdgeType
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.writing import Dedupe, OnSameKey, Outcome, WriteRequest, WriteResult
from graphmem.text.normalise import comparable, shorten

_EDGE_FIELDS = {
    "updates": EdgeType.UPDATES,
    "contradicts": EdgeType.CONTRADICTS,
    "related_to": EdgeType.RELATED_TO,
    "caused_by": EdgeType.CAUSED_BY,
    "part_of": EdgeType.PART_OF,
}
_KEPT_FIELDS = (
    "type actor context importance confidence logical_key authority occurred_at valid_from valid_until"
    " expires_at pinned tags metadata source"
).split()


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One request that passed validation and screening, normalised, with the uid a new memory would get."""

    index: int
    request: WriteRequest
    space: Space
    new_uid: str
    content_claim: str  # of the request's own content; hashing a long text once is enough
    has_vectors: bool = True

    def key_of(self, uid: str) -> str:
        """The key of a memory of this item's space."""
        return memory_key(self.space, uid)

    @property
    def references(self) -> tuple[tuple[str, str], ...]:
        """The uids that the request names, each with its field path."""
        named = [(f"{name}.{i}", uid) for name in _EDGE_FIELDS for i, uid in enumerate(getattr(self.request, name))]
        return (*named, *([("after", self.request.after)] if self.request.after else []))


@dataclass(kw_only=True)
class _Draft:
    """The working copy that one call of decide builds its decision in."""

    memories: dict[str, Memory]
    claims: dict[str, str]
    chain: Chain
    before: GraphState
    now: datetime
    created: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    revisions: list[Memory] = field(default_factory=list)
    edges: dict[tuple[str, EdgeType, str], tuple[Memory, Edge]] = field(default_factory=dict)
    new_claims: dict[str, str] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)
    vectors_of: dict[str, int] = field(default_factory=dict)
    stale_contexts: set[str] = field(default_factory=set)

    def put(self, memory: Memory) -> None:
        if memory.key not in self.created:
            self.changed.add(memory.key)
        self.memories[memory.key] = memory

    def claimed(self, claim: str) -> Memory | None:
        """The current memory behind a content or logical claim; one that is not active claims nothing."""
        memory = self.memories.get(self.claims.get(claim, ""))
        if memory and not _is_current(memory, self.now):
            self.released.add(memory.key)
            return None
        return memory

    def claim(self, claim: str, memory: Memory) -> None:
        self.claims[claim] = self.new_claims[claim] = memory.key


def selection_for(items: Iterable[Item]) -> Selection:
    """All that deciding these items needs to lock and read."""
    claims: set[str] = set()
    memories: set[str] = set()
    conversations: set[str] = set()
    anchors: set[str] = set()
    for item in items:
        claims |= _claims_of(item)
        memories |= {item.key_of(uid) for _, uid in item.references}
        if item.request.uid:
            memories.add(item.key_of(item.request.uid))
        if item.request.source.conversation_id:
            conversations.add(f"{item.space.key}|{item.request.source.conversation_id}")
        if item.request.after:
            anchors.add(item.key_of(item.request.after))
    return Selection(
        claims=frozenset(claims),
        memories=frozenset(memories),
        conversations=frozenset(conversations),
        anchors=frozenset(anchors),
    )


def decide(state: GraphState, items: Sequence[Item], *, policy: Policy, now: datetime) -> Decision:
    """Decide every item in order, each on the state that the ones before it leave."""
    draft = _Draft(
        memories=dict(state.memories),
        claims=dict(state.claims),
        chain=Chain(
            before=dict(state.previous_turns),
            after={earlier: later for later, earlier in state.previous_turns.items()},
            last=dict(state.last_turns),
        ),
        before=state,
        now=now,
    )
    results = [_decide_item(draft, item, policy) for item in items]
    for key in sorted(draft.stale_contexts):
        _rebuild_context(draft, key, policy)
    return _decision(draft, results)


def _decide_item(draft: _Draft, item: Item, policy: Policy) -> WriteResult:
    try:
        _check_references(draft, item)
        return _accepted(draft, item, policy)
    except GraphmemError as error:  # raised before anything of the draft was changed
        return WriteResult(index=item.index, outcome=Outcome.REFUSED, error=error)


def _accepted(draft: _Draft, item: Item, policy: Policy) -> WriteResult:
    request = item.request
    source = source_claim(item.space, request.source.key) if request.source.key else None
    if source and source in draft.claims:
        return WriteResult(index=item.index, outcome=Outcome.UNCHANGED, memory=draft.memories.get(draft.claims[source]))
    outcome, memory = _apply(draft, item, policy)
    if source:
        draft.claim(source, memory)
    if _connect(draft, item, memory) and outcome is Outcome.CREATED:
        outcome = Outcome.SUPERSEDED
    return WriteResult(index=item.index, outcome=outcome, memory=memory)


def _apply(draft: _Draft, item: Item, policy: Policy) -> tuple[Outcome, Memory]:
    request = item.request
    if request.uid and (existing := draft.memories.get(item.key_of(request.uid))):
        return _revise(draft, item, existing, policy)
    if request.logical_key and (existing := draft.claimed(logical_claim(item.space, request.logical_key))):
        return _same_key(draft, item, existing, policy)
    if not request.uid and request.dedupe is Dedupe.CONTENT:
        existing = draft.claimed(item.content_claim)
        # the same words under another logical key are another claim: "yes" to mail is not "yes" to calls
        if existing and request.logical_key in {None, existing.logical_key or request.logical_key}:
            return _reinforce(draft, item, existing, policy)
    return Outcome.CREATED, _create(draft, item, policy)


def _same_key(draft: _Draft, item: Item, existing: Memory, policy: Policy) -> tuple[Outcome, Memory]:
    """The same claim by its logical key: said again, kept, replaced in place, or ended by a new memory."""
    if item.request.on_same_key is OnSameKey.KEEP:
        return Outcome.UNCHANGED, existing
    if comparable(existing.content) == comparable(item.request.content):
        return _reinforce(draft, item, existing, policy)
    if item.request.on_same_key is OnSameKey.REVISE:
        return _revise(draft, item, existing, policy)
    memory = _create(draft, item, policy, instead_of=existing)
    _supersede(draft, memory, existing)
    return Outcome.SUPERSEDED, memory


def _create(draft: _Draft, item: Item, policy: Policy, *, instead_of: Memory | None = None) -> Memory:
    request = item.request
    memory = Memory(
        uid=request.uid or item.new_uid,
        space=item.space,
        content=request.content,
        summary=request.summary or shorten(request.content, policy.write.summary_max_chars),
        entities=_united((), request.entities, policy),
        context_built=request.context is None and request.source.conversation_id is not None,
        created_at=draft.now,
        updated_at=draft.now,
        embedded=item.has_vectors,
        **{name: getattr(request, name) for name in _KEPT_FIELDS},
    )
    draft.created.add(memory.key)
    draft.memories[memory.key] = memory
    draft.vectors_of[memory.key] = item.index
    for claim in _own_claims(item, memory):
        if draft.claimed(claim) in (None, instead_of):
            draft.claim(claim, memory)
    if conversation := conversation_key(memory):
        behind = item.key_of(request.after) if request.after else None
        draft.stale_contexts |= draft.chain.insert(memory.key, conversation, behind)
    return memory


def _reinforce(draft: _Draft, item: Item, existing: Memory, policy: Policy) -> tuple[Outcome, Memory]:
    request = item.request
    memory = replace(
        existing,
        mention_count=existing.mention_count + 1,
        importance=max(existing.importance, request.importance if "importance" in request.given else 0),
        entities=_united(existing.entities, request.entities, policy),
        logical_key=existing.logical_key or request.logical_key,
        updated_at=draft.now,
        version=existing.version + 1,
    )
    draft.put(memory)
    if memory.logical_key and not existing.logical_key:
        draft.claim(logical_claim(memory.space, memory.logical_key), memory)
    return Outcome.REINFORCED, memory


def _revise(draft: _Draft, item: Item, existing: Memory, policy: Policy) -> tuple[Outcome, Memory]:
    """Replace what the request speaks of; a change that changes nothing writes nothing."""
    request = item.request
    given = {name: getattr(request, name) for name in _KEPT_FIELDS if name in request.given}
    if {ref.key for ref in request.entities} - {ref.key for ref in existing.entities}:
        given["entities"] = _united((), request.entities, policy)
    if request.content != existing.content:
        given |= {"content": request.content, "summary": shorten(request.content, policy.write.summary_max_chars)}
    if request.summary:
        given["summary"] = request.summary
    if "context" in given:
        given["context_built"] = False
    memory = replace(existing, **given)
    if memory == existing and _is_current(existing, draft.now):
        return Outcome.UNCHANGED, existing
    memory = _current_again(memory, draft.now)
    re_embed = (memory.content, memory.actor) != (existing.content, existing.actor)
    memory = replace(
        memory,
        updated_at=draft.now,
        version=existing.version + 1,
        embedded=item.has_vectors if re_embed else existing.embedded,
    )
    if existing.key not in draft.created:
        draft.revisions.append(existing)
    draft.put(memory)
    if re_embed or memory.logical_key != existing.logical_key or not _is_current(existing, draft.now):
        _move_claims(draft, item, existing, memory)
    if re_embed:
        draft.vectors_of[memory.key] = item.index
        _mark_neighbours(draft, memory)
    return Outcome.REVISED, memory


def _is_current(memory: Memory, now: datetime) -> bool:
    """Whether a memory is active and its time has not passed; the expire job may be a few minutes behind."""
    return memory.status is Status.ACTIVE and (memory.expires_at is None or memory.expires_at > now)


def _current_again(memory: Memory, now: datetime) -> Memory:
    """A memory that is written again by its uid counts again, though it had expired or was put away.

    Raises:
        Conflict: it was superseded or retracted, which a new text does not undo.
    """
    if memory.status in {Status.SUPERSEDED, Status.RETRACTED}:
        message = f"The memory {memory.uid} is {memory.status}: write the new text as a memory of its own."
        raise Conflict(message)
    has_expired = memory.expires_at is not None and memory.expires_at <= now
    if memory.status is Status.ACTIVE and not has_expired:
        return memory
    expires_at = None if has_expired else memory.expires_at
    return replace(memory, status=Status.ACTIVE, status_reason=None, status_at=now, expires_at=expires_at)


def _move_claims(draft: _Draft, item: Item, existing: Memory, memory: Memory) -> None:
    draft.released.add(existing.key)
    if memory.status is Status.ACTIVE:
        for claim in _own_claims(item, memory):
            if draft.claimed(claim) in (None, existing, memory):
                draft.claim(claim, memory)


def _mark_neighbours(draft: _Draft, memory: Memory) -> None:
    if conversation_key(memory):
        draft.stale_contexts |= {key for step in (-1, 0, 1, 2) if (key := draft.chain.at(memory.key, step))}


def _connect(draft: _Draft, item: Item, memory: Memory) -> bool:
    """Draw the requested edges; says whether a memory was superseded by it."""
    superseded = False
    for name, edge_type in _EDGE_FIELDS.items():
        for uid in getattr(item.request, name):
            other = draft.memories[item.key_of(uid)]
            if other.key == memory.key:
                continue
            if edge_type is EdgeType.UPDATES:
                _supersede(draft, memory, other)
                superseded = True
            else:
                _draw(draft, memory, edge_type, other)
    return superseded


def _supersede(draft: _Draft, memory: Memory, other: Memory) -> None:
    _draw(draft, memory, EdgeType.UPDATES, other)
    if other.status is Status.SUPERSEDED:
        return
    draft.put(
        replace(
            other,
            status=Status.SUPERSEDED,
            status_reason="update",
            status_at=draft.now,
            updated_at=draft.now,
            version=other.version + 1,
        )
    )
    draft.released.add(other.key)


def _draw(draft: _Draft, memory: Memory, edge_type: EdgeType, other: Memory) -> None:
    edge = Edge(
        uid="e-" + hashlib.sha256(f"{memory.key}|{edge_type}|{other.key}".encode()).hexdigest()[:24],
        from_uid=memory.uid,
        to_uid=other.uid,
        type=edge_type,
        weight=1.0,
        created_at=draft.now,
    )
    draft.edges[memory.key, edge_type, other.key] = (memory, edge)


def _check_references(draft: _Draft, item: Item) -> None:
    missing = {
        path: ["There is no memory of that uid in this space."]
        for path, uid in item.references
        if item.key_of(uid) not in draft.memories
    }
    after = draft.memories.get(item.key_of(item.request.after)) if item.request.after else None
    if after and after.source.conversation_id != item.request.source.conversation_id:
        missing["after"] = ["Must be a turn of the same conversation."]
    if missing:
        raise InvalidInput(missing)


def _claims_of(item: Item) -> set[str]:
    request = item.request
    claims = set()
    if request.source.key:
        claims.add(source_claim(item.space, request.source.key))
    if request.logical_key:
        claims.add(logical_claim(item.space, request.logical_key))
    if request.dedupe is Dedupe.CONTENT and not request.uid:
        claims.add(item.content_claim)
    return claims


def _own_claims(item: Item, memory: Memory) -> Iterable[str]:
    """The claims of a memory that has just got this item's content."""
    if memory.logical_key:
        yield logical_claim(memory.space, memory.logical_key)
    if item.request.dedupe is Dedupe.CONTENT and not item.request.uid:
        same_actor = memory.actor == item.request.actor
        yield item.content_claim if same_actor else content_claim(memory.space, memory.actor, memory.content)


def _united(known: Sequence[EntityRef], said: Sequence[EntityRef], policy: Policy) -> tuple[EntityRef, ...]:
    refs = {ref.key: ref for ref in known}
    for ref in said:
        refs.setdefault(ref.key, replace(ref, label=ref.label or label_from_key(ref.key)))
    return tuple(sorted(refs.values())[: policy.write.entities_max])


def _rebuild_context(draft: _Draft, key: str, policy: Policy) -> None:
    memory = draft.memories.get(key)
    if memory and memory.context_built:
        rebuilt = with_built_context(memory, draft.chain, draft.memories, word_limit=policy.index.context_words)
        if rebuilt is not memory:
            draft.put(rebuilt)


def _decision(draft: _Draft, results: Sequence[WriteResult]) -> Decision:
    links = set(draft.chain.before.items())
    known = set(draft.before.previous_turns.items())
    return Decision(
        results=tuple(
            replace(result, memory=draft.memories[result.memory.key]) if result.memory else result for result in results
        ),
        created=tuple(draft.memories[key] for key in sorted(draft.created)),
        changed=tuple(draft.memories[key] for key in sorted(draft.changed)),
        revisions=tuple(draft.revisions),
        edges=tuple(draft.edges.values()),
        claims=draft.new_claims,
        released=frozenset(draft.released),
        links=tuple(sorted((earlier, later) for later, earlier in links - known)),
        unlinked=tuple(sorted((earlier, later) for later, earlier in known - links)),
        last_turns={
            conversation: turn
            for conversation, turn in draft.chain.last.items()
            if draft.before.last_turns.get(conversation) != turn
        },
        mentioning=frozenset(key for key in draft.created | draft.changed if _mentions_changed(draft, key)),
        vectors_of=draft.vectors_of,
    )


def _mentions_changed(draft: _Draft, key: str) -> bool:
    before = draft.before.memories.get(key)
    return draft.memories[key].entities != (before.entities if before else ())
