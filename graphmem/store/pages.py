"""Pages: one part of a list and how many there are in all, read in one transaction."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from graphmem.model.page import Cursor, Page
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.text.times import moment_of

Item = TypeVar("Item")
_ROWS_AT_ONCE = 5_000
_WORK_AT_ONCE = 100  # rows each of which is worked on for a while
_FIRST_TIME = datetime(1, 1, 1, tzinfo=UTC)


def every_row(
    connection: Connection,
    query: str,
    *,
    after: str = "",
    **parameters: Any,  # noqa: ANN401 - driver values
) -> Iterator[Row]:
    """All rows of a query that gives them in the order of their keys, behind one, some at once."""
    while rows := connection.fetch(query, after=after, limit=_ROWS_AT_ONCE, **parameters):
        yield from rows
        after = rows[-1]["key"]


def rows_by_time(
    connection: Connection,
    query: str,
    *,
    place_of: Callable[[Row], tuple[str, str]],
    **parameters: Any,  # noqa: ANN401 - driver values
) -> Iterator[Row]:
    """The rows of a query in the order of their times and keys, some at once.

    ``place_of`` gives the time of a row, in ISO form, and its key. Few rows are the last ones, so
    what comes in meanwhile is left for the next pass.
    """
    time, key = _FIRST_TIME, ""
    while True:
        rows = connection.fetch(
            query, cursor_time=time, cursor_key=key, limit=_WORK_AT_ONCE, **parameters
        )
        yield from rows
        if len(rows) < _WORK_AT_ONCE:
            return
        text, key = place_of(rows[-1])
        time = moment_of(text)


def read_page(
    connection: Connection,
    query: str,
    count: str,
    *,
    filters: Mapping[str, Any],
    cursor: Mapping[str, Any],
    limit: int,
    item_of: Callable[[Row], Item],
    cursor_of: Callable[[Row], Cursor],
) -> Page[Item]:
    """One page of a list.

    ``query`` gives the rows behind a cursor, at most ``limit``; ``count`` the total of all pages.
    Both take the same filters.
    """

    def work(transaction: Transaction) -> Page[Item]:
        rows = transaction.run(query, **filters, **cursor, limit=limit + 1)
        shown = rows[:limit]
        return Page(
            items=tuple(item_of(row) for row in shown),
            total=transaction.run(count, **filters)[0]["total"],
            next=cursor_of(shown[-1]) if len(rows) > limit else None,
        )

    return connection.read(work)
