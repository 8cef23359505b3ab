"""The curator: exact repeats, folds, and both sides of every bound."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from builders import ADA, NOW, a_memory
from hypothesis import given
from hypothesis import strategies as st

from graphmem.gateway.claims import content_claim
from graphmem.gateway.folding import decide_unfold
from graphmem.model.edge import LineageType
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType, Status
from graphmem.model.policy import CuratePolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.state import GraphState
from graphmem.model.upkeep_rows import Foldable
from graphmem.upkeep.dedupe import decide_dedupe, is_curation_due
from graphmem.upkeep.fold import plan_folds
from graphmem.upkeep.rollup import decide_rollup

POLICY = CuratePolicy()
EXTRACTED = Source(type=SourceType.WORKFLOW_OUTPUT, captured_by=CapturedBy.EXTRACTOR)
JOHN = EntityRef(key="person:john", label="John")


def state_of(*memories):
    return GraphState(memories={memory.key: memory for memory in memories})


def an_extracted(number, content="John likes chess.", **changes):
    values = {
        "uid": f"m-{number}",
        "source": EXTRACTED,
        "created_at": NOW + timedelta(seconds=number),
    } | changes
    return a_memory(content, **values)


def facts(number, start=0):
    return [
        Foldable(key=f"s|{i}", version=1, content=f"fact {i}") for i in range(start, start + number)
    ]


def folds(found, policy=POLICY):
    numbers = count(1)
    return plan_folds(found, policy, new_uid=lambda: f"fold-{next(numbers)}")


@pytest.mark.parametrize(("hours", "expected"), [(23.99, False), (24, True), (25, True)])
def test_a_space_is_due_after_a_day(hours, expected):
    assert expected == is_curation_due(NOW - timedelta(hours=hours), 0, POLICY, NOW)


@pytest.mark.parametrize(("new", "expected"), [(24, False), (25, True)])
def test_a_space_is_due_after_25_new_memories(new, expected):
    assert expected == is_curation_due(NOW, new, POLICY, NOW)


def test_a_space_that_was_never_curated_is_due():
    assert is_curation_due(None, 0, POLICY, NOW)


def test_of_repeats_the_newest_stays_and_counts_all_mentions():
    decision = decide_dedupe(state_of(*[an_extracted(i, mention_count=2) for i in range(30)]), NOW)

    assert 29 == len([event for event in decision.events if event.effect == "archived"])
    (kept,) = [memory for memory in decision.changed if memory.status is Status.ACTIVE]
    assert ("m-29", 60) == (kept.uid, kept.mention_count)
    assert {(Status.ARCHIVED, "dedupe")} == {
        (memory.status, memory.status_reason) for memory in decision.changed if memory.uid != "m-29"
    }
    assert {"m-29"} == {
        event.detail["kept"] for event in decision.events if event.effect == "archived"
    }
    assert ("m-29", "reinforced", "dedupe") == tuple(
        decision.events[-1].shown[name] for name in ("uid", "outcome", "reason")
    )


def test_a_seeded_memory_stays_though_it_is_older():
    seeded = a_memory("John likes chess.", uid="seed", created_at=NOW - timedelta(days=9))

    decision = decide_dedupe(state_of(seeded, an_extracted(1)), NOW)

    assert ["m-1"] == [event.subject for event in decision.events if event.effect == "archived"]


def test_contents_are_compared_in_their_normal_form():
    decision = decide_dedupe(
        state_of(an_extracted(1, "John likes chess"), an_extracted(2, "john  Likes chess.")), NOW
    )

    assert ["m-1"] == [event.subject for event in decision.events if event.effect == "archived"]


@pytest.mark.parametrize(
    "other",
    [
        {"content": "John likes cheese."},
        {"type": MemoryType.PREFERENCE},
        {"actor": "Bob"},
        {"pinned": True},
        {"status": Status.SUPERSEDED},
        {"context_built": True},
        {"logical_key": "another"},
    ],
    ids=["other words", "other type", "other actor", "pinned", "not active", "a turn", "other key"],
)
def test_what_is_no_repeat_stays(other):
    assert decide_dedupe(state_of(an_extracted(1), an_extracted(2, **other)), NOW).is_empty


def test_todos_are_left_alone():
    todos = [an_extracted(i, type=MemoryType.TODO) for i in range(3)]

    assert decide_dedupe(state_of(*todos), NOW).is_empty


def test_spaces_do_not_mix():
    other = replace(ADA, owner="bob")

    assert decide_dedupe(state_of(an_extracted(1), an_extracted(1, space=other)), NOW).is_empty


def test_the_one_that_stays_takes_the_best_of_all_and_the_claim():
    old = an_extracted(1, importance=80, entities=(JOHN,))
    new = an_extracted(2, importance=20, claims_content=False)
    claim = content_claim(ADA, MemoryType.FACT, None, old.content)

    decision = decide_dedupe(
        GraphState(memories={m.key: m for m in (old, new)}, claims={claim: old.key}), NOW
    )

    (kept,) = [memory for memory in decision.changed if memory.uid == "m-2"]
    assert (80, (JOHN,)) == (kept.importance, kept.entities)
    assert {claim: kept.key} == decision.claims


def test_the_one_that_stays_lives_as_long_as_the_longest():
    soon, late = NOW + timedelta(days=1), NOW + timedelta(days=9)

    def kept(*ends):
        group = [an_extracted(i, expires_at=end) for i, end in enumerate(ends)]
        return next(
            m.expires_at
            for m in decide_dedupe(state_of(*group), NOW).changed
            if m.status is Status.ACTIVE
        )

    assert (late, None) == (kept(late, soon), kept(None, soon))


def test_a_claim_that_a_pinned_memory_holds_is_not_taken():
    pinned = a_memory("John likes chess.", uid="pin", pinned=True)
    claim = content_claim(ADA, MemoryType.FACT, None, pinned.content)
    state = GraphState(
        memories={m.key: m for m in (pinned, an_extracted(1), an_extracted(2))},
        claims={claim: pinned.key},
    )

    decision = decide_dedupe(state, NOW)

    assert {} == decision.claims
    assert pinned.key not in {memory.key for memory in decision.changed} | decision.released


@pytest.mark.parametrize(("members", "expected"), [(2, 0), (3, 1)])
def test_three_facts_are_folded_two_are_not(members, expected):
    assert expected == len(folds([(JOHN, facts(members))]))


def test_a_fold_says_what_its_members_say_and_no_more_than_it_can_hold():
    (first, second) = folds([(JOHN, facts(8))])

    assert "John: fact 0 / fact 1 / fact 2 / fact 3 / fact 4" == first.content
    assert "John: fact 5 / fact 6 / fact 7" == second.content
    assert 1 == len(folds([(JOHN, facts(7))]))  # the last two wait


def test_at_most_five_folds_in_one_run():
    assert 5 == len(folds([(JOHN, facts(50))]))
    assert [5, 6] == [
        len(
            folds(
                [(replace(JOHN, key=f"person:{i}"), facts(3, start=3 * i)) for i in range(n)],
                POLICY,
            )
        )
        for n in (5,)
    ] + [len(folds([(JOHN, facts(50))], replace(POLICY, folds=6)))]


def test_a_fact_of_two_entities_goes_into_one_fold():
    shared = facts(3)

    assert 1 == len(folds([(JOHN, shared), (EntityRef(key="person:bob", label="Bob"), shared)]))


def test_facts_too_long_for_one_memory_are_not_folded():
    long = [Foldable(key=f"s|{i}", version=1, content="x" * 20_000) for i in range(3)]

    assert [] == folds([(JOHN, long)])


def a_fold(members):
    (planned,) = folds(
        [(JOHN, [Foldable(key=m.key, version=m.version, content=m.content) for m in members])]
    )
    return planned


def three():
    return [
        an_extracted(i, f"Fact {i}.", entities=(JOHN,), importance=40, confidence=0.5 + i / 10)
        for i in range(3)
    ]


def fold(state, members):
    return decide_rollup(state, rollup=a_fold(members), now=NOW, has_vectors=True)


def test_folding_makes_one_memory_archives_its_members_and_draws_the_lineage():
    members = three()
    decision = fold(state_of(*members), members)

    (folded,) = decision.created
    assert ("John: Fact 0. / Fact 1. / Fact 2.", 70, 0.5, (JOHN,)) == (
        folded.content,
        folded.importance,
        folded.confidence,
        folded.entities,
    )
    assert (SourceType.MANUAL, CapturedBy.SYSTEM) == (folded.source.type, folded.source.captured_by)
    assert [(Status.ARCHIVED, "fold")] * 3 == [
        (m.status, m.status_reason) for m in decision.changed
    ]
    assert [(LineageType.FOLDED_FROM, uid) for uid in ("m-0", "m-1", "m-2")] == [
        (edge.type, edge.to_uid) for edge in decision.edges.values()
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"status": Status.RETRACTED},
        {"pinned": True},
        {"expires_at": NOW + timedelta(days=1)},
        {"valid_until": NOW},
        {"logical_key": "john|town"},
    ],
)
def test_a_fold_is_dropped_when_a_member_changed_meanwhile(change):
    members = three()
    now = [*members[:2], replace(members[2], **change)]

    assert fold(state_of(*now), members).is_empty


def test_a_fold_is_dropped_when_a_member_is_gone():
    members = three()

    assert fold(state_of(*members[:2]), members).is_empty


def test_unfolding_restores_the_members_exactly():
    members = three()
    decision = fold(state_of(*members), members)
    folded = decision.created[0]

    undone = decide_unfold(
        state_of(folded, *decision.changed), folded.key, [m.key for m in members], NOW
    )

    restored = {memory.uid: memory for memory in undone.changed}
    assert (Status.ARCHIVED, "unfold") == (
        restored["fold-1"].status,
        restored["fold-1"].status_reason,
    )
    assert members == [
        replace(restored[m.uid], version=1, updated_at=NOW, status_at=None, status_reason=None)
        for m in members
    ]


CONTENTS = st.sampled_from(["Tea.", "tea", "Coffee.", "Chess."])
MEMORIES = st.lists(
    st.builds(
        lambda number, content, **changes: a_memory(content, uid=f"m-{number}", **changes),
        number=st.integers(1, 1000),
        content=CONTENTS,
        type=st.sampled_from([MemoryType.FACT, MemoryType.TODO]),
        status=st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.ARCHIVED]),
        pinned=st.booleans(),
        mention_count=st.integers(1, 5),
        created_at=st.integers(0, 9).map(lambda days: NOW - timedelta(days=days)),
        source=st.sampled_from([Source(), EXTRACTED]),
    ),
    max_size=10,
)


@given(memories=MEMORIES)
def test_a_second_dedupe_changes_nothing_keeps_all_nodes_and_no_mention_is_lost(memories):
    state = state_of(*memories)
    once = decide_dedupe(state, NOW)
    after = {**state.memories, **{memory.key: memory for memory in once.changed}}

    assert not once.created
    assert all(not state.memories[memory.key].pinned for memory in once.changed)
    assert decide_dedupe(replace(state, memories=after), NOW).is_empty

    def active(memories):
        return {
            m.content.lower().strip(".") for m in memories.values() if m.status is Status.ACTIVE
        }

    assert active(state.memories) == active(after)
