"""Declaring: an entity is told what it is called and what is known of it, without any mention.

It belongs to the space of an owner and all its personas. Nothing that memories mention, and nothing
that a merge or split could still need, is deleted.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Executed, Operation
from graphmem.gateway.screening import leaves
from graphmem.gateway.validation import Report, check_json, check_text, collected
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.entity import TYPE_FORM, Entity, EntityRef, entity_ref, is_entity_type
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy import WritePolicy
from graphmem.model.space import Space, parse_writable_space
from graphmem.model.trace import TraceKind
from graphmem.model.writing import Outcome
from graphmem.store.entities import (
    Ties,
    delete_entity,
    entity_ties,
    lock_standing,
    save_entity,
    take_entity,
)
from graphmem.store.mapping import attributes_text
from graphmem.text.normalise import one_line

ALIASES_MAX = 32
DESCRIPTION_MAX_CHARS = 2_000
NAME_MAX_CHARS = WritePolicy().label_max_chars
_KEPT_NAME_MAX_CHARS = 2_048  # of a label or alias that an older version or a key made
_ATTRIBUTES = replace(WritePolicy(), metadata_max_bytes=4_096)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRequest:
    """What is said of an entity; only what is ``given`` is written, and None takes it away."""

    name: str | None = None
    description: str | None = None
    aliases: Sequence[str] | None = None
    attributes: Mapping[str, Any] | None = None
    given: frozenset[str] = frozenset()
    created_at: datetime | None = None  # of an import
    updated_at: datetime | None = None


class Declared(NamedTuple):
    """What became of an entity."""

    entity: Entity
    outcome: Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityAsFound:
    """An entity as an operation finds it, and the key under which it lies."""

    key: str
    entity: Entity | None
    ties: Ties | None = None


@dataclass(frozen=True, kw_only=True)
class _OneEntity(Operation[EntityAsFound, Declared]):
    """A change of one entity; ``owner`` is a space without persona."""

    kind = TraceKind.ENTITY

    owner: Space
    ref: EntityRef

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that the entity belongs to."""
        return (self.owner,)

    def meant(self, transaction: Workbench) -> str:
        """The key of the entity that is meant, under its lock; of a merged one what it became."""
        space_keys = {f"{self.owner.key}|{key}": key for key in self.ref.keys}
        labels, became = lock_standing(transaction, space_keys.keys())
        key = self.ref.meant({space_keys[each]: label for each, label in labels.items()})
        return became.get(f"{self.owner.key}|{key}", key) if self.follows_merges else key

    @property
    def follows_merges(self) -> bool:
        """Whether a merged entity stands for what it became."""
        return True

    def decided(self, entity: Entity, effect: Effect, outcome: Outcome) -> Decided[Declared]:
        """The decision for an entity that changes."""
        event = Event(space=self.owner.key, subject=entity.key, about=Subject.ENTITY, effect=effect)
        return Decided(answer=Declared(entity, outcome), events=(event,))

    def apply(self, transaction: Workbench, decided: Decided[Declared]) -> None:
        """Write what changes."""
        if decided.events:
            self.carry_out(transaction, decided.answer.entity)

    @abstractmethod
    def carry_out(self, transaction: Workbench, entity: Entity) -> None:
        """Write the entity."""


@dataclass(frozen=True, kw_only=True)
class DeclareEntity(_OneEntity):
    """Say what an entity is called and what is known of it; it is made if it is not there."""

    request: EntityRequest
    is_known: bool = False  # whether one that is not there is an error

    @property
    def texts(self) -> Sequence[str]:
        """All that is put into words."""
        said = self.request
        names = [text for text in (said.name, said.description, *(said.aliases or ())) if text]
        return [*names, *leaves(dict(said.attributes or {}))]

    def read(self, transaction: Workbench) -> EntityAsFound:
        """The entity, locked, whether it is there or not."""
        key = self.meant(transaction)
        return EntityAsFound(key=key, entity=take_entity(transaction, self.owner, key))

    def decide(self, state: EntityAsFound, now: datetime) -> Decided[Declared]:
        """Make it, or write over what is given.

        Raises:
            NotFound: it is to be there and is not.
            InvalidInput: its new name is that of another entity.
        """
        if state.entity is None:
            if self.is_known:
                raise NotFound
            made = self._told(self._new(state.key, now))
            return self.decided(made, Effect.ENTITY_CREATED, Outcome.CREATED)
        told = self._told(self._renamed(state.entity))
        if _contents(told) == _contents(state.entity):
            return Decided(answer=Declared(state.entity, Outcome.UNCHANGED))
        told = replace(told, updated_at=self.request.updated_at or now)
        return self.decided(told, Effect.ENTITY_REVISED, Outcome.REVISED)

    def carry_out(self, transaction: Workbench, entity: Entity) -> None:
        """Write the entity."""
        save_entity(transaction, entity)

    def _new(self, key: str, now: datetime) -> Entity:
        created_at = self.request.created_at or now
        return Entity(
            key=key,
            space=self.owner.key,
            label=self.request.name or "",
            created_at=created_at,
            updated_at=self.request.updated_at or created_at,
        )

    def _renamed(self, entity: Entity) -> Entity:
        """An entity with the label of a correction; a declaration leaves the one that it has."""
        name = self.request.name
        if not (self.is_known and name):
            return entity
        if name != entity.label and not _is_spelling(name, entity):
            raise InvalidInput({"name": [f"Must be a spelling of {entity.key}."]})
        return replace(entity, label=name)

    def _told(self, entity: Entity) -> Entity:
        given = self.request.given
        aliases = self.request.aliases or () if "aliases" in given else entity.aliases
        told = replace(
            entity,
            is_declared=True,
            aliases=tuple(name for name in dict.fromkeys(aliases) if name != entity.label),
        )
        if "description" in given:
            told = replace(told, description=self.request.description)
        if "attributes" in given:
            told = replace(told, attributes=self.request.attributes or {})
        return told


@dataclass(frozen=True, kw_only=True)
class DeleteEntity(_OneEntity):
    """Remove an entity that nothing mentions and nothing is tied to."""

    @property
    def follows_merges(self) -> bool:
        """Whether a merged entity stands for what it became: here it does not."""
        return False

    def read(self, transaction: Workbench) -> EntityAsFound:
        """The entity, locked, and what it is tied to."""
        key = self.meant(transaction)
        entity = take_entity(transaction, self.owner, key)
        return EntityAsFound(key=key, entity=entity, ties=entity_ties(transaction, self.owner, key))

    def decide(self, state: EntityAsFound, now: datetime) -> Decided[Declared]:  # noqa: ARG002
        """Delete it.

        Raises:
            NotFound: it is not there.
            Conflict: memories mention it, relations end at it, or a merge or split needs it.
        """
        if state.entity is None or state.ties is None:
            raise NotFound
        if tied := _tied(state.ties):
            message = f"{state.key} is not deleted: it has {', '.join(tied)}."
            raise Conflict(message)
        return self.decided(state.entity, Effect.ENTITY_DELETED, Outcome.UNCHANGED)

    def carry_out(self, transaction: Workbench, entity: Entity) -> None:
        """Remove the entity."""
        delete_entity(transaction, entity)


def _is_spelling(name: str, entity: Entity) -> bool:
    with suppress(ValueError):
        return entity_ref(f"{entity.type}:{name}").key == entity.key
    return False


def _tied(ties: Ties) -> list[str]:
    """What an entity is tied to, each with its number."""
    counted = (
        (ties.mentions, "mention", "mentions"),
        (ties.relations, "relation", "relations"),
        (ties.merges, "merge", "merges"),
        (ties.changes, "change that can be undone", "changes that can be undone"),
    )
    return [f"{count:,} {one if count == 1 else more}" for count, one, more in counted if count]


def _contents(entity: Entity) -> tuple[object, ...]:
    """What a declaration may change; attributes as text, in which 1 and true differ."""
    words = (entity.label, entity.aliases, entity.description, entity.is_declared)
    return (*words, attributes_text(entity.attributes))


@dataclass(frozen=True, kw_only=True)
class EntityRegister:
    """Declares, corrects and deletes entities."""

    gateway: Gateway
    overrides: Mapping[str, str] = field(default_factory=dict)

    def declare(
        self, space: Space, type_: str, request: EntityRequest, *, caller: Caller
    ) -> Executed[Declared]:
        """Declare an entity of the owner of a space; what is given is written over one there.

        Raises:
            InvalidInput: a value is not valid; all problems are told.
            Forbidden: the key may not write in the owner's space.
            PolicyRefused: a text may not be stored.
        """
        ref, normal = self._checked(space, type_, request)
        operation = DeclareEntity(owner=space.without_persona, ref=ref, request=normal)
        return self.gateway.execute(operation, caller)

    def restore(
        self, space: Space, ref: EntityRef, request: EntityRequest, *, caller: Caller
    ) -> Executed[Declared]:
        """Declare an entity under the key that it had before.

        Raises:
            InvalidInput, Forbidden, PolicyRefused: see declare.
        """
        normal = _normalised(request, most=_KEPT_NAME_MAX_CHARS)
        operation = DeclareEntity(owner=space.without_persona, ref=ref, request=normal)
        return self.gateway.execute(operation, caller)

    def revise(
        self, space: Space, ref: EntityRef, request: EntityRequest, *, caller: Caller
    ) -> Executed[Declared]:
        """Correct an entity that is there; from then on it is a declared one.

        Raises:
            NotFound: it is not there.
            InvalidInput, Forbidden, PolicyRefused: see declare.
        """
        operation = DeclareEntity(
            owner=space.without_persona,
            ref=self._overridden(ref),
            request=_normalised(request),
            is_known=True,
        )
        return self.gateway.execute(operation, caller)

    def delete(self, space: Space, ref: EntityRef, *, caller: Caller) -> Executed[Declared]:
        """Delete an entity that nothing is tied to.

        Raises:
            NotFound, Conflict: see DeleteEntity.
            Forbidden: the key may not write in the owner's space.
        """
        operation = DeleteEntity(owner=space.without_persona, ref=self._overridden(ref))
        return self.gateway.execute(operation, caller)

    def _overridden(self, ref: EntityRef) -> EntityRef:
        meant = self.overrides.get(ref.key)
        return EntityRef(key=meant) if meant else ref

    def _checked(
        self, space: Space, type_: str, request: EntityRequest
    ) -> tuple[EntityRef, EntityRequest]:
        """The entity that a declaration names, and the forms of its texts."""
        found: list[EntityRef] = []

        def check(report: Report) -> None:
            try:
                parse_writable_space(space.name, tenant=space.tenant)
            except ValueError as error:
                report("space", str(error))
            _check_words(request, report)
            if not is_entity_type(type_):
                report("type", TYPE_FORM)
                return
            try:
                found.append(entity_ref(f"{type_}:{request.name}", overrides=self.overrides))
            except ValueError as error:
                report("name", str(error))

        if wrong := collected(check):
            raise InvalidInput(wrong)
        return found[0], _in_their_forms(request)


def _normalised(request: EntityRequest, most: int = NAME_MAX_CHARS) -> EntityRequest:
    if wrong := collected(lambda report: _check_words(request, report, most)):
        raise InvalidInput(wrong)
    return _in_their_forms(request)


def _check_words(request: EntityRequest, report: Report, most: int = NAME_MAX_CHARS) -> None:
    if request.name is not None:
        check_text("name", request.name, most, report)
    if request.description is not None:
        check_text("description", request.description, DESCRIPTION_MAX_CHARS, report)
    aliases = request.aliases or ()
    if len(aliases) > ALIASES_MAX:
        report("aliases", f"At most {ALIASES_MAX}.")
    for index, alias in enumerate(aliases[:ALIASES_MAX]):
        check_text(f"aliases.{index}", alias, most, report)
    check_json("attributes", request.attributes, _ATTRIBUTES, report)


def _in_their_forms(request: EntityRequest) -> EntityRequest:
    name, description, aliases = request.name, request.description, request.aliases
    return replace(
        request,
        name=one_line(name) if name is not None else None,
        description=one_line(description) if description is not None else None,
        aliases=tuple(map(one_line, aliases)) if aliases is not None else None,
    )
