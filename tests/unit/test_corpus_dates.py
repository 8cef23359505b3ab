"""Dates of a career corpus: which forms are read, and what they enclose."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.dates import CareerDate, Interval, career_date, interval, is_present, is_read


def day(year, month=1):
    return datetime(year, month, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2021", CareerDate(year=2021)),
        (2021, CareerDate(year=2021)),
        (" 2021 ", CareerDate(year=2021)),
        ("2021-03", CareerDate(year=2021, month=3)),
        ("2021-12", CareerDate(year=2021, month=12)),
        ("Mar 2021", CareerDate(year=2021, month=3)),
        ("mar. 2021", CareerDate(year=2021, month=3)),
        ("March  2021", CareerDate(year=2021, month=3)),
        ("May 2021", CareerDate(year=2021, month=5)),
        ("Sept 2021", CareerDate(year=2021, month=9)),
    ],
)
def test_a_year_and_a_month_of_it_are_read(text, date):
    assert date == career_date(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "present", "2021-00", "2021-13", "2021-3", "21", "20210", "0000", "Mrz 2021"),
        *("Ju 2021", "Marc 21", "Spring 2021", "03/2021", "2021-03-15", "٢٠٢١", True, None, 3.5),
        *(-2021, [2021], "since 2021", "2021?"),
    ],
)
def test_other_dates_are_not_read(text):
    assert career_date(text) is None


@pytest.mark.parametrize("text", ["present", "Present", " PRESENT ", None])
def test_what_goes_on_is_known_by_one_word_or_no_end(text):
    assert is_present(text)
    assert is_read(text)


@pytest.mark.parametrize("text", ["", "now", "2021"])
def test_no_other_word_says_that_something_goes_on(text):
    assert not is_present(text)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2019", "2021", Interval(begin=day(2019), end=day(2022))),
        ("2019-03", "2021-12", Interval(begin=day(2019, 3), end=day(2022))),
        ("Mar 2019", "Nov 2021", Interval(begin=day(2019, 3), end=day(2021, 12))),
        ("2021", "2021", Interval(begin=day(2021), end=day(2022))),
        ("2021-03", "2021-03", Interval(begin=day(2021, 3), end=day(2021, 4))),
        ("2021-03", "2021", Interval(begin=day(2021, 3), end=day(2022))),
        ("2021", "present", Interval(begin=day(2021))),
        ("2021", None, Interval(begin=day(2021))),
        ("long ago", "2021", Interval(end=day(2022))),
        ("2021", "soon", Interval(begin=day(2021))),
        ("2021", "2020", Interval()),
        ("2021-04", "2021-03", Interval()),
        ("9999", "9999", Interval(begin=day(9999))),
    ],
)
def test_an_interval_holds_its_last_month_or_year(start, end, expected):
    assert expected == interval(start, end)


@given(st.integers(1, 9998), st.one_of(st.none(), st.integers(1, 12)))
def test_a_date_ends_after_it_begins_and_is_read_again_from_iso(year, month):
    date = CareerDate(year=year, month=month)

    assert date.begin < date.end
    assert date == career_date(date.iso)
