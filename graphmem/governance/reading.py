"""Reading: the items that a call may forget, meet, sum up or recall, by index and bounded.

Which snippets score best is decided from the newest of each importance, and beside these from what
the words of the query find; that gives what scoring every snippet would give.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphmem.governance.contract import Contract
from graphmem.governance.recalling import PROFILE_MOST, phases_read
from graphmem.governance.request import CallRequest
from graphmem.governance.retaining import KINDS
from graphmem.governance.scoring import Query
from graphmem.governance.snippet_search import SnippetSearch
from graphmem.governance.world import clock_of
from graphmem.model.governance import EventType, Item, ItemKind, LedgerEntry, Place
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.space import SpaceKind
from graphmem.store.governance import (
    CLASSES,
    AskedItems,
    GovernedItems,
    Lasting,
    Snippets,
    WordSearch,
)
from graphmem.text.dedup_keys import dedup_key

ENDING_MOST = 1_000  # of a place, a kind and a rule that one call lets end; the next one goes on
_MAY_CHANGE = ("aged", "timed", "untold", "met")  # what is read so may leave, or have other values
NEWEST = 8  # snippets of each class that are always read; more than can be recent
_TURNS_OF_A_CALL = 2
_TICKS_OF_A_CALL = 16  # at most: a call may forget at its end what lasts at its beginning


@dataclass(frozen=True, kw_only=True)
class ItemReading:
    """Reads what one call needs."""

    items: GovernedItems
    contract: Contract
    places: Mapping[SpaceKind, Place]
    allowed: frozenset[SpaceKind]
    request: CallRequest

    def all(self) -> tuple[Mapping[str, Memory], list[Item]]:
        """The memories that the call may change, under their locks, and all items, each once."""
        asked, snippets = AskedItems(), self._snippets() if self._recalls_snippets else []
        self._ask(asked)
        for each in snippets:
            asked.newest(each)
        most = max(NEWEST, self.contract.semantic_top_k)
        found = self.items.present(asked, facts=PROFILE_MOST, newest=most, ending=ENDING_MOST)
        newest = [items for what, items in found if what == "newest"]
        full = [each for each in zip(snippets, newest, strict=True) if len(each[1]) == most]
        read = [item for _, items in found for item in items]
        searches, enough = self._searches(full, newest, read), self.contract.semantic_top_k
        tells_more = any(what == "untold" and len(items) == ENDING_MOST for what, items in found)
        changing = self._changing(found, tells_more=tells_more)
        memories, older = self.items.lock_and_search(changing, searches, limit=enough)
        if tells_more:
            more, _ = self.items.lock_and_search(older)
            memories, changing = memories | more, [*changing, *older]
        return memories, still_present([*read, *older], changing, memories)

    def _changing(
        self, found: Sequence[tuple[str, Sequence[Item]]], *, tells_more: bool
    ) -> list[Item]:
        """What of the items that were found the call may change.

        ``tells_more`` is whether others than those that were asked for are told a tick.
        """
        by_kind: dict[str, list[Item]] = defaultdict(list)
        for what, items in found:
            by_kind[what] += items
        leaving = self._leaving(by_kind["talk"]) if self.request.records else []
        may_change = [item for what in _MAY_CHANGE for item in by_kind[what]]
        if tells_more:
            may_change += [*by_kind["facts"], *by_kind["newest"]]
        return [*may_change, *leaving]

    def _ask(self, asked: AskedItems) -> None:
        """Ask for all but snippets."""
        session = self.places[SpaceKind.SESSION]
        phases = phases_read(session, self.contract)
        if phases and self.contract.keeps(ItemKind.SHORT_TERM):
            first = min(phases) if self.request.recalls else max(phases)
            asked.talk(session.space, first, max(phases))
        for place in self._open:
            for kind in KINDS:
                if self.contract.keeps(kind):
                    asked.ending(place.space, kind, self._lasting(place, kind))
        for space, kind, key in self.request.keys_in(self.allowed) if self.request.records else ():
            if self.contract.keeps(kind):
                asked.met(space, kind, key)
        if self.request.recalls and self.contract.profile:
            for place in self._recalled_places:
                lasting = self._lasting(place, ItemKind.PROFILE)
                asked.facts(place.space, phases_read(place, self.contract), lasting)

    def _leaving(self, talk: Sequence[Item]) -> list[Item]:
        """The messages that may leave the present phase for a summary, and the old summary."""
        last = max((item.phase.index for item in talk), default=0)
        present = [item for item in talk if item.phase.index == last]
        messages = sorted(
            (item for item in present if not item.is_summary), key=lambda item: item.created_at
        )
        too_many = max(len(messages) + _TURNS_OF_A_CALL - self.contract.short_term, 0)
        return [*messages[:too_many], *(item for item in present if item.is_summary)]

    def ledger(self, before: int, after: int, space: SpaceKind) -> list[LedgerEntry]:
        """Where the ledgers of two phases may differ."""
        place = self.places[space].space
        ends = sorted((before, after))
        request = self.request
        keys = [key for _, key in request.said_keys]
        keys.append(dedup_key(EventType.CONTEXT, request.output))
        keys += [request.tool_key] if request.tool_key else []
        return self.items.ledger(place, *ends, keys=keys)

    @property
    def _open(self) -> list[Place]:
        """The places of the call that have items."""
        return [
            place
            for space, place in self.places.items()
            if space in self.allowed and place.phase is not None
        ]

    @property
    def _recalled_places(self) -> list[Place]:
        return [place for place in self._open if place.space.kind in self.contract.read_order]

    def _lasting(self, place: Place, kind: ItemKind) -> Lasting:
        """Which items of a kind last beyond this call."""
        now = place.created if place.is_shared else clock_of(self.places, self.allowed)
        until = now + _TICKS_OF_A_CALL
        rules = {event: self.contract.rule(kind, event) for event in EventType}
        return Lasting(
            modes={event: rule.mode.value for event, rule in rules.items() if not rule.is_kept},
            before={
                event: until - (rule.ticks or 0)
                for event, rule in rules.items()
                if not rule.is_kept
            },
            due=until,
        )

    @property
    def _recalls_snippets(self) -> bool:
        is_asked = self.contract.semantic and self.contract.semantic_top_k > 0
        return self.request.recalls and is_asked

    def _snippets(self) -> list[Snippets]:
        """The classes of snippets that the recall reads."""
        return [
            Snippets(space=place.space, phase=phase, rank=rank, lasting=lasting)
            for place in self._recalled_places
            for lasting in [self._lasting(place, ItemKind.SEMANTIC)]
            for phase in self._phases(place, phases_read(place, self.contract))
            for rank in range(CLASSES)
        ]

    def _searches(
        self,
        full: Sequence[tuple[Snippets, Sequence[Item]]],
        newest: Sequence[Sequence[Item]],
        read: Sequence[Item],
    ) -> list[WordSearch]:
        """What finds snippets that are older than the newest of their class and may be better."""
        search = SnippetSearch(
            query=Query.of(self.request.input),
            known=[item for items in newest for item in items],
            present=[item for item in read if item.kind is ItemKind.SEMANTIC],
            enough=self.contract.semantic_top_k,
        )
        return list(search.of(full))

    def _phases(self, place: Place, phases: range) -> Sequence[int]:
        """The phases whose snippets may come back: the newest ones, until there are enough."""
        if not self.contract.with_history:
            return phases
        lasting = self._lasting(place, ItemKind.SEMANTIC)
        most = self.contract.semantic_top_k
        return self.items.phases_with_snippets(place.space, lasting, limit=most)


def still_present(
    items: Iterable[Item], changing: Iterable[Item], memories: Mapping[str, Memory]
) -> list[Item]:
    """Items, each once, without those that somebody took back before their locks were ours."""
    keys = {item.id: memory_key(item.space, item.uid) for item in changing}
    gone = {
        id_
        for id_, key in keys.items()
        if key not in memories or memories[key].status is not Status.ACTIVE
    }
    return [item for id_, item in {each.id: each for each in items}.items() if id_ not in gone]
