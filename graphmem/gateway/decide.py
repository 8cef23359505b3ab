"""decide: what each write becomes.

Pure: the same state, items, policy and time give the same decision.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from graphmem.errors import Conflict, GraphmemError, InvalidInput, NotFound
from graphmem.gateway.axis import Place, collide, place_of, values_around
from graphmem.gateway.claims import content_claims, logical_claim, source_claim, timed_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.edges import EdgeRequest, draw_requested, edge_selection
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.repeats import is_repeat, with_repeat
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.event import Reason
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.policy import Policy, SpeculativePolicy
from graphmem.model.space import Space
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.tokens import epoch_ms
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
    "type actor context importance confidence logical_key authority"
    " occurred_at valid_from valid_until"
    " expires_at pinned tags metadata source native kept_by"
).split()


class _Applied(NamedTuple):
    """What became of an item, before its edges."""

    outcome: Outcome
    memory: Memory
    not_taken: tuple[str, ...] = ()


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
    content_claim: str  # of the request's own content; hashing a long text once is enough
    has_vectors: bool = True
    is_correction: bool = False
    doubt: SpeculativePolicy = field(default_factory=SpeculativePolicy)  # of its space
    expected_version: int | None = None

    def key_of(self, uid: str) -> str:
        """The key of a memory of this item's space."""
        return memory_key(self.space, uid)

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
            for name in _EDGE_FIELDS
            for i, uid in enumerate(getattr(self.request, name))
        ]
        return (*named, *([("after", self.request.after)] if self.request.after else []))


def selection_for(items: Iterable[Item], edges: Sequence[EdgeRequest] = ()) -> Selection:
    """All that deciding these items and edges needs to lock and read."""
    claims: set[str] = set()
    memories: set[str] = set()
    conversations: set[str] = set()
    anchors: set[str] = set()
    updated: set[str] = set()
    entities: set[str] = set()
    items = list(items)
    for item in items:
        claims |= _claims_of(item)
        memories |= {item.key_of(uid) for _, uid in item.references}
        updated |= {item.key_of(uid) for uid in item.request.updates}
        if item.request.uid:
            memories.add(item.key_of(item.request.uid))
        if item.request.source.conversation_id:
            conversations.add(f"{item.space.key}|{item.request.source.conversation_id}")
        if item.request.after:
            anchors.add(item.key_of(item.request.after))
        entities |= {f"{item.space.without_persona.key}|{ref.key}" for ref in item.request.entities}
    drawn = edge_selection(edges)
    return Selection(
        values=frozenset().union(
            *(values_around(item.space, item.request, _begin_of(item.request)) for item in items)
        ),
        claims=frozenset(claims),
        memories=frozenset(memories) | drawn.memories,
        conversations=frozenset(conversations),
        anchors=frozenset(anchors),
        updated=frozenset(updated),
        entities=frozenset(entities),
        edges=drawn.edges,
        edge_uids=drawn.edge_uids,
    )


def decide(
    state: GraphState,
    items: Sequence[Item],
    edges: Sequence[EdgeRequest] = (),
    *,
    policy: Policy,
    now: datetime,
) -> Decision:
    """Decide every item in order, each on the state before it, then the edges among them.

    Edges of items whose sources are all known were drawn when those came first (002, Storage
    Contract).

    Raises:
        InvalidInput, Conflict: an edge cannot be drawn; items never raise, they are refused.
    """
    draft = Draft(before=state, now=now, context_words=policy.index.context_words)
    is_known = bool(items) and all(_has_known_source(draft, item) for item in items)
    results = [_decide_item(draft, item, policy) for item in items]
    if not is_known and not any(result.error for result in results):
        for index, edge in enumerate(edges):
            draw_requested(draft, edge, path=f"edges.{index}.")
    return draft.decision(results)


def _decide_item(draft: Draft, item: Item, policy: Policy) -> WriteResult:
    try:
        _check_references(draft, item)
        return _accepted(draft, item, policy)
    except GraphmemError as error:  # raised before anything of the draft was changed
        return WriteResult(index=item.index, outcome=Outcome.REFUSED, error=error)


def _has_known_source(draft: Draft, item: Item) -> bool:
    key = item.request.source.key
    return (
        bool(key)
        and not item.is_correction
        and source_claim(item.space, key or "", item.request.kept_by) in draft.claims
    )


def _accepted(draft: Draft, item: Item, policy: Policy) -> WriteResult:
    request = item.request
    source = (
        source_claim(item.space, request.source.key, request.kept_by)
        if request.source.key
        else None
    )
    if source and _has_known_source(draft, item):
        return WriteResult(
            index=item.index,
            outcome=Outcome.UNCHANGED,
            memory=draft.memories.get(draft.claims[source]),
        )
    outcome, memory, not_taken = _apply(draft, item, policy)
    is_its_own = memory.key in draft.created or memory.uid == request.uid
    if is_its_own and "status" in request.given and memory.status is not request.status:
        memory = draft.set_status(memory, request.status, Reason.IMPORT)
    if source and not item.is_correction and "content" not in not_taken:
        draft.claim(source, memory)
    connected = _connect(draft, item, memory)
    if connected and outcome is Outcome.CREATED:
        outcome = connected
    return WriteResult(index=item.index, outcome=outcome, memory=memory, not_taken=not_taken)


def _apply(draft: Draft, item: Item, policy: Policy) -> _Applied:
    request = item.request
    existing = draft.memories.get(item.key_of(request.uid)) if request.uid else None
    if item.is_correction:
        existing = _expected(item, existing)
    if existing:
        check_keeper(existing, request.kept_by)
        return _revise(draft, item, existing, policy)
    if request.logical_key and (values := draft.values_of(_logical_claim(item))):
        return _by_key(draft, item, place_of(_begin_of(item.request) or draft.now, values), policy)
    if existing := _of_content(draft, item):
        return _reinforce(draft, item, existing, policy)
    return _Applied(Outcome.CREATED, _create(draft, item, policy))


def _logical_claim(item: Item) -> str:
    return logical_claim(item.space, item.request.logical_key or "", item.request.kept_by)


def _begin_of(request: WriteRequest) -> datetime | None:
    """When the value of a request begins: at its valid_from, when it happened; else it is now."""
    return request.valid_from or request.occurred_at or request.created_at


def _of_content(draft: Draft, item: Item) -> Memory | None:
    """The memory that says the same as a request.

    The same words under another logical key are another claim: "yes" to mail is not "yes" to calls.
    """
    request = item.request
    if request.uid or request.dedupe is not Dedupe.CONTENT:
        return None
    for claim in (item.timed_claim, item.content_claim):
        existing = draft.claimed(claim)
        if existing is None or not is_repeat(request, existing):
            continue
        if request.logical_key in {None, existing.logical_key or request.logical_key}:
            return existing
    return None


def _expected(item: Item, existing: Memory | None) -> Memory:
    """The memory that a correction is about, in the version that its caller saw."""
    if existing is None:
        raise NotFound
    check_version(existing, item.expected_version)
    return existing


def check_version(memory: Memory, expected: int | None) -> None:
    """Refuse a change that was decided on another version (If-Match).

    Raises:
        Conflict: the memory has changed since.
    """
    if expected is not None and memory.version != expected:
        message = f"The memory is at version {memory.version}, not {expected}: get it again."
        raise Conflict(message)


def _by_key(draft: Draft, item: Item, place: Place, policy: Policy) -> _Applied:
    """A value of a logical key that has others: said again, kept, corrected, or one of its own.

    Raises:
        Conflict: it has another uid than the memory that it would correct in place.
    """
    request = item.request
    in_force = _current(place.in_force, draft.now)
    if _keeps_status(item):
        return _Applied(Outcome.CREATED, _create(draft, item, policy))
    # one that its caller gives a uid of its own never becomes another memory
    for value in () if request.uid else (in_force, place.after):
        says_the_same = value and comparable(value.content) == comparable(request.content)
        if value and says_the_same and is_repeat(request, value):
            return _said_again(draft, item, value, policy)
    if in_force and request.on_same_key is OnSameKey.KEEP:
        return _Applied(Outcome.UNCHANGED, in_force, ("content",))
    if in_force and _is_correction(request, in_force):
        if request.uid:
            message = f"The memory {in_force.uid} has that logical key: give its uid, or a begin."
            raise Conflict(message)
        return _revise(draft, item, in_force, policy)
    return _placed(draft, item, place, policy)


def _said_again(draft: Draft, item: Item, value: Memory, policy: Policy) -> _Applied:
    """A value said again; where that widens its interval, it holds against the one before it."""
    applied = _reinforce(draft, item, value, policy)
    memory = applied.memory
    others = [each for each in draft.values_of(_logical_claim(item)) if each.key != memory.key]
    place = place_of(memory.began, others)
    if place.in_force:
        draft.end(place.in_force, memory.began)
    if place.after and not memory.is_over(place.after.began):
        memory = replace(memory, valid_until=place.after.began)
        draft.memories[memory.key] = memory
    return applied._replace(memory=memory)


def _current(value: Memory | None, now: datetime) -> Memory | None:
    """A value, unless its time has run out."""
    return None if value is None or value.has_expired(now) else value


def _is_correction(request: WriteRequest, value: Memory) -> bool:
    """Whether a request corrects a value in place: it names no begin, or the same."""
    begin = request.valid_from or request.occurred_at
    return (
        request.on_same_key is OnSameKey.REVISE
        and value.status is Status.ACTIVE
        and begin in {None, value.began}
    )


def _placed(draft: Draft, item: Item, place: Place, policy: Policy) -> _Applied:
    """A value of its own at its place: it ends the one before, and ends where the next begins."""
    before, after = place.before, place.after
    is_past = after is not None and after.began <= draft.now
    takes_over = not is_past and place.begin <= draft.now
    memory = _create(draft, item, policy, instead_of=place.in_force if takes_over else None)
    memory = replace(memory, valid_from=memory.valid_from or place.begin)
    if after and (memory.valid_until is None or memory.valid_until > after.began):
        memory = replace(memory, valid_until=after.began)
    draft.memories[memory.key] = memory
    if before:
        draft.draw(memory, EdgeType.UPDATES, before)
        if before.status is Status.ACTIVE or not before.is_over(place.begin):
            draft.end(before, place.begin)
    if after:
        draft.draw(after, EdgeType.UPDATES, memory)
    if after and is_past:
        return _Applied(Outcome.SUPERSEDED_BY_NEWER, draft.put_before(memory, after.began))
    return _Applied(Outcome.SUPERSEDED if place.in_force else Outcome.CREATED, memory)


def _create(
    draft: Draft, item: Item, policy: Policy, *, instead_of: Memory | None = None
) -> Memory:
    request = item.request
    kept = {name: getattr(request, name) for name in _KEPT_FIELDS}
    memory = Memory(
        uid=request.uid or item.new_uid,
        space=item.space,
        content=request.content,
        summary=request.summary or shorten(request.content, policy.write.summary_max_chars),
        entities=tuple(sorted(_united(draft, item, ()))),
        context_built=request.context is None and request.source.conversation_id is not None,
        created_at=request.created_at or draft.now,
        updated_at=request.updated_at or request.created_at or draft.now,
        status=request.status,
        status_reason=None if request.status is Status.ACTIVE else Reason.IMPORT,
        status_at=None if request.status is Status.ACTIVE else draft.now,
        embedded=item.has_vectors,
        claims_content=_claims_content(request),
        **kept | {"expires_at": request.expires_at or _doubtful_until(item, draft.now)},
    )
    draft.create(memory, behind=item.behind, instead_of=instead_of)
    draft.vectors_of[memory.key] = item.index
    return memory


def _doubtful_until(item: Item, now: datetime) -> datetime | None:
    """When a memory that is hardly believed goes quiet by itself (003, Confidence tiers)."""
    request, doubt = item.request, item.doubt
    is_sure = request.confidence >= doubt.confidence or request.pinned
    if is_sure or request.kept_by or not doubt.enabled:
        return None
    return now + timedelta(days=doubt.days)


def was_doubtful(memory: Memory, doubt: SpeculativePolicy) -> bool:
    """Whether a memory expires only because it was hardly believed; said again, it is confirmed."""
    ends = memory.created_at + timedelta(days=doubt.days)
    is_doubted = memory.confidence < doubt.confidence
    return is_doubted and epoch_ms(memory.expires_at) == epoch_ms(ends)


def _reinforce(draft: Draft, item: Item, existing: Memory, policy: Policy) -> _Applied:
    repeat = with_repeat(
        existing,
        item.request,
        entities=_united(draft, item, existing.entities),
        is_confirmed=was_doubtful(existing, item.doubt),
        policy=policy.write,
        now=draft.now,
    )
    draft.put(repeat.memory)
    draft.take_claims(repeat.memory, also_from=existing)
    return _Applied(Outcome.REINFORCED, repeat.memory, repeat.not_taken)


def _revise(draft: Draft, item: Item, existing: Memory, policy: Policy) -> _Applied:
    """Replace what the request speaks of; a change that changes nothing writes nothing."""
    memory = _confirmed(
        replace(existing, **_changes(draft, item, existing, policy)), existing, item
    )
    _check_interval(memory)
    if item.is_correction:
        _check_no_twin(draft, memory, existing)
    if _begins_anew(memory, existing, item, draft.now):
        memory = replace(memory, valid_from=draft.now, valid_until=None)
    is_stale = not (existing.is_current(draft.now) or item.is_correction or _keeps_status(item))
    if memory == existing and not is_stale:
        return _Applied(Outcome.UNCHANGED, existing)
    if is_stale:
        memory = _current_again(memory, draft)
    re_embed = (memory.content, memory.actor) != (existing.content, existing.actor)
    memory = replace(
        memory,
        updated_at=draft.now,
        version=existing.version + 1,
        embedded=item.has_vectors if re_embed else existing.embedded,
    )
    draft.put(memory)
    is_of_other_kind = (memory.type, memory.logical_key) != (existing.type, existing.logical_key)
    if re_embed or is_stale or is_of_other_kind:
        _claim_anew(draft, memory, existing)
    if re_embed:
        draft.vectors_of[memory.key] = item.index
        draft.mark_neighbours(memory)
    if memory.source.conversation_id and not existing.source.conversation_id:
        draft.join_conversation(memory, item.behind)
    return _Applied(Outcome.REVISED, memory)


def _begins_anew(memory: Memory, existing: Memory, item: Item, now: datetime) -> bool:
    """Whether other content comes under a uid whose interval has ended, without one of its own."""
    names_interval = bool({"valid_from", "valid_until"} & item.request.given)
    is_other = memory.content != existing.content
    return is_other and existing.is_over(now) and not (item.is_correction or names_interval)


def _confirmed(memory: Memory, existing: Memory, item: Item) -> Memory:
    """A revised memory, without the expiry that only doubt gave, if it is believed now."""
    is_believed = memory.confidence >= item.doubt.confidence
    if not (is_believed and was_doubtful(existing, item.doubt)):
        return memory
    request = item.request
    return replace(memory, expires_at=request.expires_at if "expires_at" in request.given else None)


def _claim_anew(draft: Draft, memory: Memory, existing: Memory) -> None:
    draft.release(existing)
    if memory.status is Status.ACTIVE:
        draft.take_claims(memory, also_from=existing)


def _changes(draft: Draft, item: Item, existing: Memory, policy: Policy) -> dict[str, Any]:
    """The fields that a revision replaces.

    Raises:
        InvalidInput: it would move a turn to another conversation.
    """
    request = item.request
    changes: dict[str, Any] = {
        name: getattr(request, name) for name in _KEPT_FIELDS if name in request.given
    }
    if "context" in changes:
        changes["context_built"] = False
    if "entities" in request.given and (item.is_correction or _adds_entities(request, existing)):
        changes["entities"] = tuple(sorted(_united(draft, item, ())))
    return changes | _changed_text(request, existing, policy) | _changed_turn(existing, changes)


def _changed_text(request: WriteRequest, existing: Memory, policy: Policy) -> dict[str, Any]:
    """The content and the summary; a summary that is not given is made of the content."""
    changes: dict[str, Any] = {}
    content = existing.content
    if "content" in request.given and request.content != content:
        content = changes["content"] = request.content
    if request.summary:
        changes["summary"] = request.summary
    elif changes or "summary" in request.given:
        changes["summary"] = shorten(content, policy.write.summary_max_chars)
    return changes


def _changed_turn(existing: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What a change makes of a turn: it stays one, or it becomes one."""
    source = changes.get("source", existing.source)
    old, new = existing.source.conversation_id, source.conversation_id
    if old and new is None:
        return {"source": replace(source, conversation_id=old)}
    if old and old != new:
        message = "This memory is a turn of another conversation."
        raise InvalidInput({"source.conversation_id": [message]})
    if new and not old and existing.context is None and "context" not in changes:
        return {"context_built": True}
    return {}


def _keeps_status(item: Item) -> bool:
    """Whether a request brings a status of its own, by which a memory need not be current."""
    return "status" in item.request.given and item.request.status is not Status.ACTIVE


def _adds_entities(request: WriteRequest, existing: Memory) -> bool:
    return not {ref.key for ref in request.entities} <= {ref.key for ref in existing.entities}


def _check_no_twin(draft: Draft, memory: Memory, existing: Memory) -> None:
    """Refuse a correction to the words, or into the time under its key, of another memory."""
    times = (memory.valid_from, memory.valid_until)
    is_moved = times != (existing.valid_from, existing.valid_until)
    is_said_otherwise = (memory.content, memory.type) != (existing.content, existing.type)
    others: list[Memory] = []
    if memory.claims_content and (is_moved or is_said_otherwise):
        twin = draft.claimed(content_claims(memory)[0])
        others += [twin] if twin and memory.overlaps(twin) else []
    if memory.logical_key and is_moved:
        claim = logical_claim(memory.space, memory.logical_key, memory.kept_by)
        others += [each for each in draft.values_of(claim) if collide(memory, each)]
    for other in others:
        if other.key != memory.key:
            message = f"The memory {other.uid} says that already, or holds then under its key."
            raise Conflict(message)


def _check_interval(memory: Memory) -> None:
    if memory.valid_from and memory.valid_until and memory.valid_until < memory.valid_from:
        raise InvalidInput({"valid_until": ["Must not be before valid_from."]})


def _current_again(memory: Memory, draft: Draft) -> Memory:
    """A memory that is written again by its uid counts again, even if it had expired.

    Raises:
        Conflict: it was superseded or retracted, which a new text does not undo.
    """
    if memory.status in {Status.SUPERSEDED, Status.RETRACTED}:
        message = f"The memory {memory.uid} is {memory.status}: write the text as a new memory."
        raise Conflict(message)
    if memory.is_current(draft.now):
        return memory
    expires_at = None if memory.has_expired(draft.now) else memory.expires_at
    return replace(
        memory, status=Status.ACTIVE, status_reason=None, status_at=draft.now, expires_at=expires_at
    )


def _connect(draft: Draft, item: Item, memory: Memory) -> Outcome | None:
    """Draw the requested edges; the outcome of one that updates others."""
    outcome: Outcome | None = None
    for name, edge_type in _EDGE_FIELDS.items():
        for uid in getattr(item.request, name):
            other = draft.memories[item.key_of(uid)]
            if other.key == memory.key:
                continue
            if (
                edge_type is EdgeType.UPDATES
                and memory.key in draft.created
                and memory.is_before(other)
            ):
                draft.draw(other, EdgeType.UPDATES, memory)
                memory = draft.put_before(draft.memories[memory.key], other.began)
                if memory.status is Status.SUPERSEDED:
                    outcome = Outcome.SUPERSEDED_BY_NEWER
            elif edge_type is EdgeType.UPDATES:
                successors = _present_successors(draft, other, item.call)
                draft.supersede(memory, other)
                draft.updaters.setdefault(other.key, []).append((item.call, memory.key))
                for successor in successors:
                    if successor.key != memory.key:
                        draft.supersede(memory, successor)
                outcome = Outcome.SUPERSEDED
            else:
                draft.draw(memory, edge_type, other)
    return outcome


def _present_successors(draft: Draft, other: Memory, call: int) -> list[Memory]:
    """The memory that had taken the place of another before this call, if it is current.

    Items of one call that update the same memory stand side by side.

    Raises:
        Conflict: there are several; the message names them.
    """
    if other.status is not Status.SUPERSEDED:
        return []
    earlier = [key for number, key in draft.updaters.get(other.key, ()) if number != call]
    keys = dict.fromkeys((*draft.before.updaters.get(other.key, ()), *earlier))
    found = [draft.memories.get(key) for key in keys]
    current = [each for each in found if each and each.status is Status.ACTIVE]
    if len(current) > 1:
        names = ", ".join(each.uid for each in current)
        message = f"The memory {other.uid} has several current successors: {names}. Update those."
        raise Conflict(message)
    return current


def _check_references(draft: Draft, item: Item) -> None:
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
    for uid in item.request.updates:
        other = draft.memories[item.key_of(uid)]
        check_keeper(other, item.request.kept_by)
        _present_successors(draft, other, item.call)


def _claims_of(item: Item) -> set[str]:
    request = item.request
    claims = set()
    if request.source.key:
        claims.add(source_claim(item.space, request.source.key, request.kept_by))
    if request.logical_key:
        claims.add(logical_claim(item.space, request.logical_key, request.kept_by))
    if item.is_correction or _claims_content(request):
        claims |= {item.content_claim, item.timed_claim}
    return claims


def _claims_content(request: WriteRequest) -> bool:
    """Whether equal content reinforces what the request writes."""
    if request.claims_content is not None:
        return request.claims_content
    return request.dedupe is Dedupe.CONTENT and not request.uid


def _united(draft: Draft, item: Item, known: Sequence[EntityRef]) -> list[EntityRef]:
    """The entities of a memory, then those of a request; a merged one is what it became."""
    owner = item.space.without_persona.key
    refs = {ref.key: ref for ref in known}
    for ref in item.request.entities:
        key = draft.before.became.get(f"{owner}|{ref.key}", ref.key)
        refs.setdefault(key, EntityRef(key=key, label=ref.label or label_from_key(key)))
    return list(refs.values())
