"""decide: what each write becomes.

Pure: the same state, items, policy and time give the same decision.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from graphmem.errors import Conflict, GraphmemError, NotFound, RetractedSource
from graphmem.gateway.axis import Place, place_of
from graphmem.gateway.claims import content_claims, logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.edges import EdgeRequest, draw_requested
from graphmem.gateway.item import Item, begin_of, keeps_status
from graphmem.gateway.keeping import check_keeper
from graphmem.gateway.references import check_references, connect
from graphmem.gateway.repeats import is_repeat
from graphmem.gateway.revising import (
    Applied,
    check_version,
    create,
    reinforce,
    revise,
    revise_by_source,
)
from graphmem.gateway.sources import add_source, leave, said_digest, says_again
from graphmem.gateway.turns import check_said, keep_said
from graphmem.gateway.uniting import unite
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
    are_drawn = bool(edges and items) and all(_is_known(draft, item) for item in items)
    results = [decide_item(draft, item, policy) for item in items]
    if not are_drawn and not any(result.error for result in results):
        for index, edge in enumerate(edges):
            draw_requested(draft, edge, path=f"edges.{index}.")
    return draft.decision(results)


def decide_item(draft: Draft, item: Item, policy: Policy) -> WriteResult:
    """What one item becomes; refused, it changes nothing of the draft."""
    try:
        check_references(draft, item)
        return _accepted(draft, item, policy)
    except GraphmemError as error:  # raised before anything of the draft was changed
        return WriteResult(index=item.index, outcome=Outcome.REFUSED, error=error)


def _source_claim(item: Item) -> str | None:
    """The claim of the key of an item's source; a correction is not made by its source."""
    return None if item.is_correction else item.claim_of(item.request.source)


def _is_known(draft: Draft, item: Item) -> bool:
    """Whether the source of an item said the same before."""
    claim = _source_claim(item)
    if claim is None or claim not in draft.claims:
        return False
    return says_again(item.request, draft.digest_of(claim))


def _accepted(draft: Draft, item: Item, policy: Policy) -> WriteResult:
    request = item.request
    claim = _source_claim(item)
    known = draft.memories.get(draft.claims.get(claim, "")) if claim else None
    if known and request.uid not in {None, known.uid}:
        message = f"The source key {request.source.key} is that of the memory {known.uid}."
        raise Conflict(message)
    if item.said:
        draft.turns.check_not_taken_back(item.conversation, item.said)
    if known and _is_known(draft, item):
        return WriteResult(index=item.index, outcome=Outcome.UNCHANGED, memory=known)
    named = known or (draft.memories.get(item.key_of(request.uid)) if request.uid else None)
    check_said(draft, item, named)
    if known:
        applied = _said_otherwise(draft, item, known, policy)
    else:
        applied = _with_source(draft, item, _apply(draft, item, policy))
    memory = _with_status(draft, item, applied.memory)
    if claim and "content" not in applied.not_taken:
        draft.claim(claim, memory, digest=request.source.digest or said_digest(request))
    if applied.outcome is not Outcome.UNCHANGED:
        is_revised = applied.outcome is Outcome.REVISED
        memory = keep_said(draft, item, named if is_revised else None, memory)
    connected = connect(draft, item, memory)
    is_new = memory.key in draft.created
    return WriteResult(
        index=item.index,
        outcome=connected if connected and applied.outcome is Outcome.CREATED else applied.outcome,
        memory=memory,
        not_taken=applied.not_taken,
        retracted_before=draft.before.retracted.get(item.content_claim) if is_new else None,
    )


def _with_status(draft: Draft, item: Item, memory: Memory) -> Memory:
    """A memory with the status that the request brings, if it is the request's own."""
    request = item.request
    is_new = memory.key in draft.created
    is_its_own = is_new or (memory.uid == request.uid and not request.upserts)
    # what took the place of a superseded one is not undone by a line
    is_undone = memory.status is Status.SUPERSEDED and request.status is Status.ACTIVE
    brings_status = "status" in request.given and memory.status is not request.status
    if is_its_own and brings_status and not is_undone:
        return draft.set_status(memory, request.status, Reason.IMPORT)
    return memory


def _with_source(draft: Draft, item: Item, applied: Applied) -> Applied:
    """What became of an item, with its source, unless its words were not taken."""
    memory = draft.memories[applied.memory.key]
    if item.is_correction or "content" in applied.not_taken:
        return applied
    said = "source" in item.request.given or not item.request.given
    for source in (*([item.request.source] if said else ()), *item.request.sources):
        memory = add_source(draft, memory, source)
        claim = item.claim_of(source)
        if claim and source is not item.request.source and claim not in draft.claims:
            draft.claim(claim, memory, digest=source.digest)
    return applied._replace(memory=memory)


def _said_otherwise(draft: Draft, item: Item, known: Memory, policy: Policy) -> Applied:
    """What a source says now that it said otherwise before (design, Sources).

    Raises:
        RetractedSource: what it said was taken back.
        KeptByRoom: a room keeps what it said.
    """
    request = item.request
    if known.status is Status.RETRACTED:
        message = f"What this source said, the memory {known.uid}, was retracted."
        raise RetractedSource(message)
    check_keeper(known, request.kept_by)
    says_it = content_claims(known)[0] == item.content_claim
    if request.logical_key and request.on_same_key is OnSameKey.KEEP and not says_it:
        return Applied(Outcome.UNCHANGED, known, ("content",))
    twin = _of_content(draft, item)
    is_moved = request.uid is None and not says_it and (twin or known.sources_total > 1)
    if not is_moved or twin is known:
        return revise_by_source(draft, item, known, policy)
    item = replace(item, request=_beside(request, known))
    applied = _with_source(draft, item, _apply(draft, item, policy))
    if applied.memory.key == known.key or "content" in applied.not_taken:
        return applied
    leave(draft, known, request.source, applied.memory)
    return applied._replace(outcome=Outcome.REVISED, memory=draft.memories[applied.memory.key])


def _beside(request: WriteRequest, known: Memory) -> WriteRequest:
    """A request whose words stand beside those that others say: in their turn, or behind them."""
    if request.after is None and request.source.conversation_id == known.source.conversation_id:
        request = replace(request, after=known.uid)
    if request.on_same_key is OnSameKey.REVISE:
        request = replace(request, on_same_key=OnSameKey.SUPERSEDE)
    return request


def _apply(draft: Draft, item: Item, policy: Policy) -> Applied:
    request = item.request
    existing = draft.memories.get(item.key_of(request.uid)) if request.uid else None
    if item.is_correction:
        existing = _expected(item, existing)
    if existing:
        check_keeper(existing, request.kept_by)
        return revise(draft, item, existing, policy)
    if united := _united(draft, item, policy):
        return united
    if request.logical_key and (values := draft.values_of(_logical_claim(item))):
        return _by_key(draft, item, place_of(begin_of(item.request) or draft.now, values), policy)
    if existing := _of_content(draft, item):
        return reinforce(draft, item, existing, policy)
    return Applied(Outcome.CREATED, create(draft, item, policy))


def _united(draft: Draft, item: Item, policy: Policy) -> Applied | None:
    """What a request joins that is to be united with the memory of its key, if there is one."""
    request = item.request
    if request.on_same_key is not OnSameKey.UNITE or request.uid or not request.logical_key:
        return None
    existing = draft.claimed(_logical_claim(item))
    return unite(draft, item, existing, policy) if existing else None


def _logical_claim(item: Item) -> str:
    return logical_claim(item.space, item.request.logical_key or "", item.request.kept_by)


def _of_content(draft: Draft, item: Item) -> Memory | None:
    """The memory that says the same as a request.

    The same words under another logical key are another claim: "yes" to mail is not "yes" to calls.
    """
    request = item.request
    if request.uid or request.dedupe is not Dedupe.CONTENT:
        return None
    claimed = [draft.claimed(claim) for claim in (item.timed_claim, item.content_claim)]
    for existing in (*claimed, *draft.said_at_any_time(item.content_claim)):
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
    is_cut = after is not None and not memory.is_over(after.began)
    if after and is_cut:
        memory = replace(memory, valid_until=after.began)
    draft.memories[memory.key] = memory
    brings_edges = "status" in item.request.given  # what another system kept
    ends_before = before and (before.status is Status.ACTIVE or not before.is_over(place.begin))
    if before and (ends_before or not brings_edges):
        draft.draw(memory, EdgeType.UPDATES, before)
    if before and ends_before:
        draft.end(before, place.begin)
    if after and (is_cut or not brings_edges):
        draft.draw(after, EdgeType.UPDATES, memory)
    if after and is_past:
        return Applied(Outcome.SUPERSEDED_BY_NEWER, draft.put_before(memory, after.began))
    return Applied(Outcome.SUPERSEDED if place.in_force else Outcome.CREATED, memory)
