"""Overrides: what variants of a name mean for one user, and which names may be variants."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from graphmem.companion.entity_refs import is_ref
from graphmem.companion.sessions import known_user
from graphmem.companion.users import user_saved
from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.declaring import Declaration, EntityRegister, EntityRequest
from graphmem.gateway.entities import EntityKeeper
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller, Role
from graphmem.model.companion import CompanionUser
from graphmem.model.entity import EntityRef, Likeness, digits_differ, likeness
from graphmem.model.entity_change import EntityState
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.companions import find_user, lock_user, names_of, save_user
from graphmem.store.connection import Connection

OVERRIDES_MAX = 500
_NOTHING = EntityRequest()
_COMPARED = 200  # entities of one type, those that are mentioned most
_FORM = "Must be a key such as person:john_doe."


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """Two entities whose names are near each other; the one that is mentioned more is ``into``."""

    one: EntityState
    into: EntityState
    likeness: Likeness


def suggestions(entities: Iterable[EntityState], known: Mapping[str, str]) -> list[Suggestion]:
    """The near pairs among the entities of a user that are mentioned most, the nearest first."""
    by_type: dict[str, list[EntityState]] = defaultdict(list)
    for entity in sorted(entities, key=lambda each: (-each.mentions, each.key)):
        kind = entity.key.partition(":")[0]
        if not entity.is_merged and entity.key not in known and len(by_type[kind]) < _COMPARED:
            by_type[kind].append(entity)
    found = [
        Suggestion(one=less, into=more, likeness=how)
        for group in by_type.values()
        for more, less in combinations(group, 2)
        if (how := likeness(more.key, less.key)) is not Likeness.UNLIKE
        and not digits_differ(more.key, less.key)
    ]
    order = list(Likeness)
    return sorted(found, key=lambda each: (order.index(each.likeness), each.one.key, each.into.key))


@dataclass(frozen=True, kw_only=True)
class SaveOverrides(Operation[CompanionUser, None]):
    """Say what variants mean for a user, instead of what was said before."""

    kind = TraceKind.COMPANION

    space: Space
    overrides: Mapping[str, str]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the user."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """The variants and what they mean."""
        return [text for pair in self.overrides.items() for text in pair]

    def check(self) -> None:
        """Refuse what is no map of keys.

        Raises:
            InvalidInput: something is wrong, by ``overrides.<variant>``.
        """
        if len(self.overrides) > OVERRIDES_MAX:
            raise InvalidInput({"overrides": [f"At most {OVERRIDES_MAX}."]})
        wrong = {
            f"overrides.{variant}": [problem]
            for variant, key in self.overrides.items()
            if (problem := _problem(variant, key, self.overrides))
        }
        if wrong:
            raise InvalidInput(wrong)

    def read(self, transaction: Workbench) -> CompanionUser:
        """The user, locked."""
        return lock_user(transaction, self.space)

    def decide(self, state: CompanionUser, now: datetime) -> Decided[None]:
        """The user with these overrides, unless he has them."""
        if state.overrides == self.overrides:
            return Decided(answer=None)
        saved = replace(known_user(state, now), overrides=dict(self.overrides), updated_at=now)
        return Decided(answer=None, events=(user_saved(self.space),), records=saved)

    def apply(self, transaction: Workbench, decided: Decided[None]) -> None:
        """Write the user, if something changed."""
        if decided.records:
            save_user(transaction, decided.records)


def _problem(variant: str, key: str, overrides: Mapping[str, str]) -> str | None:
    if not (is_ref(variant) and is_ref(key)):
        return _FORM
    if variant.partition(":")[0] != key.partition(":")[0]:
        return "Both must be of one type."
    if key in overrides or variant == key:
        return "What a variant means must not be a variant itself."
    return "Two names with different digits are never one." if digits_differ(variant, key) else None


@dataclass(frozen=True, kw_only=True)
class OverrideKeeper:
    """Keeps what variants mean, and merges what is stored under them."""

    gateway: Gateway
    connection: Connection
    entities: EntityKeeper
    register: EntityRegister

    def save(
        self, space: Space, overrides: Mapping[str, str], *, caller: Caller
    ) -> tuple[str, ...]:
        """Say what variants mean for a user; the merges of what was stored under new ones.

        Raises:
            InvalidInput: see SaveOverrides.
        """
        operation = SaveOverrides(space=space, overrides=overrides)
        operation.check()
        user = find_user(self.connection, space)
        before = user.overrides if user else {}
        new = {each: key for each, key in overrides.items() if before.get(each) != key}
        names = names_of(self.connection, space, {*new, *new.values()})
        stored = {each: key for each, key in new.items() if names.get(each) == each}
        missing = sorted({key for key in stored.values() if key not in names})
        if missing:
            declared = [Declaration(ref=EntityRef(key=key), request=_NOTHING) for key in missing]
            self.register.restore(space, declared, caller=caller)
        # what a variant means is a user's own matter: his writers may say so
        curator = replace(caller, role=Role.CURATOR)
        merges = [self._merged(space, each, key, curator) for each, key in stored.items()]
        self.gateway.execute(operation, caller)  # at last: what failed before is tried again
        return tuple(uid for uid in merges if uid)

    def _merged(self, space: Space, variant: str, key: str, caller: Caller) -> str | None:
        """Let an entity stand for a variant too, unless somebody merged one of them meanwhile."""
        with suppress(NotFound, Conflict):
            return self.entities.merge(space, variant, key, caller=caller).uid
        return None
