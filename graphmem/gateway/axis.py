"""The axis: the values of one logical key in time (design, Values over time). Pure.

A value begins at its ``began`` and holds until its end or until the next one begins, half-open.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graphmem.model.memory import Memory
from graphmem.model.space import Space
from graphmem.model.state import ValueAt
from graphmem.model.writing import WriteRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a value lies that begins at ``begin``: behind one value, and before the next."""

    begin: datetime
    before: Memory | None
    after: Memory | None

    @property
    def in_force(self) -> Memory | None:
        """The value that holds when it begins."""
        if self.before is None or self.before.is_over(self.begin):
            return None
        return self.before


def place_of(begin: datetime, values: Iterable[Memory]) -> Place:
    """Where a value that begins then lies; of equal begins the later arrival is the later one.

    One that never held, because another began with it, has no place.
    """
    held = (each for each in values if not each.is_over(each.began))
    ordered = sorted(held, key=lambda each: (each.began, each.created_at, each.key))
    earlier = [each for each in ordered if each.began <= begin]
    later = [each for each in ordered if each.began > begin]
    return Place(
        begin=begin,
        before=earlier[-1] if earlier else None,
        after=later[0] if later else None,
    )


def values_around(
    space: Space, said: Memory | WriteRequest, at: datetime | None, *, other_than: str = ""
) -> frozenset[ValueAt]:
    """What is to be read of the axis of a memory or request: its values around a time, or now."""
    if said.logical_key is None:
        return frozenset()
    value = ValueAt(
        space=space.key,
        logical_key=said.logical_key,
        kept_by=said.kept_by,
        at=at,
        other_than=other_than,
    )
    return frozenset({value})


def collide(one: Memory, other: Memory) -> bool:
    """Whether two values hold at one instant."""
    first, second = sorted((one, other), key=lambda each: each.began)
    never_held = first.is_over(first.began) or second.is_over(second.began)
    return not never_held and not first.is_over(second.began)
