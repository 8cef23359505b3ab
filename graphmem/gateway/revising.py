"""What a request makes of one memory: a new one, one said again, or one with other values. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.axis import collide
from graphmem.gateway.claims import content_claims, logical_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.item import Item, claims_content, keeps_status
from graphmem.gateway.repeats import with_repeat
from graphmem.gateway.sources import add_source
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.event import Reason
from graphmem.model.memory import Memory, Status
from graphmem.model.policy import Policy, SpeculativePolicy
from graphmem.model.source import Source
from graphmem.model.tokens import epoch_ms
from graphmem.model.writing import Outcome, WriteRequest
from graphmem.text.normalise import shorten

_KEPT_FIELDS = (
    "type actor context importance confidence logical_key authority"
    " occurred_at valid_from valid_until"
    " expires_at pinned tags metadata source native kept_by"
).split()


class Applied(NamedTuple):
    """What became of an item, before its edges."""

    outcome: Outcome
    memory: Memory
    not_taken: tuple[str, ...] = ()


def create(draft: Draft, item: Item, policy: Policy, *, instead_of: Memory | None = None) -> Memory:
    """A new memory of what a request says; ``instead_of`` is the one whose claims it takes."""
    request = item.request
    kept = {name: getattr(request, name) for name in _KEPT_FIELDS}
    is_active = request.status is Status.ACTIVE
    memory = Memory(
        uid=request.uid or draft.free_uid(item),
        space=item.space,
        content=request.content,
        summary=request.summary or shorten(request.content, policy.write.summary_max_chars),
        entities=tuple(sorted(united_entities(draft, item, ()))),
        context_built=request.context is None and request.source.conversation_id is not None,
        created_at=request.created_at or draft.now,
        updated_at=request.updated_at or request.created_at or draft.now,
        status=request.status,
        status_reason=_status_reason(request),
        status_at=request.status_at or (None if is_active else draft.now),
        embedded=item.has_vectors,
        claims_content=claims_content(request),
        **kept | {"expires_at": request.expires_at or _doubtful_until(item, draft.now)},
    )
    draft.create(memory, behind=item.behind, instead_of=instead_of)
    draft.vectors_of[memory.key] = item.index
    return memory


def _status_reason(request: WriteRequest) -> str | None:
    """Why a memory stands as it does; one that comes without a reason was imported so."""
    if request.status_reason is None and request.status is not Status.ACTIVE:
        return Reason.IMPORT
    return request.status_reason or None


def _doubtful_until(item: Item, now: datetime) -> datetime | None:
    """When a memory that is hardly believed goes quiet by itself (003, Confidence tiers)."""
    request, doubt = item.request, item.doubt
    is_sure = request.confidence >= doubt.confidence or request.pinned
    is_kept = request.created_at is not None and "expires_at" in request.given
    if is_sure or is_kept or request.kept_by or not doubt.enabled:
        return None
    return now + timedelta(days=doubt.days)


def was_doubtful(memory: Memory, doubt: SpeculativePolicy) -> bool:
    """Whether a memory expires only because it was hardly believed; said again, it is confirmed."""
    ends = memory.created_at + timedelta(days=doubt.days)
    is_doubted = memory.confidence < doubt.confidence
    return is_doubted and epoch_ms(memory.expires_at) == epoch_ms(ends)


def reinforce(draft: Draft, item: Item, existing: Memory, policy: Policy) -> Applied:
    """A memory that is said again (design, The same again)."""
    repeat = with_repeat(
        existing,
        item.request,
        entities=united_entities(draft, item, existing.entities),
        is_confirmed=was_doubtful(existing, item.doubt),
        policy=policy.write,
        now=draft.now,
    )
    draft.put(repeat.memory)
    draft.take_claims(repeat.memory, also_from=existing)
    return Applied(Outcome.REINFORCED, repeat.memory, repeat.not_taken)


def revise_by_source(draft: Draft, item: Item, existing: Memory, policy: Policy) -> Applied:
    """What a source says otherwise than before; the memory keeps its status.

    Raises:
        InvalidInput: it would move a turn to another conversation.
    """
    told = item.request.source if "source" in item.request.given else None
    known = next((each for each in existing.sources if told and each.name == told.name), None)
    source = _united_source(known, told) if told else None
    is_first = source is not None and source.name == existing.source.name
    is_away = existing.status is Status.ARCHIVED and not existing.has_expired(draft.now)
    applied = revise(
        draft,
        item,
        existing,
        policy,
        keeps=is_away or existing.status is Status.SUPERSEDED,
        first=source if is_first else None,
    )
    if source is None or is_first:
        return applied
    memory = add_source(draft, draft.memories[applied.memory.key], source)
    changed = applied._replace(memory=memory)
    return changed if memory == applied.memory else changed._replace(outcome=Outcome.REVISED)


def _united_source(known: Source | None, told: Source) -> Source:
    """A source with what a request tells of it; what it does not tell stays."""
    usual = Source()
    names = ("type", "path", "conversation_id", "workflow_run_id", "step_id", "captured_by")
    told_of = {
        name: getattr(told, name) for name in names if getattr(told, name) != getattr(usual, name)
    }
    return replace(known, **told_of) if known else told


def revise(
    draft: Draft,
    item: Item,
    existing: Memory,
    policy: Policy,
    *,
    keeps: bool = False,
    first: Source | None = None,
) -> Applied:
    """Replace what the request speaks of; a change that changes nothing writes nothing.

    ``keeps`` says that the memory keeps its status, whatever that is; ``first`` is what its first
    source now is.

    Raises:
        InvalidInput: its interval would be inverted, or it is a turn of another conversation.
        Conflict: another memory says that, or holds then under its key; it was retracted.
    """
    changes = _changes(draft, item, existing, policy)
    if first:
        _check_turn(existing, first)
        changes["source"] = replace(first, at=existing.source.at)
    memory = _confirmed(replace(existing, **changes), existing, item)
    upserts = item.request.upserts
    if upserts:
        memory = _written_over(draft, item, memory)
    _check_interval(memory)
    _check_no_twin(draft, memory, existing)
    keeps = keeps or item.is_correction or keeps_status(item) or upserts
    keeps = keeps or _brings_what_is_over(item, draft.now)
    stays_away = keeps and memory.status is not Status.ACTIVE
    if not stays_away and _begins_anew(memory, existing, item, draft.now):
        memory = replace(memory, valid_from=draft.now, valid_until=None)
    is_stale = not (existing.is_current(draft.now) or keeps)
    if memory == existing and not is_stale:
        return Applied(Outcome.UNCHANGED, existing)
    if is_stale:
        memory = _current_again(memory, draft)
    re_embed = (memory.content, memory.actor) != (existing.content, existing.actor)
    memory = replace(
        memory,
        updated_at=(item.request.updated_at if upserts else None) or draft.now,
        version=existing.version + 1,
        embedded=item.has_vectors if re_embed else existing.embedded,
    )
    draft.put(memory)
    if re_embed or is_stale or _claims_of(memory) != _claims_of(existing):
        claim_anew(draft, memory, existing)
    if re_embed:
        draft.vectors_of[memory.key] = item.index
    if memory.source.conversation_id and not existing.source.conversation_id:
        draft.join_conversation(memory, item.behind)
    if re_embed or memory.status is not existing.status:
        draft.mark_neighbours(memory)
    return Applied(Outcome.REVISED, memory)


def _written_over(draft: Draft, item: Item, memory: Memory) -> Memory:
    """A memory with the status that an upsert gives it, and its time (002, Storage).

    While what superseded it is active, it stays superseded.

    Raises:
        Conflict: it was retracted.
    """
    if memory.status is Status.RETRACTED:
        message = f"The memory {memory.uid} is retracted: restore it first."
        raise Conflict(message)
    request = item.request
    wholes = {item.key_of(uid) for uid in request.part_of}  # which took its place for a while
    updaters = draft.before.updaters.get(memory.key, ())
    successors = (draft.memories.get(key) for key in updaters if key not in wholes)
    is_succeeded = any(each and each.status is Status.ACTIVE for each in successors)
    status = memory.status if is_succeeded else request.status
    if memory.has_expired(draft.now) and "expires_at" not in request.given:
        memory = replace(memory, expires_at=None)
    if request.updated_at:
        memory = replace(memory, updated_at=request.updated_at)
    if status is memory.status:
        return memory
    is_active = status is Status.ACTIVE
    memory = replace(
        memory,
        status=status,
        status_reason=None if is_active else Reason.IMPORT,
        status_at=draft.now,
    )
    if is_active and memory.is_over(draft.now) and "valid_until" not in request.given:
        return replace(memory, valid_until=None)
    if status is Status.SUPERSEDED and not memory.is_over(draft.now):
        return replace(memory, valid_until=max(memory.began, draft.now))
    return memory


def _brings_what_is_over(item: Item, now: datetime) -> bool:
    """Whether another system kept a memory as active that is over: its status is bookkeeping."""
    request = item.request
    ends = request.valid_until
    return "status" in request.given and ends is not None and ends <= now


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


def _claims_of(memory: Memory) -> tuple[object, ...]:
    """What beside its words decides what a memory claims."""
    times = (memory.occurred_at, memory.valid_from, memory.valid_until)
    return (memory.type, memory.logical_key, memory.status, *times)


def claim_anew(draft: Draft, memory: Memory, existing: Memory) -> None:
    """End the claims of a memory as it was, and take those that it has now."""
    draft.release(existing)
    if memory.status is Status.ACTIVE:
        draft.take_claims(memory, also_from=existing)


def _changes(draft: Draft, item: Item, existing: Memory, policy: Policy) -> dict[str, Any]:
    """The fields that a revision replaces; a source is added instead."""
    request = item.request
    changes: dict[str, Any] = {
        name: getattr(request, name)
        for name in _KEPT_FIELDS
        if name in request.given and name != "source"
    }
    if "context" in changes:
        changes["context_built"] = False
    if "entities" in request.given:
        changes |= _changed_entities(draft, item, existing)
    return changes | _changed_text(request, existing, policy)


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


def _check_turn(existing: Memory, source: Source) -> None:
    """Refuse to move a turn to another conversation."""
    if existing.source.conversation_id not in {None, source.conversation_id}:
        message = "This memory is a turn of another conversation."
        raise InvalidInput({"source.conversation_id": [message]})


def _changed_entities(draft: Draft, item: Item, existing: Memory) -> dict[str, Any]:
    """The entities of a request, where it corrects a memory or names others than that has."""
    named = united_entities(draft, item, ())
    adds = not {ref.key for ref in named} <= {ref.key for ref in existing.entities}
    return {"entities": tuple(sorted(named))} if item.is_correction or adds else {}


def _check_no_twin(draft: Draft, memory: Memory, existing: Memory) -> None:
    """Refuse a correction to the words, or into the time under its key, of another memory."""
    times = (memory.valid_from, memory.valid_until)
    is_moved = times != (existing.valid_from, existing.valid_until)
    is_said_otherwise = (memory.content, memory.type) != (existing.content, existing.type)
    others: list[Memory] = []
    if memory.claims_content and (is_moved or is_said_otherwise):
        twin = draft.claimed(content_claims(memory)[0])
        is_same = twin is not None and memory.logical_key in {None, twin.logical_key}
        others += [twin] if twin and is_same and memory.overlaps(twin) else []
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


def united_entities(draft: Draft, item: Item, known: Sequence[EntityRef]) -> list[EntityRef]:
    """The entities of a memory, then those that a request means; a merged one is what it became."""
    owner = item.space.without_persona.key
    refs = {ref.key: ref for ref in known}
    for ref in item.request.entities:
        key = draft.before.entity(owner, ref)
        refs.setdefault(key, EntityRef(key=key, label=ref.label or label_from_key(key)))
    return list(refs.values())


def check_version(memory: Memory, expected: int | None) -> None:
    """Refuse a change that was decided on another version (If-Match).

    Raises:
        Conflict: the memory has changed since.
    """
    if expected is not None and memory.version != expected:
        message = f"The memory is at version {memory.version}, not {expected}: get it again."
        raise Conflict(message)
