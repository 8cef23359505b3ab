"""Claims in text: what says the same, and what can disagree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.assertions import assertion_of, claim_words, values_disagree


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada likes tea.", "ada likes the tea!"),
        ("I don't eat meat", "I do not eat meat."),
        ("I'm a nurse", "I am a nurse"),
        ("She can\u2019t swim", "She cannot swim"),
        ("They won't come", "They will not come"),
        ("Ada really likes tea", "Ada likes tea"),
    ],
)
def test_the_same_claim_in_other_words(one, other):
    assert claim_words(one) == claim_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bob hates Ada", "Ada hates Bob"),
        ("Ada likes tea", "Ada does not like tea"),
        ("Ada lived in Rome", "Ada lives in Rome"),
        ("The flat costs 900", "The flat costs 950"),
        ("Ada likes tea", "Ada likes green tea"),
        ("喜欢茶", "喜欢酒"),
    ],
)
def test_other_claims_have_other_words(one, other):
    assert claim_words(one) != claim_words(other)


@pytest.mark.parametrize(
    ("text", "family", "value"),
    [
        ("John lives in Rome.", "residence", "rome"),
        ("John moved to the backend team", "holds john moved to backend team", "yes"),
        ("John lives in Paris with Ann", "residence", "paris"),
        ("Ada works for Acme because of Bob", "employer", "acme"),
        ("Ada works at night", "holds ada work at night", "yes"),
        ("Ada works as a nurse", "holds ada work as nurse", "yes"),
        ("Ada was born in 1990", "birth", "1990"),
        ("Ada was born in Rome", "birthplace", "rome"),
        ("Ada's email is ada@example.org", "email", "ada example org"),
        ("The project deadline is 3 May", "deadline", "3 may"),
        ("Ada's favourite colour is blue", "favourite colour", "blue"),
        ("Ada likes tea", "likes tea", "yes"),
        ("Ada does not like tea", "likes tea", "no"),
        ("Ada hates tea", "likes tea", "no"),
        ("Ada doesn't hate tea", "likes tea", "yes"),
        ("Ada is not allergic to nuts", "holds ada is allergic to nuts", "no"),
        ("Rome was sunny", "holds rome wa sunny", "yes"),
    ],
)
def test_what_a_statement_says_of_its_subject(text, family, value):
    claim = assertion_of(text)

    assert (family, value) == ((claim.family, " ".join(claim.value)) if claim else (None, None))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Ada lives in Rome", "Ada lives in Paris", True),
        ("Ada lives in Rome", "Ada lives in Rome, Italy", False),
        ("Ada likes tea", "Ada dislikes tea", True),
        ("Ada likes tea", "Ada dislikes coffee", False),
        ("Ada is a vegetarian", "Ada is not a vegetarian", True),
        ("Ada lives in Rome", "Ada works for Acme", False),
    ],
)
def test_values_of_one_family_disagree(one, other, expected):
    assert expected == values_disagree(assertion_of(one), assertion_of(other))


@given(
    st.lists(
        st.sampled_from(
            "ada s the of is was has not email deadline favourite colour because when which"
            " who may in on a monday 3 b7 likes works at starts and but rome".split()
        ),
        max_size=9,
    )
)
def test_any_sentence_is_read_without_an_error(said):
    assertion_of(" ".join(said))
