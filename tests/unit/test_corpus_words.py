"""Words of a career corpus: all that a value or a file says is screened, however it is written."""

import json

import pytest
from corpora import a_corpus, a_file, documents

from graphmem.corpus.edits import Edit, EditKind
from graphmem.corpus.words import words_of, words_of_files
from graphmem.errors import InvalidInput
from graphmem.text.secrets import has_secret

KEY = "AKIAIOSFODNN7EXAMPLE"
ESCAPED = KEY.replace("A", "\\u0041")


def finds(words):
    return any(map(has_secret, words))


@pytest.mark.parametrize(
    "value",
    [
        {"profile": {KEY: 1}},
        {"profile": {KEY: None}},
        {"profile": {"password": "hunter2hunter2"}},
        {"experience": [{"bullets": [f"Our key was {KEY}"]}]},
        KEY,
    ],
)
def test_a_secret_is_found_in_any_place_of_a_value(value):
    assert finds(words_of(value))


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f'{{"a": "{ESCAPED}"}}',
        f'{{"{ESCAPED}": 1}}',
        f'{{"a": "{ESCAPED}"',
        f'{{"a": "{ESCAPED}", "a": "x"}}',
        '{"a": {"password": "hunter2\\u0068unter2"}}',
        '{"p\\u0061ssword": "hunter2hunter2", "p\\u0061ssword": "x"}',
    ],
)
def test_a_secret_is_found_in_a_file_whether_or_not_it_is_read_as_json(text):
    assert finds(words_of_files({"notes.json": a_file("notes.json", text)}))


def test_the_name_of_a_file_is_a_word_too():
    assert finds(words_of_files({KEY: a_file(KEY, "x")}))


def test_a_corpus_without_secrets_has_none():
    assert not finds(words_of(a_corpus()))
    assert not finds(words_of_files(documents()))


def test_what_an_edit_names_is_screened_with_what_it_says():
    assert finds(Edit(kind=EditKind.REMOVE, uid=KEY).words)
    assert finds(Edit(kind=EditKind.ITEM, value={}, match=(KEY,)).words)
    files = {"a": a_file("a", json.dumps({"a": KEY}))}
    assert finds(Edit(kind=EditKind.WHOLE, value={}, files=files).words)


def test_a_value_that_is_nested_too_deeply_has_no_words():
    deep = {}
    for _ in range(40):
        deep = {"a": deep}

    with pytest.raises(InvalidInput):
        words_of(deep)
