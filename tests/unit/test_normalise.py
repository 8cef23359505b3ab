import re

from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.normalise import comparable, content_hash, is_storable, normalise, shorten


def test_the_content_hash_is_the_one_of_003():
    assert content_hash("User prefers Dark-Mode!").startswith("058e6f30768bdcc4")
    assert content_hash("User prefers Dark-Mode!") == content_hash("user  prefers dark mode")


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


@given(st.text(alphabet="ab1 .,;:!?'\"()\n\t"))
def test_plain_text_takes_a_shorter_way_to_the_same_form(text):
    words = re.findall(r"[a-z0-9]+", text)

    assert (" ".join(words) or text.strip()) == comparable(text)
    assert " ".join([*words, "ü"]) == comparable(f"{text} ü")


@given(st.text())
def test_normalising_twice_changes_nothing_more(text):
    assert normalise(text) == normalise(normalise(text))
    assert comparable(text) == comparable(comparable(text))


def test_nul_and_lone_surrogates_cannot_be_stored():
    assert is_storable("ok 😀")
    assert not is_storable("a\x00b")
    assert not is_storable("a\ud800b")


def test_shorten_keeps_whole_words_within_the_limit():
    assert "one two…" == shorten("one two three", 12)
    assert "one two three" == shorten("one two three", 13)
    assert 10 == len(shorten("x" * 50, 10))
