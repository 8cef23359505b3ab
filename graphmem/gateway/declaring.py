"""Declaring: an entity is told what it is called and what is known of it, without any mention.

It belongs to the space of an owner and all its personas. Nothing that memories mention, and nothing
that a merge or split could still need, is deleted.
"""

from collections.abc import Iterator, Mapping, Sequence
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
from graphmem.model.entity import (
    TYPE_FORM,
    Entity,
    EntityRef,
    entity_ref,
    is_entity_type,
    label_from_key,
)
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
    save_entities,
    take_entities,
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
class Declaration:
    """What is said of which entity."""

    ref: EntityRef
    request: EntityRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitiesAsFound:
    """The keys that are meant, in the order of the references, and what is there under them."""

    keys: Sequence[str]
    entities: Mapping[str, Entity]
    ties: Ties | None = None


@dataclass(frozen=True, kw_only=True)
class DeclareEntities(Operation[EntitiesAsFound, tuple[Declared, ...]]):
    """Say what entities of an owner are called and what is known of them.

    One that is not there is made, or where it is to be ``known``, an error.
    """

    kind = TraceKind.ENTITY

    owner: Space
    declarations: Sequence[Declaration]
    known: bool = False

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that the entities belong to."""
        return (self.owner,)

    @property
    def texts(self) -> Sequence[str]:
        """All that is put into words."""
        return [text for each in self.declarations for text in _texts(each.request)]

    def read(self, transaction: Workbench) -> EntitiesAsFound:
        """The entities, locked, whether they are there or not."""
        refs = [each.ref for each in self.declarations]
        keys = _meant(transaction, self.owner, refs)
        return EntitiesAsFound(keys=keys, entities=take_entities(transaction, self.owner, keys))

    def decide(self, state: EntitiesAsFound, now: datetime) -> Decided[tuple[Declared, ...]]:
        """Make them, or write over what is given.

        Raises:
            NotFound: one is to be known and is not there.
            InvalidInput: a new name is that of another entity.
        """
        entities, events, answers = dict(state.entities), [], []
        for key, each in zip(state.keys, self.declarations, strict=True):
            done = self._declared(entities.get(key), key, each.request, now)
            if done.outcome is not Outcome.UNCHANGED:
                events.append(_event(done))
            entities[key] = done.entity
            answers.append(done)
        changed = {event.subject for event in events}
        return Decided(
            answer=tuple(answers),
            events=tuple(events),
            records=[entity for key, entity in entities.items() if key in changed],
        )

    def apply(self, transaction: Workbench, decided: Decided[tuple[Declared, ...]]) -> None:
        """Write the entities that change."""
        save_entities(transaction, decided.records)

    def _declared(
        self, before: Entity | None, key: str, request: EntityRequest, now: datetime
    ) -> Declared:
        if before is None:
            if self.known:
                raise NotFound
            return Declared(_told(_new(self.owner, key, request, now), request), Outcome.CREATED)
        renamed = _renamed(before, request.name) if self.known else before
        told = _told(renamed, request)
        if _contents(told) == _contents(before):
            return Declared(before, Outcome.UNCHANGED)
        return Declared(replace(told, updated_at=request.updated_at or now), Outcome.REVISED)


@dataclass(frozen=True, kw_only=True)
class DeleteEntity(Operation[EntitiesAsFound, Entity]):
    """Remove an entity that nothing mentions and nothing is tied to."""

    kind = TraceKind.ENTITY

    owner: Space
    ref: EntityRef

    @property
    def spaces(self) -> Sequence[Space]:
        """The space that the entity belongs to."""
        return (self.owner,)

    def read(self, transaction: Workbench) -> EntitiesAsFound:
        """The entity, locked, and what it is tied to; a merged one stands for itself here."""
        keys = _meant(transaction, self.owner, [self.ref], also_merged=True)
        return EntitiesAsFound(
            keys=keys,
            entities=take_entities(transaction, self.owner, keys),
            ties=entity_ties(transaction, self.owner, keys[0]),
        )

    def decide(self, state: EntitiesAsFound, now: datetime) -> Decided[Entity]:  # noqa: ARG002
        """Delete it.

        Raises:
            NotFound: it is not there.
            Conflict: memories mention it, relations end at it, or a merge or split needs it.
        """
        (key,) = state.keys
        if key not in state.entities or state.ties is None:
            raise NotFound
        if tied := _tied(state.ties):
            message = f"{key} is not deleted: it has {', '.join(tied)}."
            raise Conflict(message)
        entity = state.entities[key]
        event = Event(
            space=entity.space, subject=key, about=Subject.ENTITY, effect=Effect.ENTITY_DELETED
        )
        return Decided(answer=entity, events=(event,))

    def apply(self, transaction: Workbench, decided: Decided[Entity]) -> None:
        """Remove the entity."""
        delete_entity(transaction, decided.answer)


def _meant(
    transaction: Workbench, owner: Space, refs: Sequence[EntityRef], *, also_merged: bool = False
) -> list[str]:
    """The keys of the entities that are meant, under their locks; merged ones are what they became.

    Where ``also_merged`` says so, these are meant themselves.
    """
    space_keys = {f"{owner.key}|{key}" for ref in refs for key in ref.keys}
    labels, became = lock_standing(transaction, space_keys)
    own = {each.partition("|")[2]: label for each, label in labels.items()}
    keys = [ref.meant(own) for ref in refs]
    return keys if also_merged else [became.get(f"{owner.key}|{key}", key) for key in keys]


def _texts(said: EntityRequest) -> Iterator[str]:
    yield from (text for text in (said.name, said.description, *(said.aliases or ())) if text)
    yield from leaves(dict(said.attributes or {}))


def _event(done: Declared) -> Event:
    is_new = done.outcome is Outcome.CREATED
    return Event(
        space=done.entity.space,
        subject=done.entity.key,
        about=Subject.ENTITY,
        effect=Effect.ENTITY_CREATED if is_new else Effect.ENTITY_REVISED,
    )


def _new(owner: Space, key: str, request: EntityRequest, now: datetime) -> Entity:
    created_at = request.created_at or now
    return Entity(
        key=key,
        space=owner.key,
        label=request.name or label_from_key(key),
        created_at=created_at,
        updated_at=request.updated_at or created_at,
    )


def _renamed(entity: Entity, name: str | None) -> Entity:
    """An entity with the label of a correction, which must be a spelling of its key."""
    if name is None or name == entity.label:
        return entity
    if not _is_spelling(name, entity):
        raise InvalidInput({"name": [f"Must be a spelling of {entity.key}."]})
    return replace(entity, label=name)


def _told(entity: Entity, request: EntityRequest) -> Entity:
    """An entity with all that is given of it."""
    given = request.given
    aliases = request.aliases or () if "aliases" in given else entity.aliases
    told = replace(
        entity,
        is_declared=True,
        aliases=tuple(name for name in dict.fromkeys(aliases) if name != entity.label),
    )
    if "description" in given:
        told = replace(told, description=request.description)
    if "attributes" in given:
        told = replace(told, attributes=request.attributes or {})
    return told


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
    ) -> Executed[tuple[Declared, ...]]:
        """Declare an entity of the owner of a space; what is given is written over one there.

        Raises:
            InvalidInput: a value is not valid; all problems are told.
            Forbidden: the key may not write in the owner's space.
            PolicyRefused: a text may not be stored.
        """
        declarations = [self._checked(space, type_, request)]
        operation = DeclareEntities(owner=space.without_persona, declarations=declarations)
        return self.gateway.execute(operation, caller)

    def restore(
        self, space: Space, declarations: Sequence[Declaration], *, caller: Caller
    ) -> Executed[tuple[Declared, ...]]:
        """Declare entities under the keys that they had before, all or none.

        Raises:
            InvalidInput, Forbidden, PolicyRefused: see declare.
        """
        normal = [
            replace(each, request=_normalised(each.request, most=_KEPT_NAME_MAX_CHARS))
            for each in declarations
        ]
        operation = DeclareEntities(owner=space.without_persona, declarations=normal)
        return self.gateway.execute(operation, caller)

    def revise(
        self, space: Space, ref: EntityRef, request: EntityRequest, *, caller: Caller
    ) -> Executed[tuple[Declared, ...]]:
        """Correct an entity that is there; from then on it is a declared one.

        Raises:
            NotFound: it is not there.
            InvalidInput, Forbidden, PolicyRefused: see declare.
        """
        declaration = Declaration(ref=self._overridden(ref), request=_normalised(request))
        operation = DeclareEntities(
            owner=space.without_persona, declarations=[declaration], known=True
        )
        return self.gateway.execute(operation, caller)

    def delete(self, space: Space, ref: EntityRef, *, caller: Caller) -> Executed[Entity]:
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

    def _checked(self, space: Space, type_: str, request: EntityRequest) -> Declaration:
        """What a declaration says, in the forms that it is kept in, of the entity that it names."""
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
        return Declaration(ref=found[0], request=_in_their_forms(request))


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
