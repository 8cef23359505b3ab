import pytest

from graphmem.text.phrases import says, spoken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Root cause", True),
        ("the  root-CAUSE, found", True),
        ("root causes", False),
        ("uproot cause", False),
        ("cause root", False),
        ("", False),
    ],
)
def test_a_phrase_is_found_as_whole_words_in_their_order(text, expected):
    assert expected is says(spoken(text), ["what happened", "root cause"])
