"""The keeper of the companion: personas, users and their memories, for callers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem.companion.context import ContextKeeper
from graphmem.companion.entity_refs import refs_of
from graphmem.companion.keeping import Judgement, KeepJudged
from graphmem.companion.messages import Messages
from graphmem.companion.overrides import OverrideKeeper, Suggestion, suggestions
from graphmem.companion.personas import SavedPersona, SavePersona
from graphmem.companion.planning import PlannedFact, request_of_fact
from graphmem.companion.projection import FACT_TYPES, fact_of
from graphmem.companion.recall import CompanionRecall
from graphmem.companion.todo_keeper import TodoKeeper
from graphmem.companion.users import SavedUser, SaveUser
from graphmem.errors import NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Executed
from graphmem.gateway.preparation import Preparation
from graphmem.model.caller import Caller
from graphmem.model.companion import (
    ROOM,
    CompanionUser,
    Fact,
    FactKind,
    FactStatus,
    NewFact,
    Persona,
)
from graphmem.model.memory import Status
from graphmem.model.page import Cursor, Page
from graphmem.model.policy import Policy
from graphmem.model.space import Space
from graphmem.store.companions import find_user, names_of
from graphmem.store.connection import Connection
from graphmem.store.kept import KeptFilter, KeptMemories
from graphmem.store.personas import Personas
from graphmem.store.spaces import SpacePolicies
from graphmem.store.summaries import Summaries
from graphmem.store.upkeep import Upkeep

_STATUSES: Mapping[FactStatus, Sequence[Status]] = {
    FactStatus.ACTIVE: (Status.ACTIVE,),
    FactStatus.ARCHIVED: (Status.ARCHIVED, Status.SUPERSEDED, Status.RETRACTED),
}


@dataclass(frozen=True, kw_only=True)
class CompanionKeeper:
    """Keeps what personas know of users."""

    gateway: Gateway
    preparation: Preparation
    policy: Policy
    policies: SpacePolicies
    connection: Connection
    personas: Personas
    kept: KeptMemories
    messages: Messages
    todos: TodoKeeper
    recall: CompanionRecall
    contexts: ContextKeeper
    overrides: OverrideKeeper
    upkeep: Upkeep
    summaries: Summaries

    def save_persona(
        self, slug: str, values: Mapping[str, Any], *, caller: Caller
    ) -> Executed[SavedPersona]:
        """Say what a persona of the caller's tenant is; what is not named stays.

        Raises:
            InvalidInput: its slug is none, or a new one has no name.
            PolicyRefused: its words may not be stored.
        """
        operation = SavePersona(
            tenant=caller.tenant, slug=slug, values=values, policy=self.policies.base
        )
        return self.gateway.execute(operation, caller)

    def persona(self, tenant: str, slug: str) -> Persona:
        """A persona of a tenant.

        Raises:
            NotFound: there is none of that slug.
        """
        found = self.personas.find(tenant, slug)
        if found is None:
            message = f"There is no persona {slug}."
            raise NotFound(message)
        return found

    def save_user(
        self, space: Space, values: Mapping[str, Any], *, caller: Caller
    ) -> Executed[SavedUser]:
        """Say who a user is; what is not named stays."""
        return self.gateway.execute(SaveUser(space=space, values=values), caller)

    def user(self, space: Space) -> CompanionUser:
        """The user of a space.

        Raises:
            NotFound: nobody knows him.
        """
        found = find_user(self.connection, space)
        if found is None:
            raise NotFound
        return found

    def overrides_of(self, space: Space) -> Mapping[str, str]:
        """What variants of refs mean for a user."""
        found = find_user(self.connection, space)
        return found.overrides if found else {}

    def suggestions(self, space: Space) -> list[Suggestion]:
        """Near pairs among the entities of a user, the nearest first."""
        return suggestions(self.upkeep.entities(space.key), self.overrides_of(space))

    def store(self, space: Space, fact: NewFact, *, caller: Caller) -> Executed[Judgement | None]:
        """Keep a memory of a user, or where the space has a persona, one that only this one sees.

        Raises:
            NotFound: there is no such persona.
            GraphmemError: it may not be stored.
        """
        if space.persona:
            self.persona(space.tenant, space.persona)
        meant = {**self.policy.entities.overrides, **self.overrides_of(space.without_persona)}
        fact = replace(fact, entity_refs=refs_of(fact.entity_refs, meant))
        request = request_of_fact(fact, space=space, at=self.messages.clock.now())
        ready = self.preparation.ready([request], caller)
        operation = KeepJudged(
            space=space.without_persona,
            policy=self.policy,
            config=self.policies.of(space).companion,
            facts=[PlannedFact(fact=fact, item=item) for item in ready.items],
            names=names_of(self.connection, space.without_persona, fact.entity_refs),
            vectors=ready.vectors,
        )
        done = self.gateway.execute(operation, caller)
        error = done.answer.facts[0].error if done.answer else None
        if error:
            raise error
        return done

    def facts(
        self,
        spaces: Sequence[Space],
        *,
        kind: FactKind | None,
        status: FactStatus | None,
        after: Cursor | None,
        limit: int,
    ) -> Page[Fact]:
        """One page of the memories of some spaces, the newest first."""
        statuses = _STATUSES[status] if status else tuple(Status)
        wanted = KeptFilter(
            kept_by=ROOM,
            spaces=spaces,
            types=FACT_TYPES,
            statuses=statuses,
            prefix=f"{kind.lower()}|" if kind else "",
        )
        page = self.kept.page(wanted, after, limit=limit)
        return Page(items=tuple(map(fact_of, page.items)), total=page.total, next=page.next)
