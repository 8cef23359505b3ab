"""Entities: two names of one thing are merged, one name of two things is split.

Both can be undone exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.errors import Conflict, Forbidden, InvalidInput, NotFound
from graphmem.gateway.validation import NOT_STORABLE
from graphmem.model.caller import Caller, Role
from graphmem.model.entity import EntityRef, digits_differ, entity_key, likeness
from graphmem.model.entity_change import ChangeKind, EntityChange, EntityState
from graphmem.model.memory import memory_key
from graphmem.model.policy import WritePolicy
from graphmem.model.space import Space, space_from_key
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.ports import Clock, IdSource
from graphmem.store.connection import Connection, Transaction
from graphmem.store.entities import (
    create_entity,
    later_changes,
    lock_change,
    lock_entities,
    move_back,
    move_mentions,
    save_change,
    shared_mentions,
)
from graphmem.store.traces import save_trace
from graphmem.text.normalise import is_storable, normalise

_ALIASES_MAX = 32
_LABEL_MAX_CHARS = WritePolicy().label_max_chars
_NAME_MAX_CHARS = WritePolicy().name_max_chars


@dataclass(frozen=True, kw_only=True)
class EntityKeeper:
    """Changes entities for curators.

    An entity belongs to the space of an owner and all its personas.
    """

    connection: Connection
    clock: Clock
    ids: IdSource

    def merge(
        self, space: Space, key: str, into: str, *, caller: Caller, reason: str | None = None
    ) -> EntityChange:
        """Let one entity stand for another too: all its mentions move, and it becomes an alias.

        Raises:
            NotFound: one of them is not there.
            InvalidInput: both are the same, or their digits differ.
            Conflict: one was merged before.
            Forbidden: the key may not curate the space.
        """
        owner = _curated(space, caller)
        key, into = _key(key), _key(into, "into")
        if key == into:
            raise InvalidInput({"into": ["Must be another entity."]})
        if digits_differ(key, into):
            raise InvalidInput({"into": ["Two names with different digits are never one."]})

        def work(transaction: Transaction) -> EntityChange:
            states = lock_entities(transaction, owner, [key, into])
            one, other = _standing(states, key), _standing(states, into)
            shared = shared_mentions(transaction, owner, key, into)
            change = self._change(ChangeKind.MERGE, owner, one, other, caller)
            moved, sample = move_mentions(transaction, change, None)
            evidence = _evidence(one, other, shared=shared, sample=sample, reason=reason)
            change = replace(change, moved=moved, evidence=evidence)
            save_change(transaction, change, aliases=merged_aliases(one, other))
            return self._traced(transaction, change, caller, "merged")

        return self.connection.write(work)

    def split(
        self,
        space: Space,
        key: str,
        into: EntityRef,
        memories: Sequence[str],
        *,
        caller: Caller,
        reason: str | None = None,
    ) -> EntityChange:
        """Let some memories of an entity mention another one, which is created if need be.

        ``memories`` are uids in ``space``.

        Raises:
            NotFound: the entity is not there.
            InvalidInput: both are the same, or a memory does not mention it.
            Conflict: one was merged before.
            Forbidden: the key may not curate the space.
        """
        owner = _curated(space, caller)
        key, into = _key(key), EntityRef(key=_key(into.key, "into"), label=_label(into.label))
        if key == into.key:
            raise InvalidInput({"into": ["Must be another entity."]})
        uids = list(dict.fromkeys(memories))

        def work(transaction: Transaction) -> EntityChange:
            one = _standing(lock_entities(transaction, owner, [key]), key)
            is_new = create_entity(transaction, owner, into, now=self.clock.now())
            other = _standing(lock_entities(transaction, owner, [into.key]), into.key)
            change = replace(
                self._change(ChangeKind.SPLIT, owner, one, other, caller), into_is_new=is_new
            )
            moved, sample = move_mentions(
                transaction, change, [memory_key(space, uid) for uid in uids]
            )
            if moved != len(uids):
                raise InvalidInput(
                    {
                        "memories": [
                            "Each must be the uid of a memory of this space that mentions it."
                        ]
                    }
                )
            evidence = _evidence(one, other, shared=0, sample=sample, reason=reason)
            change = replace(change, moved=moved, evidence=evidence)
            save_change(transaction, change, aliases=None)
            return self._traced(transaction, change, caller, "split")

        return self.connection.write(work)

    def undo(self, uid: str, *, caller: Caller) -> EntityChange:
        """Undo a merge or split: the former graph is restored, except where it was rewritten since.

        Raises:
            NotFound: there is no such change in a space that the key may curate.
            Conflict: it was undone before, or a later change builds on it.
        """
        now = self.clock.now()

        def work(transaction: Transaction) -> EntityChange:
            change = lock_change(transaction, caller.tenant, uid)
            if change is None or not caller.may(Role.CURATOR, space_from_key(change.space)):
                raise NotFound
            if change.undone_at:
                message = "This change was undone before."
                raise Conflict(message)
            lock_entities(
                transaction, space_from_key(change.space), [change.from_key, change.into_key]
            )
            if later := later_changes(transaction, change):
                message = f"Later changes build on this one; undo them first: {', '.join(later)}."
                raise Conflict(message)
            move_back(transaction, change, now=now)
            return self._traced(transaction, replace(change, undone_at=now), caller, "undone")

        return self.connection.write(work)

    def _change(
        self, kind: ChangeKind, owner: Space, one: EntityState, other: EntityState, caller: Caller
    ) -> EntityChange:
        return EntityChange(
            uid=self.ids.new("change"),
            kind=kind,
            space=owner.key,
            from_key=one.key,
            into_key=other.key,
            evidence={},
            moved=0,
            created_at=self.clock.now(),
            key_id=caller.key_id,
            aliases_before=other.aliases,
        )

    def _traced(
        self, transaction: Transaction, change: EntityChange, caller: Caller, outcome: str
    ) -> EntityChange:
        event = {
            "outcome": outcome,
            "change": change.uid,
            "from": change.from_key,
            "into": change.into_key,
            "moved": change.moved,
        }
        trace = TraceRecord(
            uid=self.ids.new("trace"),
            kind=TraceKind.ENTITY,
            tenant=caller.tenant,
            spaces=(change.space,),
            key_id=caller.key_id,
            created_at=self.clock.now(),
            events=[event],
        )
        save_trace(transaction, trace)
        return change


def merged_aliases(one: EntityState, other: EntityState) -> list[str]:
    """The aliases of an entity that also stands for another: its own, then the other's label and aliases."""
    names = dict.fromkeys((*other.aliases, one.label, *one.aliases))
    return [name for name in names if name != other.label][:_ALIASES_MAX]


def _evidence(
    one: EntityState, other: EntityState, *, shared: int, sample: Sequence[str], reason: str | None
) -> dict[str, object]:
    """What speaks for a change, as far as the graph knows."""
    return {
        "likeness": likeness(one.key, other.key).value,
        "known_as": sorted({one.label, *one.aliases} & {other.label, *other.aliases}),
        "from": {"label": one.label, "aliases": list(one.aliases), "mentions": one.mentions},
        "into": {"label": other.label, "aliases": list(other.aliases), "mentions": other.mentions},
        "mentioned_together": shared,
        "memories": list(sample),
        "reason": reason,
    }


def _curated(space: Space, caller: Caller) -> Space:
    owner = space.without_persona
    if not caller.may(Role.CURATOR, owner):
        raise Forbidden
    return owner


def _key(text: str, field: str = "key") -> str:
    if not is_storable(text) or len(text) > _NAME_MAX_CHARS:
        raise InvalidInput(
            {
                field: [
                    f"Must be at most {_NAME_MAX_CHARS} characters without NUL or lone surrogates."
                ]
            }
        )
    try:
        return entity_key(text)
    except ValueError as error:
        raise InvalidInput({field: [str(error)]}) from error


def _label(text: str | None) -> str | None:
    if text is not None and not is_storable(text):
        raise InvalidInput({"into.label": [NOT_STORABLE]})
    label = normalise(text) if text is not None else None
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
