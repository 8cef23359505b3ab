import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.normalise import (
    comparable,
    content_hash,
    is_storable,
    normalise,
    one_line,
    shorten,
    shows_something,
    with_layout,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User prefers tea.", "user  Prefers tea"),
        ("Caf\u00e9", "cafe\u0301"),
        ("a  \nb\t", "a\nb"),
        ("\u7528\u6237\u559c\u6b22\u8336\u3002", "\u7528\u6237\u559c\u6b22\u8336"),
        ("Written for the US.", "written for the US"),
        ("x = 1", "x\t=   1"),
    ],
)
def test_what_does_not_count_in_an_identity(one, other):
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".NET", "NET"),
        ("A-", "A"),
        ("rm -rf *", "rm -rf"),
        ("!enabled", "enabled"),
        ("10\u2076", "106"),
        ("flag = 0", "flag != 0"),
        ("2/3", "2*3"),
        ("foo.bar", "foo_bar"),
        ("\u20135", "5"),
        ("It is for the US", "It is for the us"),
        ("Is it Friday?", "Is it Friday."),
        ("if a:\n    b\n    c", "if a:\n    b\nc"),
        ("a\nb", "a b"),
        ("Well..", "Well"),
        ("\uff21", "A"),
    ],
)
def test_what_counts_in_an_identity(one, other):
    assert comparable(one) != comparable(other)
    assert content_hash(one) != content_hash(other)


def test_a_thousand_chinese_facts_are_a_thousand_claims():
    assert 1000 == len(
        {content_hash(f"用户喜欢{chr(0x4E00 + number)}菜") for number in range(1000)}
    )


def test_signs_that_carry_meaning_stay_apart():
    texts = [
        "I like C",
        "I like C#",
        "I like C++",
        "it is 5",
        "it is -5",
        "it is 5%",
        "it is 5 €",
        "it is 5 $",
        "😀",
        "😢",
    ]

    assert len(texts) == len({content_hash(text) for text in texts})


def test_a_text_of_punctuation_alone_is_compared_as_it_is():
    assert content_hash("?!") != content_hash("...")


def test_the_stored_form_keeps_line_breaks_and_folds_blanks():
    assert "a b\nc\n\nd" == normalise("  a\t b\x07 \r\nc\n\n\n\n d ")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("  a\t b  c ", "a\t b  c"),
        ("\n\n    def f():\r\n\treturn 1\r\n\n", "    def f():\n\treturn 1"),
        ("a\n\n\n\nb", "a\n\n\n\nb"),
        ("a  \nb", "a  \nb"),
        ("a\x07b\rc", "ab\nc"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_content_keeps_its_layout(sent, kept):
    assert kept == with_layout(sent)


@pytest.mark.parametrize(
    "text", ["", " \n", "\u200b", "\u3164", "\u2800 \u2060", "\ufe0f", "\u115f"]
)
def test_some_texts_show_nothing(text):
    assert not shows_something(text)


@pytest.mark.parametrize("text", ["a", "\u200ba", ".", "\U0001f600", "\u0301"])
def test_others_show_something(text):
    assert shows_something(text)


def test_a_line_cannot_be_made_two():
    assert "note active_goals: - Wireit" == one_line("note\nactive_goals:\u2028- Wire\x85it")


@given(st.text(alphabet="ab1 .A\tB\n\u00c4\u0301"))
def test_plain_text_takes_a_shorter_way_to_the_same_form(text):
    assert f"{comparable(f'{text}x')} \u00e4" == comparable(f"{text}x \u00e4")


@given(st.text())
def test_normalising_twice_changes_nothing_more(text):
    for form in (normalise, with_layout, one_line):
        assert form(text) == form(form(text))


@given(st.text())
def test_what_is_compared_does_not_depend_on_how_it_was_stored(text):
    assert comparable(with_layout(text)) == comparable(with_layout(with_layout(text)))


def test_nul_and_lone_surrogates_cannot_be_stored():
    assert is_storable("ok 😀")
    assert not is_storable("a\x00b")
    assert not is_storable("a\ud800b")


def test_shorten_keeps_whole_words_within_the_limit():
    assert "one two…" == shorten("one two three", 12)
    assert "one two three" == shorten("one two three", 13)
    assert 10 == len(shorten("x" * 50, 10))
