"""The same again: what is a repeat, and what it adds to the memory."""

from dataclasses import replace
from datetime import timedelta

import pytest
from builders import ADA, NOW, a_memory, a_request, an_item
from hypothesis import given
from hypothesis import strategies as st

from graphmem.gateway.claims import content_claims
from graphmem.gateway.decide import decide
from graphmem.gateway.repeats import is_repeat, with_repeat
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Authority, MemoryType
from graphmem.model.policy import Policy
from graphmem.model.state import GraphState
from graphmem.model.writing import OnSameKey, Outcome

POLICY = Policy()


def day(number):
    return NOW + timedelta(days=number)


def said_again(memory, *, both=None, **fields):
    request = a_request(memory.content, **fields)
    known = memory.entities if both is None else both
    return with_repeat(
        memory, request, entities=known, is_confirmed=False, policy=POLICY.write, now=day(1)
    )


def decided(memories, *items):
    claims = {claim: memory.key for memory in memories for claim in content_claims(memory)}
    state = GraphState(memories={memory.key: memory for memory in memories}, claims=claims)
    numbered = [replace(item, index=n, new_uid=f"new-{n}") for n, item in enumerate(items)]
    return [result.outcome for result in decide(state, numbered, policy=POLICY, now=NOW).results]


@pytest.mark.parametrize(
    ("memory", "request_", "expected"),
    [
        ((None, None), (None, None), True),
        ((0, 10), (None, None), True),
        ((0, 10), (5, 20), True),
        ((0, 10), (10, 20), True),
        ((0, 10), (11, 20), False),
        ((10, 20), (0, 10), True),
        ((10, 20), (0, 9), False),
        ((None, 10), (11, None), False),
        ((None, 10), (None, 5), True),
    ],
)
def test_an_interval_apart_is_no_repeat(memory, request_, expected):
    bounds = [
        {
            name: None if number is None else day(number)
            for name, number in zip(("valid_from", "valid_until"), pair, strict=True)
        }
        for pair in (memory, request_)
    ]

    assert expected == is_repeat(a_request(**bounds[1]), a_memory(**bounds[0]))


@pytest.mark.parametrize(
    ("kind", "happened", "said", "expected"),
    [
        (MemoryType.EVENT, day(0), day(1), False),
        (MemoryType.OBSERVATION, day(0), day(1), False),
        (MemoryType.EVENT, day(0), day(0), True),
        (MemoryType.EVENT, day(0), None, True),
        (MemoryType.EVENT, None, day(1), True),
        (MemoryType.FACT, day(0), day(1), True),
    ],
)
def test_an_event_of_another_day_is_another_one(kind, happened, said, expected):
    memory = a_memory(type=kind, occurred_at=happened)

    assert expected == is_repeat(a_request(type=kind, occurred_at=said), memory)


def test_a_repeat_unites_and_keeps_the_stronger():
    memory = a_memory(
        tags=("a",),
        metadata={"x": 1, "y": 1},
        importance=60,
        confidence=0.5,
        authority=Authority.AI_INFERRED,
        expires_at=day(5),
    )

    repeat = said_again(
        memory,
        tags=("b",),
        metadata={"y": 2},
        importance=50,
        confidence=0.9,
        authority=Authority.USER_ASSERTED,
        expires_at=day(9),
        pinned=True,
        summary="In short.",
        context="Over tea.",
    )

    said = repeat.memory
    assert () == repeat.not_taken
    assert (("a", "b"), {"x": 1, "y": 2}, 60, 0.9) == (
        said.tags,
        said.metadata,
        said.importance,
        said.confidence,
    )
    assert (Authority.USER_ASSERTED, day(9), True, "In short.", "Over tea.") == (
        said.authority,
        said.expires_at,
        said.pinned,
        said.summary,
        said.context,
    )


def test_only_what_the_request_gives_counts():
    memory = a_memory(confidence=0.5, authority=Authority.AI_INFERRED, importance=20)

    said = said_again(memory).memory

    assert (0.5, Authority.AI_INFERRED, 20) == (said.confidence, said.authority, said.importance)


def test_no_expiry_is_the_latest_and_none_given_changes_none():
    assert said_again(a_memory(), expires_at=day(3)).memory.expires_at is None
    assert day(5) == said_again(a_memory(expires_at=day(5))).memory.expires_at


def test_what_is_not_taken_is_named_and_nothing_gives_way():
    entities = tuple(EntityRef(key=f"person:{n:02}") for n in range(16))
    memory = a_memory(
        summary="Mine.",
        context="Then.",
        entities=entities,
        tags=tuple(f"t{n:02}" for n in range(32)),
    )
    newcomer = EntityRef(key="person:aa")

    repeat = said_again(
        memory,
        both=[*entities, newcomer],
        summary="Yours.",
        context="Now.",
        entities=(newcomer,),
        tags=("another",),
        metadata={"k": "v" * 20_000},
    )

    assert ("context", "entities", "metadata", "summary", "tags") == repeat.not_taken
    assert (memory.summary, memory.context, memory.tags, {}) == (
        repeat.memory.summary,
        repeat.memory.context,
        repeat.memory.tags,
        repeat.memory.metadata,
    )
    assert set(entities) == set(repeat.memory.entities)


@pytest.mark.parametrize(
    ("known", "said", "expected", "not_taken"),
    [
        ((None, None), (-5, 10), (-5, 10), ()),
        ((None, None), (5, 10), (None, 10), ("valid_from",)),
        ((None, None), (None, -5), (None, None), ("valid_until",)),
        ((0, 10), (-5, 20), (-5, 20), ()),
        ((0, 10), (2, 8), (0, 10), ("valid_from", "valid_until")),
        ((0, 10), (None, None), (0, 10), ()),
    ],
)
def test_bounds_are_filled_in_or_widened(known, said, expected, not_taken):
    def bounds(pair):
        return {
            name: day(number)
            for name, number in zip(("valid_from", "valid_until"), pair, strict=True)
            if number is not None
        }

    repeat = said_again(a_memory(**bounds(known)), **bounds(said))

    assert bounds(expected) == {
        name: value
        for name in ("valid_from", "valid_until")
        if (value := getattr(repeat.memory, name))
    }
    assert not_taken == repeat.not_taken


@given(
    tags=st.lists(st.text("abc", min_size=1, max_size=2), max_size=40),
    numbers=st.tuples(st.integers(0, 100), st.floats(0, 1)),
    metadata=st.dictionaries(st.text("xyz", max_size=2), st.integers(), max_size=4),
    pinned=st.booleans(),
)
def test_nothing_that_was_there_is_lost(tags, numbers, metadata, pinned):
    memory = a_memory(
        tags=("a", "b"), metadata={"x": 0}, importance=40, confidence=0.4, pinned=True
    )

    said = said_again(
        memory,
        tags=tuple(tags),
        importance=numbers[0],
        confidence=numbers[1],
        metadata=metadata,
        pinned=pinned,
    ).memory

    assert set(memory.tags) <= set(said.tags)
    assert set(memory.metadata) <= set(said.metadata)
    assert (memory.importance, memory.confidence) <= (said.importance, said.confidence)
    assert said.importance >= memory.importance
    assert said.confidence >= memory.confidence
    assert said.pinned


def test_equal_words_of_two_periods_are_two_memories_and_each_is_found_again():
    first = {"valid_from": day(-300), "valid_until": day(-200)}
    second = {"valid_from": day(-100), "valid_until": day(-50)}
    item = an_item("Ada works at Acme.", **first)
    later = an_item("Ada works at Acme.", **second)

    assert [Outcome.CREATED, Outcome.CREATED] == decided([], item, later)
    now = {"valid_from": day(-10)}
    known = [
        a_memory("Ada works at Acme.", uid="a", valid_from=day(-99), valid_until=day(9)),
        a_memory("Ada works at Acme.", uid="b", valid_from=day(20), valid_until=day(30)),
    ]
    assert [Outcome.REINFORCED, Outcome.REINFORCED] == decided(
        known,
        an_item("Ada works at Acme.", **now),
        an_item("Ada works at Acme.", valid_from=day(20), valid_until=day(30)),
    )


def test_a_fact_whose_period_has_ended_is_a_memory_of_its_own_when_it_is_said_again():
    over = a_memory("Ada is on holiday.", valid_until=day(-1))

    assert [Outcome.CREATED] == decided([over], an_item("Ada is on holiday."))


def test_keep_names_the_words_that_it_does_not_take():
    known = a_memory("Ada drinks tea.", logical_key="drink")
    state = GraphState(memories={known.key: known}, claims={f"{ADA.key}|logical|drink": known.key})
    item = an_item("Ada drinks cola.", logical_key="drink", on_same_key=OnSameKey.KEEP)

    (result,) = decide(state, [item], policy=POLICY, now=NOW).results

    assert (Outcome.UNCHANGED, ("content",)) == (result.outcome, result.not_taken)
