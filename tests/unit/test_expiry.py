"""Expiry, commitment decay and archival: both sides of every bound, and what holds for all."""

from dataclasses import replace
from datetime import timedelta

import pytest
from builders import NOW, a_memory
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.extraction import Category
from graphmem.model.memory import MemoryType, Status
from graphmem.model.policy import ArchivePolicy, CommitmentPolicy, UpkeepPolicy
from graphmem.model.state import GraphState
from graphmem.upkeep.archival import decide_archival, decide_decay
from graphmem.upkeep.embedding import decide_embedding
from graphmem.upkeep.expiry import decide_expiry

POLICY = UpkeepPolicy()
OLD = NOW - timedelta(days=91)


def state_of(*memories, corrections=()):
    return GraphState(
        memories={memory.key: memory for memory in memories}, corrections=frozenset(corrections)
    )


def a_commitment(days, **changes):
    return a_memory(type=MemoryType.TODO, updated_at=NOW - timedelta(days=days), **changes)


def a_forgotten(**changes):
    return a_memory(**({"created_at": OLD, "importance": 29, "recall_count": 2} | changes))


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(-1, 1), (0, 1), (1, 0)],
    ids=["a moment ago", "just now", "in a moment"],
)
def test_a_memory_expires_when_its_time_has_come(offset, expected):
    memory = a_memory(expires_at=NOW + timedelta(milliseconds=offset))

    assert expected == len(decide_expiry(state_of(memory), POLICY, NOW).changed)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED, Status.RETRACTED])
def test_only_active_memories_expire(status):
    assert decide_expiry(state_of(a_memory(status=status, expires_at=NOW)), POLICY, NOW).is_empty


def test_an_expired_memory_is_archived_with_the_reason_ttl_and_says_so():
    decision = decide_expiry(state_of(a_memory(expires_at=NOW)), POLICY, NOW)

    assert [(Status.ARCHIVED, "ttl", NOW)] == [
        (m.status, m.status_reason, m.status_at) for m in decision.changed
    ]
    assert [("acme/user:ada", {"uid": "m-1", "outcome": "archived", "reason": "ttl"})] == [
        (event.space, event.shown) for event in decision.events
    ]


@pytest.mark.parametrize(("days", "expected"), [(89, 0), (90, 0), (91, 1)])
def test_a_commitment_decays_after_more_than_90_days(days, expected):
    decision = decide_decay(state_of(a_commitment(days)), POLICY, NOW)

    assert expected == len(decision.changed)
    assert ["commitment_decay"] * expected == [memory.status_reason for memory in decision.changed]


def test_90_days_and_a_moment_are_more_than_90_days():
    memory = a_memory(type=MemoryType.TODO, updated_at=NOW - timedelta(days=90, milliseconds=1))

    assert 1 == len(decide_decay(state_of(memory), POLICY, NOW).changed)


@pytest.mark.parametrize(
    ("tags", "expected"), [((), 0), (("fulfilled",), 1), (("expired",), 1), (("other",), 0)]
)
def test_with_the_switch_only_fulfilled_commitments_decay(tags, expected):
    policy = UpkeepPolicy(commitments=CommitmentPolicy(fulfilled_only=True))

    assert expected == len(decide_decay(state_of(a_commitment(91, tags=tags)), policy, NOW).changed)


@pytest.mark.parametrize("kind", [kind for kind in MemoryType if kind is not MemoryType.TODO])
def test_only_commitments_decay(kind):
    assert decide_decay(state_of(a_memory(type=kind, updated_at=OLD)), POLICY, NOW).is_empty


@pytest.mark.parametrize(("days", "expected"), [(89, 0), (90, 0), (91, 1)])
def test_a_fact_is_archived_when_it_is_older_than_90_days(days, expected):
    memory = a_forgotten(created_at=NOW - timedelta(days=days))

    assert expected == len(decide_archival(state_of(memory), POLICY, NOW).changed)


@pytest.mark.parametrize(("importance", "expected"), [(29, 1), (30, 0)])
def test_a_fact_is_archived_below_the_importance(importance, expected):
    assert expected == len(
        decide_archival(state_of(a_forgotten(importance=importance)), POLICY, NOW).changed
    )


@pytest.mark.parametrize(("recalls", "expected"), [(2, 1), (3, 0)])
def test_a_fact_is_archived_when_it_was_hardly_recalled(recalls, expected):
    assert expected == len(
        decide_archival(state_of(a_forgotten(recall_count=recalls)), POLICY, NOW).changed
    )


@pytest.mark.parametrize("kind", list(MemoryType))
def test_commitments_preferences_and_decisions_are_protected(kind):
    protected = {MemoryType.TODO, MemoryType.PREFERENCE, MemoryType.DECISION}

    assert (kind in protected) == decide_archival(
        state_of(a_forgotten(type=kind)), POLICY, NOW
    ).is_empty


@pytest.mark.parametrize("category", list(Category))
def test_a_category_decides_before_the_type(category):
    kept = {"commitment", "preference", "decision", "principle"}
    memory = a_forgotten(type=MemoryType.TODO, native={"category": category.value})

    assert (category in kept) == decide_archival(state_of(memory), POLICY, NOW).is_empty


@pytest.mark.parametrize(
    ("values", "stays"),
    [
        ({"native": {"category": "skill"}}, True),
        ({"native": {"category": "preference"}, "type": MemoryType.PREFERENCE}, False),
        ({"type": MemoryType.IDENTITY}, True),  # the type of skills
        ({"type": MemoryType.PREFERENCE}, False),
        ({"native": {"category": "of another"}, "type": MemoryType.IDENTITY}, True),
    ],
)
def test_a_policy_names_the_categories_that_stay(values, stays):
    policy = UpkeepPolicy(archive=ArchivePolicy(protected_categories=("skill",)))

    assert stays == decide_archival(state_of(a_forgotten(**values)), policy, NOW).is_empty


def test_corrections_are_never_archived():
    memory = a_forgotten()

    assert decide_archival(state_of(memory, corrections=[memory.key]), POLICY, NOW).is_empty
    assert decide_archival(state_of(a_forgotten(tags=("correction",))), POLICY, NOW).is_empty


def test_the_bounds_come_from_the_policy():
    policy = UpkeepPolicy(archive=ArchivePolicy(age_days=10, importance=80, recalls=0))
    memory = a_memory(created_at=NOW - timedelta(days=11), importance=79)

    assert 1 == len(decide_archival(state_of(memory), policy, NOW).changed)


def test_vectors_of_an_older_version_are_not_used():
    memory = a_memory(embedded=False, version=2)

    assert decide_embedding(state_of(memory), versions={memory.key: 1}).is_empty
    assert {memory.key: 0} == decide_embedding(
        state_of(memory), versions={memory.key: 2}
    ).vectors_of


MEMORIES = st.lists(
    st.builds(
        lambda number, **changes: a_memory(uid=f"m-{number}", **changes),
        number=st.integers(1, 1000),
        type=st.sampled_from(MemoryType),
        status=st.sampled_from(Status),
        pinned=st.booleans(),
        importance=st.integers(0, 100),
        recall_count=st.integers(0, 5),
        created_at=st.integers(0, 200).map(lambda days: NOW - timedelta(days=days)),
        updated_at=st.integers(0, 200).map(lambda days: NOW - timedelta(days=days)),
        expires_at=st.none() | st.integers(-5, 5).map(lambda days: NOW + timedelta(days=days)),
    ),
    max_size=8,
)


@given(memories=MEMORIES, decide=st.sampled_from([decide_expiry, decide_decay, decide_archival]))
def test_a_second_run_changes_nothing_and_pinned_ones_are_never_touched(memories, decide):
    state = state_of(*memories)
    once = decide(state, POLICY, NOW)
    changed = {memory.key: memory for memory in once.changed}

    assert not once.created
    assert changed.keys() <= state.memories.keys()
    assert all(not memory.pinned and memory.status is Status.ARCHIVED for memory in once.changed)
    assert all(
        replace(state.memories[key], status=Status.ARCHIVED).content == m.content
        for key, m in changed.items()
    )
    assert decide(replace(state, memories={**state.memories, **changed}), POLICY, NOW).is_empty
