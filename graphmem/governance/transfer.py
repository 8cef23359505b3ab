"""Transfer: contracts, places and items as lines of an export, and back.

Memories carry the words and values of items; these lines say what they are found by.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import fields, validate

from graphmem.errors import InvalidInput
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.workbench import Workbench
from graphmem.governance.contract import SPACES
from graphmem.governance.contract_form import check_profile, contract_from
from graphmem.governance.contracts import document_of
from graphmem.intake.jsonl_format import Line, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords
from graphmem.model.caller import Role
from graphmem.model.governance import ItemKind, Phase, Place
from graphmem.model.memory import memory_key
from graphmem.model.page import Cursor, Page, every_item
from graphmem.model.space import Space, SpaceKind, parse_writable_space
from graphmem.model.trace import TraceKind
from graphmem.rooms import Transfer
from graphmem.store.connection import Connection
from graphmem.store.contracts import Contracts, StoredContract, lock_profile, save_contract
from graphmem.store.governance_transfer import (
    CarriedItem,
    GovernanceRecords,
    WholePlace,
    take_in_items,
    take_in_place,
)

Values = dict[str, Any]
_COUNT = validate.Range(0, 2**53)
_WORDS = validate.Length(max=200)
_MANY = validate.Length(max=100_000)
_READ_AT_ONCE = 200


class ContractLine(Line):
    """The contract of a profile of the tenant, as it holds now."""

    profile = fields.String(required=True)
    contract = fields.Dict(keys=fields.String(), required=True)


class _PhaseLine(Line):
    index = fields.Integer(strict=True, required=True, validate=validate.Range(1, 2**53))
    started_at = fields.Integer(strict=True, required=True, validate=_COUNT)
    reason = fields.String(required=True, validate=_WORDS)
    name = fields.String(allow_none=True, load_default=None, validate=_WORDS)
    dropped = fields.Boolean(load_default=False)


class GovernedPlaceLine(Line):
    """What lasts of a space: its counters and phases, and the clock of its person."""

    person = fields.String(allow_none=True, load_default=None, validate=validate.Length(1, 128))
    token = fields.String(allow_none=True, load_default=None, validate=_WORDS)
    dropped = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    created = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    top_tick = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    clock = fields.Integer(strict=True, load_default=1, validate=validate.Range(1, 2**53))
    numbers = fields.Dict(
        keys=fields.Enum(ItemKind, by_value=True),
        values=fields.Integer(strict=True, validate=_COUNT),
        load_default=dict,
    )
    phases = fields.List(fields.Nested(_PhaseLine), load_default=list, validate=_MANY)


class GovernedItemLine(Line):
    """What a memory does not say of its item."""

    uid = fields.String(required=True, validate=validate.Length(1, 128))
    summary_of = fields.List(
        fields.Integer(strict=True, validate=_COUNT), load_default=list, validate=_MANY
    )
    until = fields.Integer(strict=True, allow_none=True, load_default=None, validate=_COUNT)


class TakeInGovernance(TakeInRecords):
    """Write what another store kept of governed spaces."""

    kind = TraceKind.GOVERNANCE


class TakeInContracts(TakeInRecords):
    """Write contracts that another store kept, as curators may."""

    kind = TraceKind.CONTRACT
    role = Role.CURATOR


def transfers_over(gateway: Gateway, connection: Connection) -> tuple[Transfer, ...]:
    """All kinds of the room, in the order in which they are written again."""
    kinds = (ContractTransfer, GovernedPlaceTransfer, GovernedItemTransfer)
    return tuple(kind(gateway=gateway, connection=connection) for kind in kinds)


@dataclass(frozen=True, kw_only=True)
class _GovernanceTransfer(RecordTransfer):
    """What the kinds of the room have in common: only governed spaces hold them."""

    connection: Connection
    operation: ClassVar[type[TakeInRecords]] = TakeInGovernance
    form: ClassVar[type[Line]]

    @property
    def records(self) -> GovernanceRecords:
        """What reads all records of a space."""
        return GovernanceRecords(self.connection)

    def values(self, value: Any, space: Space) -> Values:  # noqa: ANN401 - any JSON
        """What a line says.

        Raises:
            InvalidInput: something is wrong with it, or it belongs in no such space.
        """
        if not _is_governed(space):
            raise InvalidInput({self.kind: ["Lies in a space such as session:s1 or user:ada."]})
        return checked(self.form(), self.kind, value)


class ContractTransfer(_GovernanceTransfer):
    """The contracts of the tenant, with each governed space."""

    kind = "contract"
    plural = "contracts"
    operation = TakeInContracts
    form = ContractLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """All contracts, where anything is governed in the space."""
        if not _is_governed(space) or self.records.place(space) is None:
            return

        def page_after(cursor: Cursor | None) -> Page[StoredContract]:
            return Contracts(self.connection).page(space.tenant, cursor, limit=_READ_AT_ONCE)

        for stored in every_item(page_after):
            yield {"profile": stored.profile, "contract": stored.values}

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The contract of a line."""
        values = self.values(value, space)
        check_profile(values["profile"], f"{self.kind}.profile")
        contract = contract_from(values["contract"], path=f"{self.kind}.contract.")
        record = (space.tenant, values["profile"], document_of(contract))
        return Loaded(key=values["profile"], record=record, texts=contract.deny_patterns)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write contracts of profiles that have none here."""
        found: dict[str, bool] = {}
        for tenant, profile, document in records:
            is_new = lock_profile(transaction, tenant, profile) is None
            if is_new:
                stored = StoredContract(profile=profile, version=1, document=document)
                save_contract(transaction, tenant, stored, created_at=transaction.now)
            found.setdefault(profile, is_new)
        return found


class GovernedPlaceTransfer(_GovernanceTransfer):
    """What lasts of a space, with its phases."""

    kind = "governed_place"
    plural = "governed_places"
    form = GovernedPlaceLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The place, if anything is governed there."""
        whole = self.records.place(space) if _is_governed(space) else None
        if whole is None:
            return
        place = whole.place
        names = ("person", "token", "dropped", "created", "top_tick", "clock")
        yield {
            **{name: getattr(place, name) for name in names},
            "numbers": {kind.value: number for kind, number in place.numbers.items()},
            "phases": [
                {
                    "index": phase.index,
                    "started_at": phase.started_at,
                    "reason": phase.reason,
                    "name": phase.name,
                    "dropped": is_dropped,
                }
                for phase, is_dropped in whole.phases
            ],
        }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The place of a line."""
        values = self.values(value, space)
        phases = tuple(
            (
                Phase(**{name: each[name] for name in ("index", "started_at", "reason", "name")}),
                each["dropped"],
            )
            for each in values.pop("phases")
        )
        texts = [text for phase, _ in phases for text in (phase.reason, phase.name) if text]
        owner = self._person(values["person"] or space.owner, space)
        whole = WholePlace(place=Place(space=space, **values), phases=phases)
        more = [owner] if space.kind is SpaceKind.SESSION else []
        return Loaded(key=space.key, record=whole, texts=texts, more_spaces=more)

    def _person(self, owner: str, space: Space) -> Space:
        try:
            person = parse_writable_space(f"{SpaceKind.USER}:{owner}", tenant=space.tenant)
        except ValueError as error:
            raise InvalidInput({f"{self.kind}.person": [str(error)]}) from error
        if person.persona:
            raise InvalidInput({f"{self.kind}.person": ["Must not have a /."]})
        return person

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Let counters and clocks rise to the highest, and phases be there."""
        return {each.place.space.key: take_in_place(transaction, each) for each in records}


class GovernedItemTransfer(_GovernanceTransfer):
    """What items are found by."""

    kind = "governed_item"
    plural = "governed_items"
    form = GovernedItemLine

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The items of a space."""
        for item in self.records.items(space) if _is_governed(space) else ():
            yield {"uid": item.uid, "summary_of": list(item.summary_of), "until": item.until}

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The item of a line."""
        values = self.values(value, space)
        item = CarriedItem(
            space=space,
            uid=values["uid"],
            summary_of=tuple(values["summary_of"]),
            until=values["until"],
        )
        return Loaded(key=memory_key(space, item.uid), record=item)

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Let memories that are here be items."""
        return take_in_items(transaction, records)


def _is_governed(space: Space) -> bool:
    return space.kind in SPACES and space.persona is None
