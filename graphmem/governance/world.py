"""World: the part of a store that a call reads, and what it changes of it; a working copy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphmem.governance.contract import SPACES, Contract
from graphmem.governance.events import Event, Frame
from graphmem.governance.request import CallRequest
from graphmem.governance.retention import Forgotten
from graphmem.model.governance import Gone, Item, ItemKind, LedgerEntry, Phase, Place
from graphmem.model.memory import Authority
from graphmem.model.space import Space, SpaceKind

AUTO = "auto"  # why a phase starts with the first item of its space

Screen = Callable[[str], str | None]  # the code why a text may not be stored


@dataclass(frozen=True, kw_only=True, slots=True)
class CallState:
    """What a call reads, under its locks.

    ``items`` are those present ones that it may forget, meet, sum up or recall, and ``allowed`` the
    spaces in which its key may do so. ``ledger`` is where two phases that are compared differ.
    ``cap`` is the highest authority that items of the key's role may have.
    """

    contract: Contract
    places: Mapping[SpaceKind, Place]
    allowed: frozenset[SpaceKind] = frozenset(SPACES)
    items: Sequence[Item] = ()
    ledger: Sequence[LedgerEntry] = ()
    uids: Sequence[str] = ()  # for new items
    cap: Authority | None = None
    screen: Screen = lambda _: None


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """An item that left: why, what took its place, and the phase in which it did."""

    item: Item
    why: Gone
    replaced_by: str | None = None  # an id
    phase: int | None = None
    forgotten: Forgotten | None = None


def clock_of(places: Mapping[SpaceKind, Place], allowed: frozenset[SpaceKind]) -> int:
    """The next tick of a call: of the person, where the key may write to him, else of the session.

    So nobody moves the clock of a person whose space is closed to him, or learns from it.
    """
    kinds = (
        (SpaceKind.SESSION, SpaceKind.USER) if SpaceKind.USER in allowed else (SpaceKind.SESSION,)
    )
    return max((places[kind].clock for kind in kinds if kind in places), default=1)


@dataclass(kw_only=True)
class World:
    """The working copy. ``clock`` is the next tick of the person whose call it is."""

    state: CallState
    request: CallRequest
    frame: Frame = field(init=False)
    places: dict[SpaceKind, Place] = field(init=False)
    items: dict[str, Item] = field(init=False)  # present ones, by id
    clock: int = field(init=False)
    created: dict[str, Item] = field(default_factory=dict)
    changed: dict[str, Item] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    started: list[tuple[Space, Phase]] = field(default_factory=list)
    _uids: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what was read."""
        self.frame = Frame(
            profile=self.request.profile,
            session=self.request.owners.session.owner,
            contract=self.state.contract,
        )
        self.places = dict(self.state.places)
        self.items = {item.id: item for item in self.state.items}
        self.clock = clock_of(self.places, self.state.allowed)
        self._uids = list(self.state.uids)

    @property
    def contract(self) -> Contract:
        """What governs the call."""
        return self.state.contract

    def now(self, space: SpaceKind) -> int:
        """What ages in a space are counted to."""
        place = self.places[space]
        return place.created if place.is_shared else self.clock

    def tick(self, space: SpaceKind) -> int:
        """The next tick of the clock, above all in a space that several share."""
        place, ticked = self.places[space], self.clock
        self.clock += 1
        if place.is_shared:
            ticked = max(ticked, place.top_tick + 1)
            self.places[space] = replace(place, top_tick=ticked)
        return ticked

    def number(self, space: SpaceKind, kind: ItemKind) -> tuple[str, int, int, int]:
        """The uid, number, tick and mark of a new item; all are used up, whatever becomes of it."""
        ticked = self.tick(space)
        place = self.places[space]
        number = place.numbers.get(kind, 0) + 1
        created = place.created + 1
        self.places[space] = replace(
            place, numbers={**place.numbers, kind: number}, created=created
        )
        return self._uids.pop(0), number, ticked, created if place.is_shared else ticked

    def present(self, space: SpaceKind, kind: ItemKind) -> list[Item]:
        """The items of a kind in a space that are known here, oldest first."""
        found = (
            item for item in self.items.values() if item.space.kind is space and item.kind is kind
        )
        return sorted(found, key=lambda item: (item.created_at, item.number))

    def keep(self, item: Item) -> None:
        """Store a new item."""
        self.items[item.id] = self.created[item.id] = item

    def put(self, item: Item) -> None:
        """Give an item other values."""
        self.items[item.id] = item
        known = self.created if item.id in self.created else self.changed
        known[item.id] = item

    def leave(
        self,
        item: Item,
        why: Gone,
        replaced_by: str | None = None,
        *,
        forgotten: Forgotten | None = None,
    ) -> Event:
        """Let an item leave; the event that says so."""
        phase = self.places[item.space.kind].phase
        self.items.pop(item.id)
        self.left[item.id] = Left(
            item=item,
            why=why,
            replaced_by=replaced_by,
            phase=phase.index if phase else None,
            forgotten=forgotten,
        )
        return self.frame.deleted(item, why, phase, replaced_by)

    def phase_of(self, space: SpaceKind) -> tuple[Phase, list[Event]]:
        """The present phase of a space, which starts with its first item."""
        phase = self.places[space].phase
        return (phase, []) if phase else self.start_phase(space, AUTO)

    def start_phase(
        self, space: SpaceKind, reason: str, name: str | None = None
    ) -> tuple[Phase, list[Event]]:
        """Start a phase; the ledgers of the oldest ones may go for it."""
        ticked = self.tick(space)
        place = self.places[space]
        index = place.phase.index + 1 if place.phase else 1
        phase = Phase(index=index, started_at=ticked, reason=reason, name=name)
        most = self.state.contract.max_phases
        dropped = max(place.dropped, index - most) if most else place.dropped
        self.places[space] = replace(place, phase=phase, dropped=dropped)
        self.started.append((place.space, phase))
        return phase, [self.frame.phase_started(place.space, phase)]
