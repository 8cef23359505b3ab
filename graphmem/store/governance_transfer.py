"""Governance transfer: places, phases and items as another store kept them, read and written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.model.governance import Item, ItemKind, Phase, Place
from graphmem.model.memory import memory_key
from graphmem.model.space import Space, SpaceKind
from graphmem.store.connection import Connection, Transaction
from graphmem.store.governance import (
    Governance,
    find_places,
    item_from_row,
    item_properties,
    lock_places,
    phase_key,
    phase_row,
    place_properties,
)
from graphmem.store.pages import every_row

_PRESENT = (
    *("governed_place", "governed_class", "governed_words", "governed_dedup", "governed_due"),
)
_PHASES_AT_ONCE = 200
_NO_ITEM = "The native values of its memory are none of an item."


@dataclass(frozen=True, kw_only=True, slots=True)
class WholePlace:
    """A place with its phases, each with whether its ledger is no more; the clock of its person."""

    place: Place
    phases: tuple[tuple[Phase, bool], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CarriedItem:
    """What a memory does not say of its item: the messages it sums up, and the phase it left in."""

    space: Space
    uid: str
    summary_of: tuple[int, ...] = ()
    until: int | None = None


class GovernanceRecords:
    """Reads all that is governed in a space."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def place(self, space: Space) -> WholePlace | None:
        """What lasts of a space, if anything was ever governed there."""
        place = find_places(self._connection, [space]).get(space.key)
        if place is None:
            return None
        if place.person and space.kind is SpaceKind.SESSION:
            person = _person_of(place)
            known = find_places(self._connection, [person]).get(person.key)
            place = replace(place, clock=max(place.clock, known.clock if known else 1))
        return WholePlace(place=place, phases=tuple(self._phases(space)))

    def _phases(self, space: Space) -> Iterator[tuple[Phase, bool]]:
        governance = Governance(self._connection)
        page = governance.phases(space, None, limit=_PHASES_AT_ONCE)
        yield from page.items
        while page.next:
            page = governance.phases(space, page.next, limit=_PHASES_AT_ONCE)
            yield from page.items

    def items(self, space: Space) -> Iterator[CarriedItem]:
        """The items of a space."""
        for row in every_row(self._connection, "governance.items_of_space", space=space.key):
            yield CarriedItem(
                space=space,
                uid=row["uid"],
                summary_of=tuple(row["summary_of"] or ()),
                until=row["until"],
            )


def take_in_place(transaction: Transaction, whole: WholePlace) -> bool:
    """Write a place of another store over what is here: counters and clocks rise to the highest.

    Says whether anything changed.
    """
    brought, space = whole.place, whole.place.space
    person = _person_of(brought)
    places = lock_places(transaction, {space, person}, makes={space, person}).places
    known = places[space.kind]
    if None not in {known.person, brought.person} and known.person != brought.person:
        raise InvalidInput({"governed_place.person": ["The session belongs to another person."]})
    later = max((phase for phase, _ in whole.phases), key=lambda each: each.index, default=None)
    is_later = later and (known.phase is None or later.index > known.phase.index)
    united = replace(
        known,
        person=known.person or brought.person,
        token=brought.token if is_later else known.token,
        phase=later if is_later else known.phase,
        dropped=max(known.dropped, brought.dropped),
        numbers={kind: max(_number(known, kind), _number(brought, kind)) for kind in ItemKind},
        created=max(known.created, brought.created),
        top_tick=max(known.top_tick, brought.top_tick),
        clock=max(known.clock, brought.clock),
    )
    changed = [united] if united != known else []
    clock = places[SpaceKind.USER] if space.kind is SpaceKind.SESSION else None
    if clock and brought.clock > clock.clock:
        changed.append(replace(clock, clock=brought.clock))
    if changed:
        transaction.run(
            "governance.save_places",
            space_rows=[
                {"key": place.space.key, "properties": place_properties(place)} for place in changed
            ],
            phases=[
                phase_row(space, phase, is_dropped=is_dropped) for phase, is_dropped in whole.phases
            ],
        )
    return bool(changed)


def _number(place: Place, kind: ItemKind) -> int:
    return place.numbers.get(kind, 0)


def _person_of(place: Place) -> Space:
    """The user space of the person of a place; of one that is shared, the place itself."""
    space = place.space
    if space.kind is not SpaceKind.SESSION:
        return space
    return Space(tenant=space.tenant, kind=SpaceKind.USER, owner=place.person or space.owner)


def take_in_items(
    transaction: Transaction, items: Sequence[CarriedItem]
) -> Mapping[str, bool | None]:
    """Let memories that are here be items; by key whether each is new, None where it is no item."""
    by_key = {memory_key(each.space, each.uid): each for each in items}
    rows = transaction.run("governance.to_take_in", space_keys=sorted(by_key))
    found: dict[str, bool | None] = dict.fromkeys(by_key)
    new = []
    for row in rows:
        key = row["item"]["key"]
        found[key] = not row["is_known"]
        if not row["is_known"]:
            carried = by_key[key]
            item = _item({**row["item"], "governed_summary_of": carried.summary_of})
            properties = item_properties(item) | {"governed_until": carried.until}
            if not row["is_present"]:
                properties |= dict.fromkeys(_PRESENT)
            new.append(
                {
                    "key": key,
                    "properties": properties,
                    "added": phase_key(item.space, item.phase.index),
                    "deleted": phase_key(item.space, carried.until or 0),
                }
            )
    _check_numbers(transaction, new)
    if new:
        transaction.run("governance.take_in_items", space_rows=new)
    return found


def _item(row: Mapping[str, Any]) -> Item:
    """The item of a memory that a file brought.

    Raises:
        InvalidInput: its native values are none of an item.
    """
    try:
        item = item_from_row(row)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput({"governed_item.uid": [_NO_ITEM]}) from error
    numbers = (item.number, item.created_at, item.mark, item.importance, item.phase.index)
    if not all(type(each) is int for each in numbers):
        raise InvalidInput({"governed_item.uid": [_NO_ITEM]})
    return item


def _check_numbers(transaction: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse items whose ids others have here.

    Raises:
        InvalidInput: another item has one of them.
    """
    wanted = [
        {
            "key": row["key"],
            "list": row["properties"]["governed_list"],
            "number": row["properties"]["governed_number"],
        }
        for row in rows
    ]
    if wanted and transaction.run("governance.taken_numbers", space_rows=wanted):
        raise InvalidInput({"governed_item.uid": ["Another item here has its number."]})
