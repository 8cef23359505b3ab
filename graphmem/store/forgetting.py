"""Forgetting: what is bounded by its age or its number goes in batches; the oldest first."""

from dataclasses import dataclass
from typing import Any

from graphmem.model.job import Run
from graphmem.store.connection import Connection

_BATCH = 2_000


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """Removes until nothing is left, or the run must stop; a dry run only counts."""

    connection: Connection
    run: Run

    def older(self, remove: str, count: str, **parameters: Any) -> int:  # noqa: ANN401 - driver values
        """Remove all that a query finds; says how many. Both queries take the same parameters."""
        if self.run.dry_run:
            return int(self.connection.fetch(count, **parameters)[0]["old"])
        removed = 0
        while done := self._removed(remove, limit=_BATCH, **parameters):
            removed += done
            if self.run.must_stop():
                break
        return removed

    def beyond(self, remove: str, count: str, *, most: int, **parameters: Any) -> int:  # noqa: ANN401 - driver values
        """Remove the oldest of what there are more than ``most`` of; says how many."""
        more = max(int(self.connection.fetch(count, **parameters)[0]["total"]) - most, 0)
        if self.run.dry_run:
            return more
        removed = 0
        while removed < more:
            done = self._removed(remove, limit=min(_BATCH, more - removed), **parameters)
            removed += done
            if not done or self.run.must_stop():
                break
        return removed

    def _removed(self, query: str, **parameters: Any) -> int:  # noqa: ANN401 - driver values
        return int(self.connection.run(query, **parameters)[0]["removed"])
