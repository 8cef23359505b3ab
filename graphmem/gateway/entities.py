"""Entities: two names of one thing are merged, one name of two things is split.

Both can be undone exactly. An entity belongs to the space of an owner and all its personas.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Operation, apply_reactions, with_reactions
from graphmem.gateway.reactions import Changes, Resting, read_resting
from graphmem.gateway.validation import NOT_STORABLE
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller, Role
from graphmem.model.entity import EntityRef, digits_differ, entity_ref, label_from_key, likeness
from graphmem.model.entity_change import ChangeKind, EntityChange, EntityState
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.memory import memory_key
from graphmem.model.policy import WritePolicy
from graphmem.model.relation import relation_key
from graphmem.model.space import Space, space_from_key
from graphmem.model.trace import TraceKind
from graphmem.ports import IdSource
from graphmem.store.entities import (
    Mentioning,
    create_entity,
    later_changes,
    lock_change,
    lock_entities,
    lock_mentioning,
    move_back,
    move_mentions,
    save_change,
    shared_mentions,
)
from graphmem.store.relations import movable_relations, move_relations, move_relations_back
from graphmem.text.normalise import is_storable, one_line

_ALIASES_MAX = 32
_LABEL_MAX_CHARS = WritePolicy().label_max_chars
_NAME_MAX_CHARS = WritePolicy().name_max_chars


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitiesState:
    """What a change of entities reads: them, and the memories whose mentions would move."""

    entities: Mapping[str, EntityState]
    mentioning: Mentioning = field(default_factory=Mentioning)
    shared: int = 0  # memories that mention both
    unknown_relations: Sequence[str] = ()  # keys of none that can go along
    change: EntityChange | None = None  # the one to be undone
    later: Sequence[str] = ()  # changes that build on it
    resting: Resting = ()
    one: str = ""  # the keys that are meant
    other: str = ""


class _EntityOperation(Operation[EntitiesState, EntityChange]):
    """What all changes of entities have in common; ``records`` of the decision is the change."""

    kind = TraceKind.ENTITY
    role = Role.CURATOR

    def react(
        self, state: EntitiesState, decided: Decided[EntityChange], now: datetime
    ) -> Decided[EntityChange]:
        """Let rooms decide what follows from entities that merged or parted."""
        changes = Changes(entities=(decided.answer,))
        return with_reactions(decided, state.resting, changes, now)

    def apply(self, transaction: Workbench, decided: Decided[EntityChange]) -> None:
        """Write the change, and what rooms decided."""
        self.carry_out(transaction, decided.answer)
        apply_reactions(transaction, decided)

    @abstractmethod
    def carry_out(self, transaction: Workbench, change: EntityChange) -> None:
        """Write the change."""


@dataclass(frozen=True, kw_only=True)
class _ChangeOfTwo(_EntityOperation):
    """A change of the entity ``one`` and another one, ``into``.

    ``uid`` is that of the change, ``owner`` a space without persona.
    """

    uid: str
    owner: Space
    one: EntityRef
    into: EntityRef
    caller: Caller
    reason: str | None = None

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that the entities belong to."""
        return (self.owner,)

    @property
    def texts(self) -> Sequence[str]:
        """The reason, if one is given."""
        return [self.reason] if self.reason else []

    def check(self) -> None:
        """Refuse a change of an entity and itself.

        Raises:
            InvalidInput: both are the same.
        """
        _check_two(self.one.key, self.into.key)

    def locked(self, transaction: Workbench) -> EntitiesState:
        """Both entities as far as they are there, under their locks, and what rests on them."""
        keys = [*self.one.keys, *self.into.keys]
        resting = _resting(transaction, self.owner, keys)
        entities = lock_entities(transaction, self.owner, keys)
        labels = {key: state.label for key, state in entities.items()}
        one, other = self.one.meant(labels), self.into.meant(labels)
        _check_two(one, other)
        return EntitiesState(entities=entities, one=one, other=other, resting=resting)

    def made(
        self,
        kind: ChangeKind,
        one: EntityState,
        other: EntityState,
        state: EntitiesState,
        now: datetime,
    ) -> EntityChange:
        """The change, with what speaks for it as far as the graph knows."""
        return EntityChange(
            uid=self.uid,
            kind=kind,
            space=self.owner.key,
            from_key=one.key,
            into_key=other.key,
            evidence=_evidence(one, other, state, self.reason),
            moved=state.mentioning.count,
            created_at=now,
            key_id=self.caller.key_id,
            aliases_before=other.aliases,
        )


@dataclass(frozen=True, kw_only=True)
class MergeEntities(_ChangeOfTwo):
    """Let the entity ``into`` stand for another too: all its mentions move, it becomes an alias."""

    def check(self) -> None:
        """Refuse to merge what can never be one.

        Raises:
            InvalidInput: both are the same, or their digits differ.
        """
        _check_two(self.one.key, self.into.key)
        if digits_differ(self.one.key, self.into.key):
            raise InvalidInput({"into": ["Two names with different digits are never one."]})

    def read(self, transaction: Workbench) -> EntitiesState:
        """Both entities and the memories that mention the one."""
        state = self.locked(transaction)
        return replace(
            state,
            shared=shared_mentions(transaction, self.owner, state.one, state.other),
            mentioning=lock_mentioning(transaction, self.owner, state.one, None),
        )

    def decide(self, state: EntitiesState, now: datetime) -> Decided[EntityChange]:
        """Merge them.

        Raises:
            NotFound: one of them is not there.
            Conflict: one was merged before.
        """
        one, other = (_standing(state.entities, key) for key in (state.one, state.other))
        change = self.made(ChangeKind.MERGE, one, other, state, now)
        change = replace(change, aliases=merged_aliases(one, other))
        return Decided(answer=change, events=(_event(change, Effect.MERGED),))

    def carry_out(self, transaction: Workbench, change: EntityChange) -> None:
        """Move all mentions, and keep the change."""
        move_mentions(transaction, change, None)
        move_relations(transaction, change, None)
        save_change(transaction, change)


@dataclass(frozen=True, kw_only=True)
class SplitEntity(_ChangeOfTwo):
    """Let some memories of an entity mention another one, which is created if need be.

    ``memories`` are keys. Relations that rest on these alone go along, and those of the keys
    ``relations``.
    """

    memories: Sequence[str]
    relations: Sequence[str] = ()

    def read(self, transaction: Workbench) -> EntitiesState:
        """Both entities as far as they are there, and the memories."""
        state = self.locked(transaction)
        mentioning = lock_mentioning(transaction, self.owner, state.one, self.memories)
        movable = movable_relations(transaction, self.owner, state.one, state.other, self.relations)
        unknown = [key for key in self.relations if key not in movable]
        return replace(state, mentioning=mentioning, unknown_relations=unknown)

    def decide(self, state: EntitiesState, now: datetime) -> Decided[EntityChange]:
        """Split it.

        Raises:
            NotFound: the entity is not there.
            InvalidInput: a memory does not mention it.
            Conflict: one was merged before.
        """
        one = _standing(state.entities, state.one)
        is_new = state.other not in state.entities
        other = _new(self.into) if is_new else _standing(state.entities, state.other)
        if state.mentioning.count != len(self.memories):
            message = "Each must be the uid of a memory of this space that mentions it."
            raise InvalidInput({"memories": [message]})
        if state.unknown_relations:
            uids = (key.rpartition("|")[2] for key in state.unknown_relations)
            message = f"No relation that can go along: {', '.join(uids)}."
            raise InvalidInput({"relations": [message]})
        change = replace(self.made(ChangeKind.SPLIT, one, other, state, now), into_is_new=is_new)
        return Decided(answer=change, events=(_event(change, Effect.SPLIT),))

    def carry_out(self, transaction: Workbench, change: EntityChange) -> None:
        """Move the mentions of the memories, and keep the change."""
        if change.into_is_new:
            create_entity(transaction, self.owner, self.into, now=change.created_at)
        move_mentions(transaction, change, self.memories)
        move_relations(transaction, change, self.memories, self.relations)
        save_change(transaction, change)


@dataclass(frozen=True, kw_only=True)
class UndoChange(_EntityOperation):
    """Undo a merge or split: the former graph is restored, except where it was rewritten since."""

    uid: str
    caller: Caller

    @property
    def spaces(self) -> Sequence[Space]:
        """None that is known before the change is read; the decision looks whose it is."""
        return ()

    def spaces_found(self, state: EntitiesState) -> Sequence[Space]:
        """The space of the change, if there is one."""
        return (space_from_key(state.change.space),) if state.change else ()

    def read(self, transaction: Workbench) -> EntitiesState:
        """The change, its entities, and what builds on it."""
        change = lock_change(transaction, self.caller.tenant, self.uid)
        if change is None:
            return EntitiesState(entities={})
        owner, keys = space_from_key(change.space), [change.from_key, change.into_key]
        return EntitiesState(
            resting=_resting(transaction, owner, keys),
            entities=lock_entities(transaction, owner, keys),
            change=change,
            later=later_changes(transaction, change),
        )

    def decide(self, state: EntitiesState, now: datetime) -> Decided[EntityChange]:
        """Undo it.

        Raises:
            NotFound: there is no such change in a space that the key may curate.
            Conflict: it was undone before, or a later change builds on it.
        """
        change = state.change
        if change is None or not self.caller.may(Role.CURATOR, space_from_key(change.space)):
            raise NotFound
        if change.undone_at:
            message = "This change was undone before."
            raise Conflict(message)
        if state.later:
            message = f"Later changes build on this one; undo them first: {', '.join(state.later)}."
            raise Conflict(message)
        undone = replace(change, undone_at=now)
        return Decided(answer=undone, events=(_event(undone, Effect.UNDONE),))

    def carry_out(self, transaction: Workbench, change: EntityChange) -> None:
        """Give the mentions back."""
        move_relations_back(transaction, change)
        move_back(transaction, change)


@dataclass(frozen=True, kw_only=True)
class EntityKeeper:
    """Changes entities for curators and jobs."""

    gateway: Gateway
    ids: IdSource

    def merge(
        self,
        space: Space,
        key: str,
        into: str,
        *,
        caller: Caller,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> EntityChange:
        """Let one entity stand for another too.

        Raises:
            NotFound, InvalidInput, Conflict: see MergeEntities.
            Forbidden: the key may not curate the space.
        """
        operation = MergeEntities(
            uid=self.ids.new("change"),
            owner=space.without_persona,
            one=_ref(key),
            into=_ref(into, "into"),
            caller=caller,
            reason=reason,
        )
        return self.gateway.execute(operation, caller, dry_run=dry_run).answer

    def split(
        self,
        space: Space,
        key: str,
        into: EntityRef,
        memories: Sequence[str],
        *,
        caller: Caller,
        reason: str | None = None,
        relations: Sequence[str] = (),
    ) -> EntityChange:
        """Let some memories of ``space``, by uid, mention another entity.

        Relations that rest on these alone go along, and those of the uids ``relations``.

        Raises:
            NotFound, InvalidInput, Conflict: see SplitEntity.
            Forbidden: the key may not curate the space.
        """
        operation = SplitEntity(
            uid=self.ids.new("change"),
            owner=space.without_persona,
            one=_ref(key),
            into=_ref(into.key, "into", _label(into.label)),
            memories=[memory_key(space, uid) for uid in dict.fromkeys(memories)],
            relations=[relation_key(space, uid) for uid in dict.fromkeys(relations)],
            caller=caller,
            reason=reason,
        )
        return self.gateway.execute(operation, caller).answer

    def undo(self, uid: str, *, caller: Caller) -> EntityChange:
        """Undo a merge or split.

        Raises:
            NotFound, Conflict: see UndoChange.
        """
        return self.gateway.execute(UndoChange(uid=uid, caller=caller), caller).answer


def _check_two(key: str, into: str) -> None:
    if key == into:
        raise InvalidInput({"into": ["Must be another entity."]})


def _resting(transaction: Workbench, owner: Space, keys: Sequence[str]) -> Resting:
    entities = sorted(f"{owner.key}|{key}" for key in keys)
    return read_resting(transaction, transaction.reactions, entities=entities)


def _new(ref: EntityRef) -> EntityState:
    label = ref.label or label_from_key(ref.key)
    return EntityState(key=ref.key, label=label, aliases=(), mentions=0)


def _event(change: EntityChange, effect: Effect) -> Event:
    return Event(
        space=change.space,
        subject=change.uid,
        about=Subject.CHANGE,
        effect=effect,
        detail={"from": change.from_key, "into": change.into_key, "moved": change.moved},
    )


def merged_aliases(one: EntityState, other: EntityState) -> list[str]:
    """The aliases of an entity that also stands for another, its own first."""
    names = dict.fromkeys((*other.aliases, one.label, *one.aliases))
    return [name for name in names if name != other.label][:_ALIASES_MAX]


def _evidence(
    one: EntityState, other: EntityState, state: EntitiesState, reason: str | None
) -> dict[str, object]:
    """What speaks for a change, as far as the graph knows."""
    return {
        "likeness": likeness(one.key, other.key).value,
        "known_as": sorted({one.label, *one.aliases} & {other.label, *other.aliases}),
        "from": {"label": one.label, "aliases": list(one.aliases), "mentions": one.mentions},
        "into": {"label": other.label, "aliases": list(other.aliases), "mentions": other.mentions},
        "mentioned_together": state.shared,
        "memories": list(state.mentioning.sample),
        "reason": reason,
    }


def _ref(text: str, field: str = "key", label: str | None = None) -> EntityRef:
    if not is_storable(text) or len(text) > _NAME_MAX_CHARS:
        raise InvalidInput(
            {
                field: [
                    f"Must be at most {_NAME_MAX_CHARS} characters without NUL or lone surrogates."
                ]
            }
        )
    try:
        return entity_ref(text, label)
    except ValueError as error:
        raise InvalidInput({field: [str(error)]}) from error


def _label(text: str | None) -> str | None:
    if text is not None and not is_storable(text):
        raise InvalidInput({"into.label": [NOT_STORABLE]})
    label = one_line(text) if text is not None else None
    if label is not None and not 1 <= len(label) <= _LABEL_MAX_CHARS:
        raise InvalidInput({"into.label": [f"Must be 1 to {_LABEL_MAX_CHARS} characters."]})
    return label


def _standing(states: Mapping[str, EntityState], key: str) -> EntityState:
    found = states.get(key)
    if found is None:
        raise NotFound
    if found.is_merged:
        message = f"{key} was merged into another entity: undo that first."
        raise Conflict(message)
    return found
