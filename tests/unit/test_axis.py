"""Values of one logical key in time: at each instant at most one holds, whatever the order."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from builders import NOW, an_item
from hypothesis import given
from hypothesis import strategies as st

from graphmem.gateway.decide import decide
from graphmem.model.edge import EdgeType
from graphmem.model.memory import Status
from graphmem.model.policy import Policy
from graphmem.model.source import Source
from graphmem.model.state import GraphState
from graphmem.model.writing import OnSameKey, Outcome

POLICY = Policy()
DAYS = range(-40, 41)


def day(number):
    return NOW + timedelta(days=number)


class Axis:
    """The memories of one key as decisions leave them."""

    def __init__(self):
        self.memories = {}
        self.claims = {}
        self.updates = set()
        self.number = 0

    def write(self, *items, now=NOW):
        """Decide items in one call; their outcomes."""
        numbered = []
        for index, item in enumerate(items):
            self.number += 1
            numbered.append(replace(item, index=index, new_uid=f"v-{self.number:03}"))
        state = GraphState(memories=dict(self.memories), claims=dict(self.claims))
        decision = decide(state, numbered, policy=POLICY, now=now)
        for memory in (*decision.created, *decision.changed):
            self.memories[memory.key] = memory
        gone = {claim for claim, key in self.claims.items() if key in decision.released}
        self.claims = {c: k for c, k in self.claims.items() if c not in gone}
        self.claims |= decision.claims
        self.updates |= {ends for ends, _ in decision.edges if ends[1] is EdgeType.UPDATES}
        return [result.outcome for result in decision.results]

    def holding(self, at):
        """What holds at a time."""
        return [
            memory.content
            for memory in self.memories.values()
            if memory.status in {Status.ACTIVE, Status.SUPERSEDED}
            and memory.began <= at
            and not memory.is_over(at)
        ]

    def now(self, at=NOW):
        """What a recall of then returns: active, valid."""
        return [
            memory.content
            for memory in self.memories.values()
            if memory.status is Status.ACTIVE
            and (memory.valid_from is None or memory.valid_from <= at)
            and not memory.is_over(at)
        ]


def value(words, begin=None, mode=OnSameKey.SUPERSEDE, **more):
    times = {} if begin is None else {"valid_from": day(begin)}
    return an_item(words, logical_key="rent", on_same_key=mode, **times, **more)


def test_a_successor_that_begins_in_the_future_leaves_todays_value():
    axis = Axis()

    assert [Outcome.CREATED] == axis.write(value("900 euros"))
    assert [Outcome.SUPERSEDED] == axis.write(value("1000 euros", 30))

    assert (["900 euros"], ["900 euros"]) == (axis.now(), axis.holding(NOW))
    assert ["1000 euros"] == axis.now(day(31)) == axis.holding(day(31))


def test_an_older_value_that_arrives_later_lies_in_the_past():
    axis = Axis()
    axis.write(value("Initech", -10))

    assert [Outcome.SUPERSEDED_BY_NEWER] == axis.write(value("Acme", -30))

    assert ["Initech"] == axis.now()
    assert ["Acme"] == axis.holding(day(-20))
    assert [] == axis.holding(day(-31))
    assert {Status.ACTIVE, Status.SUPERSEDED} == {m.status for m in axis.memories.values()}
    assert 1 == len(axis.updates)


@pytest.mark.parametrize("order", list(permutations((-30, -20, -10, 10))))
def test_a_batch_in_any_order_gives_the_same_axis(order):
    one, many = Axis(), Axis()

    one.write(*(value(f"since {number}", number) for number in order))
    for number in order:
        many.write(value(f"since {number}", number))

    for axis in (one, many):
        assert ["since -10"] == axis.now() == axis.holding(NOW)
        assert [["since -30"], ["since -20"], ["since 10"]] == [
            axis.holding(day(number)) for number in (-25, -15, 15)
        ]


def test_of_equal_begins_the_later_arrival_holds():
    axis = Axis()

    axis.write(value("first", -5), value("second", -5))

    assert ["second"] == axis.now() == axis.holding(NOW)


@pytest.mark.parametrize(
    ("begin", "expected"),
    [(None, Outcome.REVISED), (-5, Outcome.REVISED), (-3, Outcome.SUPERSEDED)],
)
def test_revise_corrects_in_place_unless_it_names_another_begin(begin, expected):
    axis = Axis()
    axis.write(value("tea", -5))

    assert [expected] == axis.write(value("coffee", begin, OnSameKey.REVISE))
    assert ["coffee"] == axis.now() == axis.holding(NOW)


def test_equal_words_repeat_the_value_in_force_or_the_next_one():
    axis = Axis()
    axis.write(value("tea", -5), value("coffee", 5))

    assert [Outcome.REINFORCED] == axis.write(value("tea", -2))
    assert [Outcome.REINFORCED] == axis.write(value("coffee", 5))
    assert 2 == len(axis.memories)


def test_what_updates_another_and_began_before_it_lies_in_its_past():
    axis = Axis()
    axis.write(an_item("Ada works at Initech.", uid="new", valid_from=day(-10)))

    outcomes = axis.write(
        an_item("Ada works at Acme.", uid="old", valid_from=day(-90), updates=("new",))
    )

    assert [Outcome.SUPERSEDED_BY_NEWER] == outcomes
    assert ["Ada works at Initech."] == axis.now() == axis.holding(NOW)
    assert ["Ada works at Acme."] == axis.holding(day(-20))
    ((start, _, end),) = axis.updates
    assert (start.endswith("|new"), end.endswith("|old")) == (True, True)


def test_an_update_that_begins_in_the_future_leaves_what_it_updates_until_then():
    axis = Axis()
    axis.write(an_item("The office is in Bonn.", uid="old"))

    axis.write(an_item("The office is in Berlin.", uid="new", valid_from=day(9), updates=("old",)))

    assert ["The office is in Bonn."] == axis.now() == axis.holding(NOW)
    assert ["The office is in Berlin."] == axis.now(day(9)) == axis.holding(day(9))


def test_a_value_in_the_past_keeps_its_own_end():
    axis = Axis()
    axis.write(value("Initech", -10))

    axis.write(value("Acme", -90, valid_until=day(-50)))

    assert [] == axis.holding(day(-30))
    assert ["Acme"] == axis.holding(day(-60))


def test_what_updates_a_value_of_the_future_holds_until_then():
    axis = Axis()
    axis.write(an_item("1000 euros", uid="next", valid_from=day(30)))

    axis.write(an_item("900 euros", valid_from=day(-5), updates=("next",)))

    assert ["900 euros"] == axis.now() == axis.holding(NOW)
    assert ["1000 euros"] == axis.now(day(31)) == axis.holding(day(31))


@pytest.mark.parametrize("mode", [OnSameKey.REVISE, OnSameKey.SUPERSEDE])
def test_another_uid_under_a_key_never_becomes_the_memory_that_has_it(mode):
    axis = Axis()
    axis.write(value("tea", -5, uid="a"))

    (outcome,) = axis.write(value("cola", None, mode, uid="b"))

    expected = Outcome.REFUSED if mode is OnSameKey.REVISE else Outcome.SUPERSEDED
    assert expected == outcome
    assert "tea" == next(m.content for m in axis.memories.values() if m.uid == "a")


def test_a_line_of_an_import_that_is_retracted_takes_nothing_back():
    axis = Axis()
    axis.write(value("tea", -5, uid="a"))

    axis.write(value("cola", None, OnSameKey.REVISE, uid="b", status=Status.RETRACTED))

    assert ["tea"] == axis.now() == axis.holding(NOW)


def test_the_same_dated_line_again_changes_nothing():
    axis = Axis()
    line = an_item("Ada lived in Oslo.", uid="u", valid_from=day(-90), valid_until=day(-50))
    axis.write(line)

    assert [Outcome.UNCHANGED] == axis.write(line)
    (memory,) = axis.memories.values()
    assert (day(-90), day(-50)) == (memory.valid_from, memory.valid_until)


def test_keep_does_not_claim_the_source_of_words_that_it_does_not_take():
    axis = Axis()
    axis.write(value("tea"))
    source = Source(key="s1")

    assert [Outcome.UNCHANGED] == axis.write(value("cola", None, OnSameKey.KEEP, source=source))
    assert [Outcome.REVISED] == axis.write(value("cola", None, OnSameKey.REVISE, source=source))


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(DAYS),
            st.sampled_from(("tea", "coffee", "cola", "milk")),
            st.sampled_from((OnSameKey.SUPERSEDE, OnSameKey.REVISE, OnSameKey.KEEP)),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_at_each_instant_at_most_one_value_holds(steps):
    axis = Axis()
    for begin, words, mode, has_begin in steps:
        axis.write(value(words, begin if has_begin else None, mode))

    for number in DAYS:
        for at in (day(number), day(number) + timedelta(hours=12)):
            assert len(axis.holding(at)) <= 1
            if at >= NOW:  # no answer depends on a job having run
                assert axis.holding(at) == axis.now(at)
    for memory in axis.memories.values():
        assert memory.valid_until is None or memory.began <= memory.valid_until
