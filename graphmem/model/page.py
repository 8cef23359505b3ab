"""Page: one part of a list, how many there are in all, and where the next part begins."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
# the values by which a list is ordered, of the last item of a page
Cursor = tuple[str | int | bool, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[Item]):
    """A page of a list. ``total`` counts the items of all its pages."""

    items: tuple[Item, ...]
    total: int
    next: Cursor | None = None


def every_item(page_after: Callable[[Cursor | None], Page[Item]]) -> Iterator[Item]:
    """All items of a list, page by page."""
    page = page_after(None)
    yield from page.items
    while page.next:
        page = page_after(page.next)
        yield from page.items
