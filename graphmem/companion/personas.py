"""Personas: curators say who speaks with the users of their tenant, and how."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.screening import screen
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Role
from graphmem.model.companion import Persona
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy import Policy
from graphmem.model.space import Space, SpaceKind
from graphmem.model.trace import TraceKind
from graphmem.store.personas import lock_persona, save_persona

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
# words that paths have where a persona may stand
_WORDS_OF_PATHS = frozenset(
    "companions context entity-overrides entity-suggestions memories messages personas recall"
    " rolling-summaries seed sessions spine state todos".split()
)
SLUG_FORM = (
    "Must be 1 to 64 of a-z, 0-9, _ and -, begin with a letter or digit, and be none of"
    f" {', '.join(sorted(_WORDS_OF_PATHS))}."
)


def is_slug(text: str) -> bool:
    """Whether a text can name a persona."""
    return _SLUG.fullmatch(text) is not None and text not in _WORDS_OF_PATHS


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedPersona:
    """A persona as it was saved, and whether it is new."""

    persona: Persona
    is_new: bool


@dataclass(frozen=True, kw_only=True)
class SavePersona(Operation[Persona | None, SavedPersona]):
    """Say what a persona is; what is not named of one that is there stays."""

    kind = TraceKind.PERSONA
    role = Role.CURATOR

    tenant: str
    slug: str
    values: Mapping[str, Any]
    policy: Policy

    @property
    def spaces(self) -> Sequence[Space]:
        """None: a persona belongs to its tenant."""
        return ()

    def check(self) -> None:
        """Refuse what cannot be a persona.

        Raises:
            InvalidInput: its slug is none.
            PolicyRefused: its words may not be stored.
        """
        if not is_slug(self.slug):
            raise InvalidInput({"slug": [SLUG_FORM]})
        screen([value for value in self.values.values() if isinstance(value, str)], self.policy)

    def read(self, transaction: Workbench) -> Persona | None:
        """The persona, locked, if it is there."""
        return lock_persona(transaction, self.tenant, self.slug)

    def decide(self, state: Persona | None, now: datetime) -> Decided[SavedPersona]:
        """Save it.

        Raises:
            InvalidInput: a new one has no name.
        """
        if state is None and "name" not in self.values:
            raise InvalidInput({"name": ["Missing data for required field."]})
        known = state or Persona(tenant=self.tenant, slug=self.slug, name="", created_at=now)
        saved = replace(known, **self.values)
        if saved == known:
            return Decided(answer=SavedPersona(persona=known, is_new=False))
        saved = replace(saved, updated_at=now)
        event = Event(
            space=Space(tenant=self.tenant, kind=SpaceKind.SYSTEM, owner="companion").key,
            subject=self.slug,
            about=Subject.PERSONA,
            effect=Effect.PERSONA_SAVED,
        )
        answer = SavedPersona(persona=saved, is_new=state is None)
        return Decided(answer=answer, events=(event,), records=saved)

    def apply(self, transaction: Workbench, decided: Decided[SavedPersona]) -> None:
        """Write it, if it changes."""
        if decided.records:
            save_persona(transaction, decided.records)
