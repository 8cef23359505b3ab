"""Times as text."""

import re
from datetime import UTC, datetime
from typing import overload

# hours to 23, minutes and seconds to 59: Python reads +00:60 as an hour
_ZONE = re.compile(
    r"(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d(?::?[0-5]\d(?:\.\d+)?)?)?)\Z", re.IGNORECASE
)


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: None) -> None: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """A time as it stands in every answer, file and event: 2026-03-01T09:30:00Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


@overload
def moment_of(text: str) -> datetime: ...
@overload
def moment_of(text: None) -> None: ...
@overload
def moment_of(text: str | None) -> datetime | None: ...
def moment_of(text: str | None) -> datetime | None:
    """The time, in UTC, that came as text, if there is one.

    Raises:
        ValueError: the text is no time in ISO form.
    """
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def has_zone(text: str) -> bool:
    """Whether a time ends with a zone that there can be."""
    return _ZONE.search(text) is not None
