"""Dates: when something on a career began and ended, as far as its text says so. Pure.

``2021``, ``2021-03``, ``Mar 2021`` and ``present`` are read; all else leaves an interval open.
"""

import re
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime

PRESENT = "present"
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_YEAR = re.compile(r"[0-9]{4}")
_YEAR_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_NAMED_MONTH = re.compile(r"([a-z]{3,9})\.? ([0-9]{4})")


@dataclass(frozen=True, kw_only=True, slots=True)
class CareerDate:
    """A year, or a month of it."""

    year: int
    month: int | None = None

    @property
    def begin(self) -> datetime | None:
        """Its first moment."""
        return _first_of(self.year, self.month or 1)

    @property
    def end(self) -> datetime | None:
        """The first moment behind it."""
        if self.month is None or self.month == len(_MONTHS):
            return _first_of(self.year + 1, 1)
        return _first_of(self.year, self.month + 1)

    @property
    def iso(self) -> str:
        """As ISO 8601 has it: 2021, or 2021-03."""
        return f"{self.year:04}" + (f"-{self.month:02}" if self.month else "")


def _first_of(year: int, month: int) -> datetime | None:
    is_known = MINYEAR <= year <= MAXYEAR
    return datetime(year, month, 1, tzinfo=UTC) if is_known else None


def career_date(value: object) -> CareerDate | None:
    """The date that a text or a year says; None for ``present`` and for what is not read."""
    text = " ".join(str(value).lower().split()) if isinstance(value, str | int) else ""
    if _YEAR.fullmatch(text):
        return _checked(int(text), None)
    if form := _YEAR_MONTH.fullmatch(text):
        return _checked(int(form[1]), int(form[2]))
    if form := _NAMED_MONTH.fullmatch(text):
        return _checked(int(form[2]), _month(form[1]))
    return None


def _month(name: str) -> int:
    """The number of a month by its name or the beginning of it; 0 where there is none."""
    found = [number for number, month in enumerate(_MONTHS, 1) if month.startswith(name)]
    return found[0] if len(found) == 1 else 0


def _checked(year: int, month: int | None) -> CareerDate | None:
    is_date = year > 0 and (month is None or 1 <= month <= len(_MONTHS))
    return CareerDate(year=year, month=month) if is_date else None


def is_present(value: object) -> bool:
    """Whether a text says that something goes on; no end says so too."""
    return value is None or (isinstance(value, str) and value.strip().lower() == PRESENT)


def is_read(value: object) -> bool:
    """Whether a date is one of the forms that are read."""
    return is_present(value) or career_date(value) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """From when until when something was true, half-open; None is open."""

    begin: datetime | None = None
    end: datetime | None = None


def interval(start: object, end: object) -> Interval:
    """The time that two dates enclose, the last month or year included.

    One that ends before it begins says nothing.
    """
    first, last = career_date(start), career_date(end)
    begin, until = first.begin if first else None, last.end if last else None
    is_turned = begin is not None and until is not None and until <= begin
    return Interval() if is_turned else Interval(begin=begin, end=until)
