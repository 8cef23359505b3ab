"""Profiling: what the queries of a call cost the database, in db hits."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from graphmem.store.connection import Transaction


@contextmanager
def db_hits() -> Iterator[Counter[str]]:
    """Count the db hits of all named queries that run meanwhile, in any thread, by their names."""
    hits: Counter[str] = Counter()

    def run(self: Transaction, query: str, /, **parameters: Any) -> list[Any]:
        text = f"PROFILE {self._connection.query(query).text}"
        result = self._transaction.run(text, parameters)
        rows = list(result)
        hits[query] += _all_hits(result.consume().profile)
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transaction, "run", run)
        yield hits


def _all_hits(plan: dict[str, Any] | None) -> int:
    """The db hits of an operator and of all below it."""
    if plan is None:
        return 0
    return int(plan.get("dbHits", 0)) + sum(_all_hits(child) for child in plan.get("children", ()))
