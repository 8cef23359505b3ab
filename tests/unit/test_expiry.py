from datetime import timedelta

import pytest
from builders import NOW, a_memory

from graphmem.model.memory import Status
from graphmem.model.state import GraphState
from graphmem.upkeep.embedding import decide_embedding
from graphmem.upkeep.expiry import decide_expiry


def state_of(*memories):
    return GraphState(memories={memory.key: memory for memory in memories})


@pytest.mark.parametrize(
    ("offset", "expected"), [(-1, 1), (0, 1), (1, 0)], ids=["a moment ago", "just now", "in a moment"]
)
def test_a_memory_expires_when_its_time_has_come(offset, expected):
    memory = a_memory(expires_at=NOW + timedelta(milliseconds=offset))

    assert expected == len(decide_expiry(state_of(memory), now=NOW).changed)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED, Status.RETRACTED])
def test_only_active_memories_expire(status):
    assert decide_expiry(state_of(a_memory(status=status, expires_at=NOW)), now=NOW).is_empty


def test_expiring_twice_changes_nothing_more():
    once = decide_expiry(state_of(a_memory(expires_at=NOW)), now=NOW)

    assert decide_expiry(state_of(*once.changed), now=NOW).is_empty


def test_vectors_of_an_older_version_are_not_used():
    memory = a_memory(embedded=False, version=2)

    assert decide_embedding(state_of(memory), versions={memory.key: 1}).is_empty
    assert {memory.key: 0} == decide_embedding(state_of(memory), versions={memory.key: 2}).vectors_of
