import re

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.memory import Status
from graphmem.model.tokens import term_salt
from graphmem.recall.lucene_query import Facets, Moments, lucene_query


def text_of(cue, spaces=("acme/user:ada",)):
    return lucene_query(
        cue,
        spaces=spaces,
        statuses=[Status.ACTIVE],
        facets=Facets(),
        moments=Moments(now=1),
        terms_max=64,
    )


def test_a_cue_searches_three_fields_behind_the_wall():
    text = text_of("tea")

    salt = term_salt("acme")
    assert f"search_context:{salt}tea search_text:{salt}tea^0.25 search_actor:{salt}tea" in text
    assert text.startswith("+(space_token:s")


def test_a_cue_without_words_matches_nothing():
    assert "+space_token:none0" == text_of("?!").strip()


@given(st.text(max_size=8000))
def test_no_text_of_a_user_acts_as_syntax_and_every_query_is_of_one_size_class(cue):
    text = text_of(cue)

    assert 1001 <= len(text) < 10_000
    words = re.findall(rf"search_text:{term_salt('acme')}([^\s^]+)", text)
    assert all(word.isalnum() or not word.isascii() for word in words)


def test_the_longest_query_of_many_spaces_stays_below_the_limit():
    spaces = [f"acme/user:{number}" for number in range(16)]

    assert (
        len(text_of(" ".join(f"longishword{number}" * 3 for number in range(100)), spaces)) < 10_000
    )


def test_a_word_too_long_for_the_query_does_not_hide_the_others():
    assert f"search_text:{term_salt('acme')}tea" in text_of("x" * 4_000 + " ada tea")


def test_the_first_tenant_searches_the_words_as_they_are():
    assert "search_text:tea^0.25" in text_of("tea", ["main/user:ada"])
