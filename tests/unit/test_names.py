"""Keys of names with signs (the issue's own list), and the property that they say apart."""

import unicodedata
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.model.entity import (
    Likeness,
    entity_key,
    entity_ref,
    joined_name,
    label_from_key,
    likeness,
)
from graphmem.model.names import slug

COUNTING = "+#&%@*/=<>~^|"
EVERY_SIGN = [*COUNTING, "€", "$", "∑", "±"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("C", "c"),
        ("C++", "c__plus__plus"),
        ("C#", "c__sharp"),
        (".NET", "dot__net"),
        ("Net", "net"),
        ("A+", "a__plus"),
        ("A-", "a__minus"),
        ("+1", "plus__1"),
        ("-1", "minus__1"),
        ("1/5", "1__slash__5"),
        ("1.5", "1_5"),
        ("AT&T", "at__and__t"),
        ("AT & T", "at__and__t"),
        ("AT T", "at_t"),
        ("Johnson & Johnson", "johnson__and__johnson"),
        ("50 %", "50__percent"),
        ("@ada", "at__ada"),
        ("5 €", "5__u20ac"),
        ("$.50", "u0024__dot__50"),
        ("$-5", "u0024__minus__5"),
        ("--help", "minus__minus__help"),
        ("O'Brien", "o_brien"),
        ("v2.0.1", "v2_0_1"),
        ("one - two", "one_two"),
        ("Node.js", "node_js"),
        ("St. John's (2)", "st_john_s_2"),
        ("+", "__plus__"),
        ("Plus", "plus"),
        ("*.*", "star__dot__star"),
        ("--", "minus__minus"),
        ("++", "plus__plus"),
        ("Plus +", "plus___u002b"),
        ("+ Plus", "u002b__plus_"),
        ("@&T", "u0040__u0026__t"),
        ("u20ac &", "u20ac___u0026"),
        ("€ & $", "u20ac__and__u0024"),
    ],
)
def test_signs_that_count_become_words(name, expected):
    assert f"other:{expected}" == entity_key(f"other:{name}")


@pytest.mark.parametrize("name", ["!", "...", "?!", "''", "()", "…"])
def test_what_has_neither_letters_nor_signs_that_count_is_no_name(name):
    with pytest.raises(ValueError, match="Must be type:name"):
        entity_key(f"other:{name}")


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("tool:c__plus__plus", "C++"),
        ("tool:dot__net", ".Net"),
        ("other:a__minus", "A-"),
        ("other:5__u20ac", "5€"),
        ("other:__plus__", "+"),
        ("person:john_doe", "John Doe"),
    ],
)
def test_a_label_spells_the_signs_of_a_key(key, label):
    assert label == label_from_key(key)


@pytest.mark.parametrize("type_", ["robot", "a", "x" * 40, "my_type_2"])
def test_a_type_is_any_word(type_):
    assert f"{type_}:r2" == entity_key(f"{type_}:R2")


@pytest.mark.parametrize("type_", ["", "2x", "_a", "x" * 41, "Robot", "a-b", "rü"])
def test_what_is_no_word_is_no_type(type_):
    with pytest.raises(ValueError, match="Must be type:name"):
        entity_key(f"{type_}:r2")


@pytest.mark.parametrize("sign", EVERY_SIGN)
def test_ten_names_that_differ_by_one_sign_have_ten_keys_that_mean_themselves(sign):
    forms = ("+", "++", "A", "A+", "+A", "A++", "A+B", "A B", "A+B+", "+A+B")
    keys = [entity_key(f"other:{form.replace('+', sign)}") for form in forms]

    assert len(forms) == len(set(keys))
    assert keys == [entity_key(key) for key in keys]
    assert len(forms) == len({joined_name(key) for key in keys})
    alike = {Likeness.EQUAL_WITHOUT_SEPARATORS, Likeness.UNLIKE}
    assert alike >= {likeness(*pair) for pair in product(keys, keys) if pair[0] != pair[1]}


def test_names_of_different_signs_are_not_alike():
    names = [entity_key(f"other:Catalogue{sign}") for sign in ("", *EVERY_SIGN, "-")]

    assert {Likeness.UNLIKE} == {likeness(*p) for p in product(names, names) if p[0] != p[1]}


WORDS = st.sampled_from(["a", "Net", "1", "plus", "Minus", "dot", "u20ac", "x_y", "ΑΣ", "J̌", "é"])
SIGNS = st.sampled_from([*EVERY_SIGN, "-", ".", " ", "'", "_", "__"])
PIECES = st.one_of(WORDS, SIGNS)
NAMES = st.one_of(st.lists(PIECES, min_size=1, max_size=7).map("".join), st.text(max_size=12))


@settings(max_examples=150, deadline=None)
@given(NAMES)
def test_a_key_that_is_sent_back_means_itself(name):
    try:
        ref = entity_ref(f"tool:{name}")
    except ValueError:
        return
    back = entity_ref(ref.key)

    assert (ref.key, None) == (back.key, back.name)
    assert unicodedata.is_normalized("NFC", ref.key)
    assert ref.key == entity_key(f"tool:{joined_name(ref.key)}") or "_" in ref.key


def counted(name):
    """What tells a name from others of its slug, said another way than the key says it."""
    shown = [char for char in name.lower() if char.isalnum() or char in (*EVERY_SIGN, "-", ".")]
    letters = [place for place, char in enumerate(shown) if char.isalnum()] or [len(shown)]
    return [
        char
        for place, char in enumerate(shown)
        if char not in "-."
        or (char == "-" and not letters[0] < place < letters[-1])
        or (char == "." and place < letters[0])
    ]


ALPHABET = st.text(alphabet=[*"aB1 ", *COUNTING, "-", ".", "€", "∑", "'"], min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(ALPHABET, ALPHABET)
def test_names_with_one_key_have_the_same_letters_and_signs(one, other):
    try:
        same = entity_key(f"other:{one}") == entity_key(f"other:{other}")
    except ValueError:
        return
    if same:
        assert counted(one) == counted(other)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=[*"aB1é _'!?,;:()[]{}…", "—"], min_size=1, max_size=12))
def test_a_name_without_signs_that_count_has_the_slug_of_001(name):
    expected = slug(name)
    if expected:
        assert f"other:{expected}" == entity_key(f"other:{name}")


def test_the_keys_that_the_docs_show_are_those_of_the_names():
    page = (Path(__file__).parents[2] / "docs" / "http-api.md").read_text("utf-8")
    table = page.partition("| Names | Keys |")[2].partition("\n\n")[0]
    rows = [row.strip("|").split("|") for row in table.strip().splitlines()[1:]]
    pairs = [
        (name.strip(), key.strip().strip("`"))
        for names, keys in rows
        for name, key in zip(names.split(", "), keys.split(", "), strict=True)
    ]

    assert 14 == len(pairs)
    assert [] == [
        (name, key) for name, key in pairs if key != entity_key(f"{key.partition(':')[0]}:{name}")
    ]
