"""decide: what each write becomes.

Pure: the same state, items, policy and time give the same decision.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from graphmem.errors import Conflict, GraphmemError, NotFound
from graphmem.gateway.axis import Place, place_of
from graphmem.gateway.claims import logical_claim, source_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.edges import EdgeRequest, draw_requested
from graphmem.gateway.item import Item, begin_of, keeps_status
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.references import check_references, connect
from graphmem.gateway.repeats import is_repeat
from graphmem.gateway.revising import Applied, check_version, create, reinforce, revise
from graphmem.model.edge import EdgeType
from graphmem.model.event import Reason
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import Policy
from graphmem.model.state import Decision, GraphState
from graphmem.model.writing import Dedupe, OnSameKey, Outcome, WriteRequest, WriteResult
from graphmem.text.normalise import comparable


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
        check_references(draft, item)
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
    connected = connect(draft, item, memory)
    if connected and outcome is Outcome.CREATED:
        outcome = connected
    return WriteResult(index=item.index, outcome=outcome, memory=memory, not_taken=not_taken)


def _apply(draft: Draft, item: Item, policy: Policy) -> Applied:
    request = item.request
    existing = draft.memories.get(item.key_of(request.uid)) if request.uid else None
    if item.is_correction:
        existing = _expected(item, existing)
    if existing:
        check_keeper(existing, request.kept_by)
        return revise(draft, item, existing, policy)
    if request.logical_key and (values := draft.values_of(_logical_claim(item))):
        return _by_key(draft, item, place_of(begin_of(item.request) or draft.now, values), policy)
    if existing := _of_content(draft, item):
        return reinforce(draft, item, existing, policy)
    return Applied(Outcome.CREATED, create(draft, item, policy))


def _logical_claim(item: Item) -> str:
    return logical_claim(item.space, item.request.logical_key or "", item.request.kept_by)


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


def _by_key(draft: Draft, item: Item, place: Place, policy: Policy) -> Applied:
    """A value of a logical key that has others: said again, kept, corrected, or one of its own.

    Raises:
        Conflict: it has another uid than the memory that it would correct in place.
    """
    request = item.request
    in_force = _current(place.in_force, draft.now)
    if keeps_status(item):
        return Applied(Outcome.CREATED, create(draft, item, policy))
    # one that its caller gives a uid of its own never becomes another memory
    for value in () if request.uid else (in_force, place.after):
        says_the_same = value and comparable(value.content) == comparable(request.content)
        if value and says_the_same and is_repeat(request, value):
            return _said_again(draft, item, value, policy)
    if in_force and request.on_same_key is OnSameKey.KEEP:
        return Applied(Outcome.UNCHANGED, in_force, ("content",))
    if in_force and _is_correction(request, in_force):
        if request.uid:
            message = f"The memory {in_force.uid} has that logical key: give its uid, or a begin."
            raise Conflict(message)
        return revise(draft, item, in_force, policy)
    return _placed(draft, item, place, policy)


def _said_again(draft: Draft, item: Item, value: Memory, policy: Policy) -> Applied:
    """A value said again; where that widens its interval, it holds against the one before it."""
    applied = reinforce(draft, item, value, policy)
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


def _placed(draft: Draft, item: Item, place: Place, policy: Policy) -> Applied:
    """A value of its own at its place: it ends the one before, and ends where the next begins."""
    before, after = place.before, place.after
    is_past = after is not None and after.began <= draft.now
    takes_over = not is_past and place.begin <= draft.now
    memory = create(draft, item, policy, instead_of=place.in_force if takes_over else None)
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
        return Applied(Outcome.SUPERSEDED_BY_NEWER, draft.put_before(memory, after.began))
    return Applied(Outcome.SUPERSEDED if place.in_force else Outcome.CREATED, memory)
