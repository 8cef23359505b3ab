from datetime import timedelta

from builders import ADA, NOW, a_memory

from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.source import Source
from graphmem.model.tokens import NEVER_MS, epoch_ms, expiry_token, facet_token, memory_tokens, wall_token


def test_a_memory_carries_its_wall_and_its_filter_values():
    memory = a_memory(tags=("x",), entities=(EntityRef(key="person:ada"),), source=Source(conversation_id="c"))

    expected = {
        wall_token(ADA.key, Status.ACTIVE, expiring=False),
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
        wall_token(space, status, expiring=expiring)
        for space in ("acme/user:ada", "acme/user:adam")
        for status in (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
        for expiring in (True, False)
    }

    assert 12 == len(tokens)


def test_expiry_tokens_are_ordered_as_the_times_are():
    assert expiry_token(9) < expiry_token(10) < expiry_token(epoch_ms(NOW)) < expiry_token(NEVER_MS)


def test_an_expiring_memory_carries_its_time():
    memory = a_memory(expires_at=NOW + timedelta(days=1))

    assert expiry_token(epoch_ms(memory.expires_at)) in memory_tokens(memory).split()
    assert wall_token(ADA.key, Status.ACTIVE, expiring=True) in memory_tokens(memory).split()
