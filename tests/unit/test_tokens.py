import pytest
from builders import ADA, NOW, a_memory
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.source import Source
from graphmem.model.space import FIRST_TENANT
from graphmem.model.tokens import (
    ALWAYS_MS,
    NEVER_MS,
    Bound,
    epoch_ms,
    facet_token,
    memory_tokens,
    salted,
    term_salt,
    time_token,
    wall_token,
)
from graphmem.text.analysis import analyse


def test_a_memory_carries_its_wall_and_its_filter_values():
    memory = a_memory(
        tags=("x",), entities=(EntityRef(key="person:ada"),), source=Source(conversation_id="c")
    )

    expected = {
        wall_token(ADA.key, Status.ACTIVE, bounded=False),
        facet_token("type", "Fact"),
        facet_token("captured_by", "user"),
        facet_token("conversation_id", "c"),
        facet_token("tag", "x"),
        facet_token("entity", "person:ada"),
    }
    assert expected == set(memory_tokens(memory).split())


def test_a_retracted_memory_carries_none():
    assert "" == memory_tokens(a_memory(status=Status.RETRACTED))


def test_every_status_and_space_has_a_token_of_its_own():
    tokens = {
        wall_token(space, status, bounded=bounded)
        for space in ("acme/user:ada", "acme/user:adam")
        for status in (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
        for bounded in (True, False)
    }

    assert 12 == len(tokens)


def test_time_tokens_are_ordered_as_the_times_are():
    moments = [ALWAYS_MS, -5, 9, 10, epoch_ms(NOW), NEVER_MS]
    tokens = [time_token(Bound.EXPIRES, moment) for moment in moments]

    assert sorted(tokens) == tokens
    assert 1 == len({len(token) for token in tokens})


@pytest.mark.parametrize("name", ["expires_at", "valid_from", "valid_until"])
def test_a_memory_bounded_in_time_carries_all_its_bounds(name):
    memory = a_memory(**{name: NOW})

    tokens = memory_tokens(memory).split()

    assert wall_token(ADA.key, Status.ACTIVE, bounded=True) in tokens
    given = {
        "expires_at": NEVER_MS,
        "valid_from": ALWAYS_MS,
        "valid_until": NEVER_MS,
        name: epoch_ms(NOW),
    }
    bounds = zip(Bound, given.values(), strict=True)
    assert {time_token(bound, moment) for bound, moment in bounds} <= set(tokens)


def test_the_words_of_the_first_tenant_stay_as_they_are_and_others_have_a_salt():
    other = salted("tea pot", "acme")

    assert "tea pot" == salted("tea pot", FIRST_TENANT)
    assert f"{term_salt('acme')}tea {term_salt('acme')}pot" == other
    assert set() == set(other.split()) & set(salted("tea pot", "acme2").split())


def test_a_memory_without_words_has_none_with_a_salt():
    assert "" == salted("", "acme")


@given(st.text(max_size=200))
def test_the_sign_of_a_salt_is_in_no_analysed_word(text):
    assert "_" not in analyse(f"_{text}_a_{text}")
    assert term_salt("acme").endswith("_")
