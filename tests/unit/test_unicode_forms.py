"""Unicode forms that take time in proportion to the text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.unicode_forms import in_form

FORMS = ("NFC", "NFD", "NFKC")
MARKS = "\u0301\u0323\u0308\u20dd"
SHORT = st.text(st.sampled_from("aé" + MARKS), max_size=30)


@given(text=SHORT, form=st.sampled_from(FORMS))
def test_without_a_long_run_of_marks_it_is_the_usual_form(text, form):
    assert unicodedata.normalize(form, text) == in_form(form, text)


@pytest.mark.parametrize(("number", "is_kept"), [(30, False), (31, True)])
def test_a_run_of_more_than_thirty_marks_is_left_as_it_is(number, is_kept):
    run = ("\u0301\u0323" * number)[:number]  # which the form would put in another order

    found = in_form("NFC", f"e\u0301 o{run} e\u0301")

    assert is_kept == (run in found)
    assert found.startswith("\u00e9 ")
    assert found.endswith(" \u00e9")


@given(parts=st.lists(SHORT | st.text(st.sampled_from(MARKS), min_size=31, max_size=80)))
def test_nothing_is_lost_and_a_second_time_changes_nothing(parts):
    text = "".join(parts)

    once = in_form("NFC", text)

    assert once == in_form("NFC", once)
    assert unicodedata.normalize("NFD", text) == unicodedata.normalize("NFD", once)
