"""Boxes and topic traces (003): both sides of each bound, and what always holds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.lifecycle.boxes import Batch, batch_topics, boxed, is_quiet, overlap, sealed, traced
from graphmem.model.notebook import Member, SealReason, TopicTrace
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import parse_space

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
ADA = parse_space("user:ada", tenant="main")
CONFIG = LifecycleConfig()
TEA = ("tea", "green", "cup")


def batch(*uids, topics=TEA, at=NOW, session="chat-1"):
    return Batch(
        space=ADA,
        session=session,
        said_at=at,
        kept_at=at,
        members=tuple(Member(memory=uid, topics=topics) for uid in uids),
        topics=topics,
    )


def open_box(count=1, topics=TEA):
    (box,) = boxed(None, batch(*map(str, range(count)), topics=topics), CONFIG, "b-1")
    return box


def reasons(boxes):
    return [box.seal_reason for box in boxes]


def test_topics_overlap_by_the_shared_ones_of_all_whatever_their_case():
    assert 1 / 3 == overlap("abcd", "bcxy")
    assert 1.0 == overlap(["Tea"], ["tea"])
    assert 0.0 == overlap([], ["tea"]) == overlap(["tea"], [])


def test_an_extraction_has_its_first_sixteen_topics_of_two_characters_or_more():
    topics = batch_topics(["Go", "x", " go ", *map(str, range(10, 40))])

    assert ("go", *map(str, range(10, 25))) == topics


def shared(common, all_of_both):
    """Two lists of topics, so many of which are common to both."""
    apart = [f"t{number}" for number in range(all_of_both)]
    return tuple(apart[: common + 1]), tuple(apart[:common] + apart[common + 1 :])


@pytest.mark.parametrize(("common", "reason"), [(34, SealReason.TOPIC_SHIFT), (35, None)])
def test_topics_that_overlap_by_34_of_100_begin_a_box_and_by_35_join(common, reason):
    one, other = shared(common, 100)

    found = boxed(open_box(topics=one), batch("new", topics=other), CONFIG, "b-2")

    assert reason == found[0].seal_reason
    assert (2 if reason else 1) == len(found)


@pytest.mark.parametrize(("seconds", "reason"), [(1_800, None), (1_801, SealReason.TIME_GAP)])
def test_a_pause_of_30_minutes_joins_and_a_second_more_begins_a_box(seconds, reason):
    found = boxed(open_box(), batch("new", at=NOW + timedelta(seconds=seconds)), CONFIG, "b-2")

    assert reason == found[0].seal_reason


def test_50_memories_are_one_open_box_and_51_are_sealed_without_another():
    fifty = boxed(open_box(49), batch("new"), CONFIG, "b-2")
    more = boxed(open_box(50), batch("new"), CONFIG, "b-2")

    assert [None] == reasons(fifty)
    assert [(SealReason.MAX_MEMORIES, 51)] == [(b.seal_reason, len(b.members)) for b in more]


def test_the_number_is_checked_before_topics_and_topics_before_the_pause():
    late = NOW + timedelta(hours=3)

    many = boxed(open_box(50), batch("new", topics=("x1",), at=late), CONFIG, "b-2")
    shifted = boxed(open_box(), batch("new", topics=("x1",), at=late), CONFIG, "b-2")

    assert [SealReason.MAX_MEMORIES] == reasons(many)
    assert [SealReason.TOPIC_SHIFT, None] == reasons(shifted)
    assert ["b-1", "b-2"] == [box.uid for box in shifted]


def test_a_first_batch_over_the_number_is_sealed_at_once():
    small = replace(CONFIG, box_max_memories=2)

    assert [SealReason.MAX_MEMORIES] == reasons(boxed(None, batch("a", "b", "c"), small, "b-1"))
    assert [None] == reasons(boxed(None, batch("a", "b"), small, "b-1"))


def test_older_turns_that_come_later_join_without_turning_back_the_time():
    (box,) = boxed(open_box(), batch("old", at=NOW - timedelta(days=2)), CONFIG, "b-2")

    assert NOW == box.last_at
    assert NOW == sealed(box, SealReason.FORCED, NOW - timedelta(days=1)).sealed_at


@pytest.mark.parametrize(
    ("said", "kept", "is_it"), [(30, 30, False), (31, 30, False), (31, 31, True)]
)
def test_a_box_is_quiet_where_the_gap_passed_both_since_it_was_said_and_since_it_came(
    said, kept, is_it
):
    box = replace(
        open_box(),
        last_at=NOW - timedelta(minutes=said),
        kept_at=NOW - timedelta(minutes=kept),
    )

    assert is_it == is_quiet(box, CONFIG, NOW)


def a_trace(topics, *, days=1, uid="trace-1"):
    at = NOW - timedelta(days=days)
    return TopicTrace(uid=uid, space=ADA, topics=topics, first_at=at, last_at=at)


@pytest.mark.parametrize(("common", "joins"), [(39, False), (40, True)])
def test_a_box_joins_a_trace_whose_topics_overlap_by_40_of_100(common, joins):
    one, other = shared(common, 100)

    box, trace = traced(open_box(topics=other), [a_trace(one)], CONFIG)

    assert joins == (trace.uid == "trace-1") == (box.trace == "trace-1")
    assert (100 if joins else len(other)) == len(trace.topics)


@pytest.mark.parametrize(("seconds", "joins"), [(0, True), (1, False)])
def test_a_trace_of_7_days_ago_is_joined_and_an_older_one_not(seconds, joins):
    old = replace(a_trace(TEA), first_at=NOW, last_at=NOW - timedelta(days=7, seconds=seconds))

    assert joins == (traced(open_box(), [old], CONFIG)[0].trace == "trace-1")


def test_the_most_alike_trace_is_joined_and_of_equal_ones_the_latest():
    near, exact = a_trace(("tea", "green"), uid="near"), a_trace(TEA, uid="exact", days=3)
    later = a_trace(TEA, uid="later", days=2)

    assert "exact" == traced(open_box(), [near, exact], CONFIG)[0].trace
    assert "later" == traced(open_box(), [exact, later, near], CONFIG)[0].trace


def test_a_new_trace_is_named_by_its_topics():
    box, trace = traced(open_box(topics=("b", "a")), [], CONFIG)

    assert "trace-1eb7c54d" == box.trace == trace.uid  # of "a,b"
    assert (("b", "a"), ("b-1",)) == (trace.topics, trace.boxes)


_WORDS = st.lists(st.sampled_from(["go", "tea", "ada", "work", "fact"]), max_size=4)


@given(st.lists(st.tuples(st.integers(1, 4), _WORDS, st.integers(-100, 100)), max_size=30))
def test_every_memory_lies_in_one_box_and_at_most_one_is_open(told):
    small = replace(CONFIG, box_max_memories=5)
    found, current, at, given_in = {}, None, NOW, []
    for number, (count, topics, minutes) in enumerate(told):
        at += timedelta(minutes=minutes)
        uids = [f"{number}-{each}" for each in range(count)]
        given_in += uids
        boxes = boxed(current, batch(*uids, topics=tuple(topics), at=at), small, f"b-{number}")
        for box in boxes:
            assert box.uid not in found or found[box.uid].sealed_at is None
            found[box.uid] = box
        current = boxes[-1] if boxes[-1].sealed_at is None else None

    held = [member.memory for box in found.values() for member in box.members]
    assert sorted(given_in) == sorted(held)
    assert (1 if current else 0) == sum(box.sealed_at is None for box in found.values())
    assert all(len(box.members) <= 5 for box in found.values() if box.sealed_at is None)
