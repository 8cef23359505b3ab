"""Relations: how entities stand to each other is posted by hand or with a memory, and deleted.

In one space the same start, label and end at times that overlap are one relation, which takes the
memory on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Executed, Operation
from graphmem.gateway.validation import Report, check_text, collected, is_uid
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.entity import EntityRef, entity_ref
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.memory import Memory, memory_key
from graphmem.model.relation import LABEL_MAX_CHARS, MEMORIES_MAX, Relation, joined, said_again
from graphmem.model.space import Space, parse_writable_space
from graphmem.model.trace import TraceKind
from graphmem.ports import IdSource
from graphmem.store.entities import create_entity, lock_standing
from graphmem.store.memories import memories_by_key
from graphmem.store.relations import (
    change_relation,
    create_relation,
    delete_relation,
    lock_relation,
    relations_between,
)
from graphmem.text.normalise import one_line

_TAKEN = ("weight", "since", "until")


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationRequest:
    """A relation to be posted in a space, between entities of its owner as they are named.

    Without ``memories``, by uid, it is posted by hand. What another system kept brings its ``uid``
    and ``created_at`` along, may rest on memories that are not current, and has ``labels`` for ends
    that are not there yet.
    """

    space: Space
    start: str
    end: str
    label: str
    weight: float = 1.0
    since: datetime | None = None
    until: datetime | None = None
    memories: Sequence[str] = ()
    by_hand: bool = False
    uid: str | None = None
    created_at: datetime | None = None
    labels: tuple[str | None, str | None] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Posted:
    """A relation as it stands after a request.

    ``not_taken`` are fields that it keeps as they were, ``absorbed`` relations that are one with it
    from now on, ``new_ends`` entities that are made for it.
    """

    relation: Relation
    is_new: bool = False
    is_changed: bool = True
    not_taken: tuple[str, ...] = ()
    absorbed: tuple[Relation, ...] = ()
    new_ends: tuple[EntityRef, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationState:
    """What posting a relation reads: its ends as they stand, relations between them, memories."""

    start: EntityRef | None = None
    end: EntityRef | None = None
    between: Sequence[Relation] = ()
    known: Relation | None = None  # the one of that uid
    memories: Mapping[str, Memory] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PostRelation(Operation[RelationState, Posted]):
    """Let two entities of an owner stand in a relation."""

    kind = TraceKind.RELATION

    request: RelationRequest
    start: EntityRef
    end: EntityRef
    uid: str

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that it is posted in."""
        return (self.request.space,)

    @property
    def texts(self) -> Sequence[str]:
        """The label, which is screened as other texts are."""
        return (self.request.label,)

    @property
    def _is_kept(self) -> bool:
        """Whether another system kept it."""
        return self.request.uid is not None

    def read(self, transaction: Workbench) -> RelationState:
        """Lock both ends, of merged ones what they became, and read what is between them."""
        request, owner = self.request, self.request.space.without_persona.key
        keys = {f"{owner}|{key}": key for ref in (self.start, self.end) for key in ref.keys}
        labels, became = lock_standing(transaction, keys)
        by_key = {keys[each]: label for each, label in labels.items()}

        def standing(ref: EntityRef) -> EntityRef | None:
            meant = ref.meant(by_key)
            key = became.get(f"{owner}|{meant}", meant)
            return EntityRef(key=key, label=by_key.get(key)) if meant in by_key else None

        start, end = standing(self.start), standing(self.end)
        memory_keys = [memory_key(request.space, uid) for uid in request.memories]
        state = RelationState(
            start=start,
            end=end,
            known=lock_relation(transaction, request.space, self.uid) if self._is_kept else None,
            memories=memories_by_key(transaction, memory_keys) if memory_keys else {},
        )
        if start is None or end is None or self._is_kept:
            return state
        between = relations_between(
            transaction, request.space, start.key, end.key, label=request.label
        )
        return replace(state, between=between)

    def decide(self, state: RelationState, now: datetime) -> Decided[Posted]:
        """Make it, or let the one that is there take the memory on.

        Raises:
            InvalidInput: an end or a memory is not there, or both ends are one.
            Conflict: another relation has its uid, or it rests on too many memories.
        """
        if state.known and state.start and state.end and state.start.key == state.end.key:
            return Decided(answer=Posted(relation=state.known, is_changed=False))  # it is hidden
        said, new_ends = self._said(state, now)
        overlapping = self._overlapping(state.between, said, now)
        known = state.known or next(iter(overlapping), None)
        if known is None:
            return self._decided(Posted(relation=said, is_new=True, new_ends=new_ends))
        if _triple(known) != _triple(said):
            message = f"Another relation of this space has the uid {known.uid}."
            raise Conflict(message)
        absorbed = tuple(each for each in overlapping if each.uid != known.uid)
        told = said_again(reduce(joined, absorbed, known), said)
        if len(told.memories) > MEMORIES_MAX:
            message = f"The relation {known.uid} rests on {MEMORIES_MAX:,} memories already."
            raise Conflict(message)
        posted = Posted(
            relation=told,
            is_changed=told != known or bool(absorbed),
            not_taken=tuple(name for name in _TAKEN if self._is_left(name, told)),
            absorbed=absorbed,
        )
        return self._decided(posted)

    def _overlapping(
        self, between: Sequence[Relation], said: Relation, now: datetime
    ) -> list[Relation]:
        """The relations that are one with what is said; without a time only one, today's first."""
        found = [each for each in between if each.overlaps(said.since, said.until)]
        if said.since or said.until:
            return found
        today = [each for each in found if each.overlaps(now, now)]
        return (today or found)[:1]

    def _is_left(self, name: str, told: Relation) -> bool:
        asked = getattr(self.request, name)
        return asked is not None and asked != getattr(told, name)

    def _said(self, state: RelationState, now: datetime) -> tuple[Relation, tuple[EntityRef, ...]]:
        """The relation that is asked for, and the ends that are to be made."""
        request = self.request
        labels = request.labels or (None, None)
        ends = [
            found or (replace(ref, label=label, name=None) if label else None)
            for found, ref, label in zip(
                (state.start, state.end), (self.start, self.end), labels, strict=True
            )
        ]
        start, end = ends
        wrong = {
            name: ["There is no entity of that name in this space."]
            for name, ref in zip(("from", "to"), ends, strict=True)
            if ref is None
        }
        if problem := self._memory_problem(state, now):
            wrong["source_memory"] = [problem]
        if start and end and start.key == end.key:
            wrong["to"] = ["Must be another entity than from."]
        if wrong or start is None or end is None:
            raise InvalidInput(wrong)
        made = zip(ends, (state.start, state.end), strict=True)
        said = Relation(
            uid=self.uid,
            space=request.space,
            start=start,
            end=end,
            label=request.label,
            created_at=request.created_at or now,
            weight=request.weight,
            since=request.since,
            until=request.until,
            memories=tuple(dict.fromkeys(request.memories)),
            by_hand=request.by_hand or not request.memories,
        )
        return said, tuple(ref for ref, found in made if ref and not found)

    def _memory_problem(self, state: RelationState, now: datetime) -> str | None:
        for uid in self.request.memories:
            memory = state.memories.get(memory_key(self.request.space, uid))
            if memory is None:
                return "There is no memory of that uid in this space."
            if not (self._is_kept or memory.is_current(now)):
                return "That memory is not current."
        return None

    def _decided(self, posted: Posted) -> Decided[Posted]:
        effect = Effect.RELATION_CREATED if posted.is_new else Effect.RELATION_REVISED
        gone = [_event(each, Effect.RELATION_DELETED) for each in posted.absorbed]
        events = (_event(posted.relation, effect), *gone)
        return Decided(answer=posted, events=events if posted.is_changed else ())

    def apply(self, transaction: Workbench, decided: Decided[Posted]) -> None:
        """Write it, where it changes."""
        posted = decided.answer
        for ref in posted.new_ends:
            owner = self.request.space.without_persona
            create_entity(transaction, owner, ref, now=posted.relation.created_at)
        for each in posted.absorbed:
            delete_relation(transaction, each)
        if posted.is_new:
            create_relation(transaction, posted.relation)
        elif posted.is_changed:
            change_relation(transaction, posted.relation)


@dataclass(frozen=True, kw_only=True)
class DeleteRelation(Operation[Relation | None, Relation]):
    """Delete a relation of a space."""

    kind = TraceKind.RELATION

    space: Space
    uid: str

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that it lies in."""
        return (self.space,)

    def read(self, transaction: Workbench) -> Relation | None:
        """The relation, with its ends locked."""
        return lock_relation(transaction, self.space, self.uid)

    def decide(self, state: Relation | None, now: datetime) -> Decided[Relation]:  # noqa: ARG002
        """Delete it.

        Raises:
            NotFound: there is none of that uid.
        """
        if state is None:
            raise NotFound
        return Decided(answer=state, events=(_event(state, Effect.RELATION_DELETED),))

    def apply(self, transaction: Workbench, decided: Decided[Relation]) -> None:
        """Remove the relation from the graph."""
        delete_relation(transaction, decided.answer)


def _triple(relation: Relation) -> tuple[str, str, str]:
    return (relation.start.key, relation.label, relation.end.key)


def _event(relation: Relation, effect: Effect) -> Event:
    start, label, end = _triple(relation)
    return Event(
        space=relation.space.key,
        subject=relation.uid,
        about=Subject.RELATION,
        effect=effect,
        detail={"from": start, "label": label, "to": end},
    )


@dataclass(frozen=True, kw_only=True)
class RelationKeeper:
    """Posts and deletes relations for callers."""

    gateway: Gateway
    ids: IdSource
    overrides: Mapping[str, str] = field(default_factory=dict)

    def post(self, request: RelationRequest, *, caller: Caller) -> Executed[Posted]:
        """Let two entities stand in a relation.

        Raises:
            InvalidInput: something is wrong with it; all problems are told at once.
            Forbidden: the key may not write in its space.
            PolicyRefused: its label may not be stored.
            Conflict: see PostRelation.
        """
        refs: list[EntityRef] = []
        if wrong := collected(lambda report: self._check(request, refs, report)):
            raise InvalidInput(wrong)
        start, end = refs
        operation = PostRelation(
            request=replace(request, label=one_line(request.label)),
            start=start,
            end=end,
            uid=request.uid or self.ids.new("relation"),
        )
        return self.gateway.execute(operation, caller)

    def delete(self, space: Space, uid: str, *, caller: Caller) -> Executed[Relation]:
        """Delete a relation of a space.

        Raises:
            NotFound: there is none of that uid.
            Forbidden: the key may not write in the space.
        """
        return self.gateway.execute(DeleteRelation(space=space, uid=uid), caller)

    def _check(self, request: RelationRequest, refs: list[EntityRef], report: Report) -> None:
        try:
            parse_writable_space(request.space.name, tenant=request.space.tenant)
        except ValueError as error:
            report("space", str(error))
        for name, text in (("from", request.start), ("to", request.end)):
            try:
                refs.append(entity_ref(text, overrides=self.overrides))
            except ValueError as error:
                report(name, str(error))
        check_text("label", request.label, LABEL_MAX_CHARS, report)
        if not (math.isfinite(request.weight) and 0 <= request.weight <= 1):
            report("weight", "Must be a number from 0 to 1.")
        if request.since and request.until and request.until <= request.since:
            report("until", "Must be behind since.")
        for uid in request.memories:
            if not is_uid(uid):
                report("source_memory", "Must be the uid of a memory.")
