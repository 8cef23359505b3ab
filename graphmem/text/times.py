"""Times as text."""

from datetime import UTC, datetime
from typing import overload


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: None) -> None: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """A time as it stands in every answer, file and event: 2026-03-01T09:30:00Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None
