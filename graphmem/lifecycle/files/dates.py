"""Dates: times as people and other systems write them in files. Pure."""

import re
from datetime import UTC, datetime
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.text.times import has_zone, iso

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME_IN_NAME = re.compile(r"-(-?\d{1,16})-[^-/]+\.md\Z")
_SECONDS_MAX = 100_000_000_000  # above it a number counts milliseconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_text(field: str, value: Any) -> str | None:  # noqa: ANN401 - any value of YAML
    """A time in ISO form with its zone; None where there is none.

    Read are a day, a time with or without a zone (then UTC), and seconds or milliseconds since
    1970.

    Raises:
        InvalidInput: it is no time.
    """
    if value is None or value == "":
        return None
    try:
        return _text(value)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput({field: ["Is no time."]}) from error


def _text(value: Any) -> str:  # noqa: ANN401 - any value of YAML
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError  # noqa: TRY004 - of a file, not of a caller
    if isinstance(value, str) and not re.fullmatch(r"-?\d{9,}", value):
        return _of_words(value.strip())
    number = float(value)
    seconds = number if abs(number) < _SECONDS_MAX else number / 1_000
    return iso(datetime.fromtimestamp(seconds, UTC))


def _of_words(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        return iso(moment.replace(tzinfo=UTC))
    if not has_zone(text):
        raise ValueError
    return iso(moment)


def day_of(moment: str | None) -> str:
    """The day of a time, as folders are named by it: YYYY-MM-DD."""
    return (moment or iso(EPOCH))[:10]


def day_in(path: str) -> str | None:
    """The day that a folder of a path names, if one does."""
    return next((part for part in path.split("/") if _is_day(part)), None)


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text) and datetime.fromisoformat(text))
    except ValueError:
        return False


def milliseconds_of(moment: str | None) -> int:
    """A time as file names hold it, in milliseconds since 1970."""
    since = (datetime.fromisoformat(moment) if moment else EPOCH) - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000


def time_in(path: str) -> int | None:
    """The time in the name of a file, in milliseconds since 1970."""
    found = _TIME_IN_NAME.search(path)
    return int(found[1]) if found else None
