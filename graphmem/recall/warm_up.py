"""Warm-up: the database makes the plans of all candidate queries before a caller waits for one."""

from dataclasses import replace

from graphmem.model.entity import EntityRef
from graphmem.model.space import Space, SpaceKind
from graphmem.store.candidates import Candidates, CardNumbers, Search
from graphmem.store.entities import Entities

FEW, MANY = (
    tuple(
        Space(tenant="-", kind=SpaceKind.SYSTEM, owner=f"warm-up-{number}")
        for number in range(count)
    )
    for count in (1, 11)
)


def warm_up(candidates: Candidates, entities: Entities, *, few: Search, many: Search) -> None:
    """Run every candidate query once for each plan that it can get.

    ``few`` and ``many`` are the same search in ``FEW`` and in ``MANY`` spaces.
    """
    past = replace(few, known_at=few.begins_by)
    entities.meant(FEW, [EntityRef(key="other:-")])
    entities.search(FEW, "warm up", types=(), limit=1, after=None)
    candidates.by_index(replace(few, vector=None))
    candidates.by_index(few)
    candidates.by_index_filtered(few)
    candidates.exact(few)
    candidates.known_at(past)
    candidates.by_index(many)
    for search in (few, past):
        candidates.card_rows(
            search,
            keys=(),
            missing=(),
            without_edges=(),
            numbers=CardNumbers(rows=1, importance=0, relations=1),
        )
