import pytest

from graphmem.text.analysis import analyse, query_terms
from graphmem.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running CAFÉS", "run cafe"),
        ("Straße Łódź", "strass lodz"),
        ("用户喜欢", "用户 户喜 喜欢"),
        ("C++ & co.", "c co"),
        ("العربية", "العربية"),
        ("good 👍", "good 👍"),
        ("", ""),
    ],
)
def test_text_is_indexed_by_folded_stems_and_pairs(text, expected):
    assert expected == analyse(text)


def test_a_question_leaves_out_words_without_content():
    assert ("user", "drink") == query_terms("What does the user drink?", limit=64)


def test_a_question_of_stop_words_alone_keeps_them():
    assert ("to", "be", "or", "not") == query_terms("to be or not to be", limit=64)


def test_terms_are_distinct_and_bounded():
    assert ("a1", "a2") == query_terms("a1 a1 a2 a3", limit=2)


def test_several_sentences_are_told_apart_and_one_is_none():
    assert ("Dr. Smith came.", "He left at 3.5 p.m.") == sentences(
        "Dr. Smith came. He left at 3.5 p.m.", limit=64
    )
    assert () == sentences("Only one here.", limit=64)
    assert 3 == len(sentences("Tea is good. " * 10, limit=3))
