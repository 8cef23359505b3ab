import pytest
from builders import ADA, NOW, a_memory

from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.source import Source
from graphmem.model.tokens import (
    ALWAYS_MS,
    NEVER_MS,
    Bound,
    epoch_ms,
    facet_token,
    memory_tokens,
    time_token,
    wall_token,
)


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
