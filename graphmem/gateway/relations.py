"""Relations: how entities stand to each other is posted by hand or with a memory, and deleted.

The same start, label and end at times that overlap are one relation, which takes the memory on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Executed, Operation
from graphmem.gateway.validation import Report, check_text, collected, is_uid
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.entity import EntityRef, entity_ref
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.memory import memory_key
from graphmem.model.relation import LABEL_MAX_CHARS, MEMORIES_MAX, Relation, widened
from graphmem.model.space import Space, parse_writable_space
from graphmem.model.trace import TraceKind
from graphmem.ports import IdSource
from graphmem.store.entities import lock_standing
from graphmem.store.memories import memories_by_key
from graphmem.store.relations import (
    delete_relation,
    lock_relation,
    relations_between,
    save_relation,
)
from graphmem.text.normalise import one_line


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationRequest:
    """A relation to be posted in a space, between entities of its owner as they are named.

    ``uid`` and ``created_at`` are those of one that another system kept, and so are several
    ``memories``, by uid; without any it is posted by hand.
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


class Posted(NamedTuple):
    """A relation as it stands after a request."""

    relation: Relation
    is_new: bool
    is_changed: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationState:
    """What posting a relation reads: the ends that are there, relations between them, memories."""

    start: EntityRef | None = None
    end: EntityRef | None = None
    between: Sequence[Relation] = ()
    missing: Sequence[str] = ()  # memories that are not there, by key
    known: Relation | None = None  # the one of that uid


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
        """The label."""
        return (self.request.label,)

    @property
    def _memories(self) -> tuple[str, ...]:
        keys = (memory_key(self.request.space, uid) for uid in self.request.memories)
        return tuple(dict.fromkeys(keys))

    @property
    def _by_hand(self) -> tuple[str, ...]:
        is_by_hand = self.request.by_hand or not self.request.memories
        return (self.request.space.key,) if is_by_hand else ()

    def read(self, transaction: Workbench) -> RelationState:
        """Lock both ends, of merged ones what they became, and read what is between them."""
        owner = self.request.space.without_persona.key
        refs = (self.start, self.end)
        keys = {f"{owner}|{key}": key for ref in refs for key in ref.keys}
        labels, became = lock_standing(transaction, keys)
        by_key = {keys[each]: label for each, label in labels.items()}

        def found(ref: EntityRef) -> EntityRef | None:
            meant = ref.meant(by_key)
            key = became.get(f"{owner}|{meant}", meant)
            is_there = meant in by_key
            return EntityRef(key=key, label=by_key.get(key)) if is_there else None

        start, end = map(found, refs)
        memories = memories_by_key(transaction, self._memories) if self._memories else {}
        state = RelationState(
            start=start,
            end=end,
            missing=[key for key in self._memories if key not in memories],
            known=lock_relation(transaction, owner, self.uid) if self.request.uid else None,
        )
        if start is None or end is None:
            return state
        between = relations_between(
            transaction, owner, start.key, end.key, label=self.request.label
        )
        return replace(state, between=between)

    def decide(self, state: RelationState, now: datetime) -> Decided[Posted]:
        """Make it, or let the one that is there take the memory on.

        Raises:
            InvalidInput: an end or a memory is not there, or both ends are one.
            Conflict: another relation has its uid, or it rests on too many memories.
        """
        start, end = self._checked(state)
        known = state.known or next(
            (
                each
                for each in state.between
                if each.overlaps(self.request.since, self.request.until)
            ),
            None,
        )
        if known is None:
            return self._decided(Posted(self._new(start, end, now), is_new=True))
        if (known.start.key, known.end.key, known.label) != (
            start.key,
            end.key,
            self.request.label,
        ):
            message = f"Another relation of this owner has the uid {known.uid}."
            raise Conflict(message)
        told = self._told(known)
        if len(told.memories) > MEMORIES_MAX:
            message = f"The relation {known.uid} rests on {MEMORIES_MAX:,} memories already."
            raise Conflict(message)
        return self._decided(Posted(told, is_new=False, is_changed=told != known))

    def _checked(self, state: RelationState) -> tuple[EntityRef, EntityRef]:
        wrong = {
            name: ["There is no entity of that name in this space."]
            for name, ref in (("from", state.start), ("to", state.end))
            if ref is None
        }
        if state.missing:
            wrong["source_memory"] = ["There is no memory of that uid in this space."]
        if state.start and state.end and state.start.key == state.end.key:
            wrong["to"] = ["Must be another entity than from."]
        if wrong or state.start is None or state.end is None:
            raise InvalidInput(wrong)
        return state.start, state.end

    def _new(self, start: EntityRef, end: EntityRef, now: datetime) -> Relation:
        return Relation(
            uid=self.uid,
            space=self.request.space.without_persona.key,
            start=start,
            end=end,
            label=self.request.label,
            created_at=self.request.created_at or now,
            weight=self.request.weight,
            since=self.request.since,
            until=self.request.until,
            memories=self._memories,
            by_hand=self._by_hand,
        )

    def _told(self, known: Relation) -> Relation:
        """The relation that is there, said again."""
        return replace(
            widened(known, self.request.since, self.request.until),
            weight=max(known.weight, self.request.weight),
            memories=tuple(dict.fromkeys((*known.memories, *self._memories))),
            by_hand=tuple(dict.fromkeys((*known.by_hand, *self._by_hand))),
        )

    def _decided(self, posted: Posted) -> Decided[Posted]:
        effect = Effect.RELATION_CREATED if posted.is_new else Effect.RELATION_REVISED
        event = _event(self.request.space, posted.relation, effect)
        return Decided(answer=posted, events=(event,) if posted.is_changed else ())

    def apply(self, transaction: Workbench, decided: Decided[Posted]) -> None:
        """Write it, where it changes."""
        if decided.answer.is_changed:
            save_relation(transaction, decided.answer.relation)


@dataclass(frozen=True, kw_only=True)
class DeleteRelation(Operation[Relation | None, Relation]):
    """Delete a relation as far as it rests on some spaces; what rests on others stays.

    ``readable`` are the spaces, by key, in which it is seen.
    """

    kind = TraceKind.RELATION

    space: Space
    uid: str
    readable: Sequence[str]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that is named."""
        return (self.space,)

    def read(self, transaction: Workbench) -> Relation | None:
        """The relation, with its ends locked."""
        return lock_relation(transaction, self.space.without_persona.key, self.uid)

    def decide(self, state: Relation | None, now: datetime) -> Decided[Relation]:  # noqa: ARG002
        """Take away what it rests on in these spaces.

        Raises:
            NotFound: there is none, or nothing of it is seen there.
        """
        if state is None:
            raise NotFound
        left = replace(
            state,
            memories=tuple(key for key in state.memories if not self._is_seen(key)),
            by_hand=tuple(key for key in state.by_hand if key not in self.readable),
        )
        if left == state:
            raise NotFound
        return Decided(answer=left, events=(_event(self.space, state, Effect.RELATION_DELETED),))

    def _is_seen(self, memory: str) -> bool:
        return memory.partition("|")[0] in self.readable

    def apply(self, transaction: Workbench, decided: Decided[Relation]) -> None:
        """Remove it, or what it rests on."""
        relation = decided.answer
        if relation.memories or relation.by_hand:
            save_relation(transaction, relation)
        else:
            delete_relation(transaction, relation)


def _event(space: Space, relation: Relation, effect: Effect) -> Event:
    return Event(
        space=space.key,
        subject=relation.uid,
        about=Subject.RELATION,
        effect=effect,
        detail={"from": relation.start.key, "label": relation.label, "to": relation.end.key},
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

    def delete(
        self, space: Space, uid: str, *, readable: Sequence[Space], caller: Caller
    ) -> Executed[Relation]:
        """Delete a relation as far as it is seen in some spaces.

        Raises:
            NotFound: see DeleteRelation.
            Forbidden: the key may not write in the space.
        """
        keys = [each.key for each in readable]
        operation = DeleteRelation(space=space, uid=uid, readable=keys)
        return self.gateway.execute(operation, caller)

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
        if request.since and request.until and request.until < request.since:
            report("until", "Must not be before since.")
        for uid in request.memories:
            if not is_uid(uid):
                report("source_memory", "Must be the uid of a memory.")
