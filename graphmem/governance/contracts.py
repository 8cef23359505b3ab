"""Contracts: curators say what governs the calls of an AI profile, version by version."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.screening import screen
from graphmem.gateway.workbench import Workbench
from graphmem.governance.contract import Contract
from graphmem.governance.contract_form import check_profile, contract_from
from graphmem.model.caller import Role
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.policy import Policy
from graphmem.model.space import Space, SpaceKind
from graphmem.model.trace import TraceKind
from graphmem.store.contracts import StoredContract, lock_profile, save_contract


def document_of(contract: Contract) -> str:
    """A contract as it is kept: the whole of it."""
    return json.dumps(contract.shown, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedContract:
    """A contract as it holds now, and whether it is a new version."""

    stored: StoredContract
    is_new: bool


@dataclass(frozen=True, kw_only=True)
class SaveContract(Operation[StoredContract | None, SavedContract]):
    """Let a contract hold from now on, as a version of its own where it differs."""

    kind = TraceKind.CONTRACT
    role = Role.CURATOR

    tenant: str
    profile: str
    values: Mapping[str, Any]
    key_id: str
    policy: Policy

    @property
    def spaces(self) -> Sequence[Space]:
        """None: a contract belongs to its tenant."""
        return ()

    @cached_property
    def contract(self) -> Contract:
        """What is to hold.

        Raises:
            InvalidInput: something is wrong with it.
        """
        return contract_from(self.values)

    def check(self) -> None:
        """Refuse what is no contract.

        Raises:
            InvalidInput: its name is none, or something is wrong with it.
            PolicyRefused: its words may not be stored.
        """
        check_profile(self.profile)
        screen(self.contract.deny_patterns, self.policy)

    def read(self, transaction: Workbench) -> StoredContract | None:
        """The contract that holds now, locked."""
        return lock_profile(transaction, self.tenant, self.profile)

    def decide(self, state: StoredContract | None, now: datetime) -> Decided[SavedContract]:
        """Add a version, where it differs."""
        document = document_of(self.contract)
        if state and state.document == document:
            return Decided(answer=SavedContract(stored=state, is_new=False))
        stored = StoredContract(
            profile=self.profile,
            version=state.version + 1 if state else 1,
            document=document,
            key_id=self.key_id,
        )
        event = Event(
            space=Space(tenant=self.tenant, kind=SpaceKind.SYSTEM, owner="governance").key,
            subject=self.profile,
            about=Subject.CONTRACT,
            effect=Effect.CONTRACT_SAVED,
            detail={"version": stored.version},
        )
        answer = SavedContract(stored=stored, is_new=True)
        return Decided(answer=answer, events=(event,), records=(stored, now))

    def apply(self, transaction: Workbench, decided: Decided[SavedContract]) -> None:
        """Add the version, where there is a new one."""
        if decided.records:
            stored, now = decided.records
            save_contract(transaction, self.tenant, stored, created_at=now)
