"""Reading: the items that a call may forget, meet, sum up or recall, by index and bounded.

Which snippets score best is decided from the newest of each importance, and beside these from what
the words of the query find; that gives what scoring every snippet would give.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphmem.governance.classify import classified, profile_fact
from graphmem.governance.contract import Contract
from graphmem.governance.recalling import PROFILE_MOST, phases_read
from graphmem.governance.request import CallRequest
from graphmem.governance.retaining import KINDS
from graphmem.governance.retention import Mode
from graphmem.governance.scoring import CONTAINED, SHARED, Query, importance_score, scored
from graphmem.model.governance import EventType, Item, ItemKind, LedgerEntry, Place
from graphmem.model.space import Space, SpaceKind
from graphmem.store.governance import (
    CLASSES,
    GovernedItems,
    Lasting,
    Snippets,
    WordSearch,
    rank_of,
)
from graphmem.text.dedup_keys import dedup_key, fact_dedup_key

NEWEST = 32  # snippets of each class that are always read; more than can be recent
_TICKS_OF_A_CALL = 16  # at most: a call may forget at its end what lasts at its beginning
_WORD_CHARS = 200  # of a word that is searched; the index cuts longer ones
_WORDS_AT_ONCE = 500  # of one search
_INNER_WORDS = 20  # that narrow a search for a whole query


@dataclass(frozen=True, kw_only=True)
class ItemReading:
    """Reads what one call needs."""

    items: GovernedItems
    contract: Contract
    places: Mapping[SpaceKind, Place]
    allowed: frozenset[SpaceKind]
    request: CallRequest

    def all(self) -> list[Item]:
        """The items, each once."""
        found = [
            *self._talk(),
            *self._ending(),
            *(self._met() if self.request.records else ()),
            *(self._recalled() if self.request.recalls else ()),
        ]
        return list({item.id: item for item in found}.values())

    def ledger(self, before: int, after: int, space: SpaceKind) -> list[LedgerEntry]:
        """Where the ledgers of two phases may differ."""
        place = self.places[space].space
        return self.items.ledger(place, min(before, after), max(before, after))

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

    def _talk(self) -> list[Item]:
        session = self.places[SpaceKind.SESSION]
        phases = phases_read(session, self.contract)
        if not phases or not self.contract.keeps(ItemKind.SHORT_TERM):
            return []
        first = min(phases) if self.request.recalls else max(phases)
        return self.items.talk(session.space, first, max(phases))

    def _ending(self) -> list[Item]:
        """What retention may look at."""
        wanted = {
            (place.space, kind): self._lasting(place, kind)
            for place in self._open
            for kind in KINDS
            if self.contract.keeps(kind)
        }
        ends = {each: lasting for each, lasting in wanted.items() if lasting.modes}
        return self.items.ending(ends) if ends else []

    def _lasting(self, place: Place, kind: ItemKind) -> Lasting:
        """Which items of a kind last beyond this call."""
        now = place.created if place.is_shared else self.places[SpaceKind.USER].clock
        until = now + _TICKS_OF_A_CALL
        rules = {event: self.contract.rule(kind, event) for event in EventType}
        return Lasting(
            modes={event: rule.mode.value for event, rule in rules.items() if not rule.is_kept},
            before={
                event: until - (rule.ticks or 0)
                for event, rule in rules.items()
                if rule.mode is Mode.DECAY
            },
            due=until,
        )

    def _met(self) -> list[Item]:
        """What is present of the keys that the call may write, also where it may promote to."""
        request, session = self.request, self.request.owners.session
        event, fact = classified(request.input), profile_fact(request.input)
        said = [(ItemKind.SEMANTIC, dedup_key(event, request.input))]
        if fact:
            said.append((ItemKind.PROFILE, fact_dedup_key(fact.key)))
        wanted = [(session, kind, key) for kind, key in said]
        if tools := request.tool_text:
            wanted.append((session, ItemKind.SEMANTIC, dedup_key(EventType.EXECUTION, tools)))
        if request.hint:
            target = request.owners.by_kind[request.hint.target]
            wanted += [(target, kind, key) for kind, key in said]
        return self.items.met(each for each in wanted if self.contract.keeps(each[1]))

    def _recalled(self) -> list[Item]:
        found: list[Item] = []
        phases = {place.space: phases_read(place, self.contract) for place in self._recalled_places}
        if self.contract.profile:
            found += self.items.facts(phases, limit=PROFILE_MOST)
        if self.contract.semantic and self.contract.semantic_top_k:
            found += self._snippets(phases)
        return found

    def _snippets(self, phases: Mapping[Space, range]) -> list[Item]:
        wanted = [
            Snippets(space=place.space, phase=phase, rank=rank, lasting=lasting)
            for place in self._recalled_places
            for lasting in [self._lasting(place, ItemKind.SEMANTIC)]
            for phase in self._phases(place, phases[place.space])
            for rank in range(CLASSES)
        ]
        most = max(NEWEST, self.contract.semantic_top_k)
        found = self.items.newest(wanted, limit=most)
        query = Query.of(self.request.input)
        known = [item for items in found for item in items]
        searches = [
            search
            for each, items in zip(wanted, found, strict=True)
            if len(items) == most
            for search in self._searches(each, items, known, query)
        ]
        limit = self.contract.semantic_top_k
        return [*known, *(self.items.matching(searches, limit=limit) if searches else ())]

    def _phases(self, place: Place, phases: range) -> Sequence[int]:
        """The phases whose snippets may come back: the newest ones, until there are enough."""
        if not self.contract.with_history:
            return phases
        limit = self.contract.semantic_top_k + _ENDING_MOST
        found = self.items.phases_with_snippets({place.space: place.dropped}, limit=limit)
        return found[place.space]

    def _searches(
        self, wanted: Snippets, items: Sequence[Item], known: Sequence[Item], query: Query
    ) -> Iterable[WordSearch]:
        """What to look for among snippets older than the newest of a class.

        They are not recent, so one is better than these only by what it has of the query.
        """
        if not query.text:
            return
        oldest = min(item.created_at for item in items)
        if not self._is_decided(wanted, known, query, similarity=CONTAINED):
            yield WordSearch(
                of=wanted,
                searches=[_containing(query)],
                before_tick=oldest,
                contained=query.text,
            )
        if not self._is_decided(wanted, known, query, similarity=SHARED):
            yield WordSearch(of=wanted, searches=_sharing(query), before_tick=oldest)

    def _is_decided(
        self, wanted: Snippets, known: Sequence[Item], query: Query, *, similarity: int
    ) -> bool:
        """Whether enough snippets are better than an older one of a class can be."""
        beside = [
            item
            for item in known
            if item.space == wanted.space and item.phase.index == wanted.phase
        ]
        importance = max(i for i in range(1, 8) if rank_of(i) == wanted.rank)
        bound = similarity + importance_score(importance)
        newest = max((item.mark for item in known if item.space == wanted.space), default=0)
        better = [
            each
            for each in scored(beside, query, newest)
            if each.score > bound
            or (each.score == bound and rank_of(each.item.importance) == wanted.rank)
        ]
        return len(better) >= self.contract.semantic_top_k


_ENDING_MOST = 200  # snippets that may end in one call and still name a phase


def _containing(query: Query) -> str:
    """A search for what may contain all of a query: its ends may be parts of words."""
    first, *others = query.text.split()
    if not others:
        return f"governed_words:*{first}*" if len(first) <= _WORD_CHARS else _ANY
    *inner, last = others
    narrow = sorted(
        {word for word in inner if len(word) <= _WORD_CHARS}, key=lambda word: (-len(word), word)
    )
    ends = [
        text
        for word, text in ((first, f"*{first}"), (last, f"{last}*"))
        if len(word) <= _WORD_CHARS
    ]
    words = [*narrow[:_INNER_WORDS], *ends]
    return " AND ".join(f"governed_words:{word}" for word in words) or _ANY


_ANY = "governed_words:*"


def _sharing(query: Query) -> list[str]:
    """Searches for what has a word of a query."""
    words = sorted(
        word if len(word) <= _WORD_CHARS else f"{word[:_WORD_CHARS]}*" for word in query.words
    )
    parts = [
        words[start : start + _WORDS_AT_ONCE] for start in range(0, len(words), _WORDS_AT_ONCE)
    ]
    return [f"governed_words:({' '.join(part)})" for part in parts]
