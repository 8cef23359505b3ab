"""The words and tokens that entities are found by, and the query for them."""

from graphmem.model.tokens import term_salt
from graphmem.store.entity_names import (
    alias_token,
    label_token,
    name_fields,
    name_query,
    name_words,
    said_tokens,
)

ADA, BOB, OTHER = "main/user:ada", "main/user:bob", "other/user:ada"


def test_what_a_mention_adds_is_what_the_whole_would_be_indexed_under():
    before = name_fields(ADA, "person", "John Doe", ["!", "Johnny"])
    after = name_fields(ADA, "person", "John Doe", ["!", "Johnny", "J. D."])

    assert after == {
        "search_names": before["search_names"] + name_words(ADA, "J. D."),
        "space_token": before["space_token"] + said_tokens(ADA, "J. D."),
    }


def test_a_whole_name_is_one_token_of_its_owner_letter_case_aside():
    names = ("C", "C++", "C#", "c++", "C ++")
    tokens = [label_token(ADA, name) for name in names]

    assert tokens[1] == tokens[3]
    assert 4 == len(set(tokens))
    assert 4 == len(
        {token(owner, "C") for owner in (ADA, BOB) for token in (label_token, alias_token)}
    )


def test_only_long_words_without_digits_are_looked_for_in_near_spellings():
    text = name_query("Ann Lee-Johnson Kubernetes v2000", owners=[ADA], types=["person"])

    assert ["johnson~1^0.5", "kubernet~2^0.5"] == [
        word.removeprefix("search_names:").rstrip(")") for word in text.split() if "~" in word
    ]
    assert 1_001 == len(text)


def test_words_carry_the_salt_of_their_tenant():
    salt = term_salt("other")

    assert f" {salt}john {salt}doe" == name_words(OTHER, "John Doe")
    text = name_query("John", owners=[OTHER], types=[])
    assert f"search_names:{salt}john~1" in text
    assert "search_names:john" not in text


def test_no_sign_of_a_text_reaches_the_query():
    text = name_query('a* OR "b" (c) d~2 \\', owners=[ADA], types=[])

    assert not set(text) & set('*"\\')
    assert (text.count("("), text.count("~")) == (2, 0)


def test_the_longest_query_is_within_the_size_that_has_one_plan():
    text = name_query(
        "wonderful " + " ".join(f"abcdefgh{chr(97 + n)}x" for n in range(26)) * 3,
        owners=[f"other/user:{n}" for n in range(16)],
        types=["t"] * 16,
    )

    assert len(text) < 10_000
