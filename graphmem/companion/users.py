"""Users: whom the personas of a tenant know, and what an operator wrote of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.model.companion import CompanionUser
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.companions import lock_user, save_seed, save_user


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedUser:
    """A user as he was saved, and whether he is new."""

    user: CompanionUser
    is_new: bool


def user_saved(space: Space) -> Event:
    """That something of a user changed, or that he is known from now on."""
    return Event(space=space.key, subject=space.owner, about=Subject.USER, effect=Effect.USER_SAVED)


@dataclass(frozen=True, kw_only=True)
class SaveUser(Operation[CompanionUser, SavedUser]):
    """Say who a user is: his email, or his seed; what is not named stays."""

    kind = TraceKind.COMPANION

    space: Space
    values: Mapping[str, Any]

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the user."""
        return (self.space,)

    @property
    def texts(self) -> Sequence[str]:
        """All that is said of him."""
        return [value for value in self.values.values() if value]

    def read(self, transaction: Workbench) -> CompanionUser:
        """The user, locked, whether he is known or not."""
        return lock_user(transaction, self.space)

    def decide(self, state: CompanionUser, now: datetime) -> Decided[SavedUser]:
        """The user with these values, who is known from now on."""
        is_new = state.created_at is None
        saved = replace(state, **self.values)
        is_seeded = saved.seed != state.seed
        if saved == state and not is_new:
            return Decided(answer=SavedUser(user=state, is_new=False))
        saved = replace(
            saved,
            created_at=state.created_at or now,
            updated_at=now,
            seeded_at=now if is_seeded else state.seeded_at,
        )
        answer = SavedUser(user=saved, is_new=is_new)
        return Decided(answer=answer, events=(user_saved(self.space),), records=(saved, is_seeded))

    def apply(self, transaction: Workbench, decided: Decided[SavedUser]) -> None:
        """Write what changes."""
        if decided.records is None:
            return
        saved, is_seeded = decided.records
        save_user(transaction, saved)
        if is_seeded:
            save_seed(transaction, saved)
