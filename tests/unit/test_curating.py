"""The curator of the companion: repeats, folds, and both sides of every bound."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from builders import ADA, NOW, a_memory

from graphmem.companion.curating import (
    PEOPLE,
    PEOPLE_AND_PROJECTS,
    batches,
    decide_dedupe,
    decide_fold,
    is_due,
    named,
    plan_folds,
    repeats_in,
)
from graphmem.companion.planning import request_of_fact
from graphmem.companion.projection import fact_of, native_of_todo
from graphmem.gateway.claims import logical_claim
from graphmem.gateway.status import ChangeStatus, decide_status
from graphmem.model.companion import (
    ROOM,
    CuratorState,
    EntityKind,
    FactKind,
    FactSource,
    FactStatus,
    FactType,
    NewFact,
    NewTodo,
    Subtype,
    TodoKind,
)
from graphmem.model.edge import LineageType
from graphmem.model.entity import EntityRef
from graphmem.model.event import Effect, Reason
from graphmem.model.memory import MemoryType, Status
from graphmem.model.policy.companion import CompanionCuratePolicy
from graphmem.model.state import GraphState
from graphmem.store.curating import kept_fact

POLICY = CompanionCuratePolicy()
CHESS = "John likes chess."
JOHN = ("person:john",)
NAMES = {"person:johnny": "person:john"}
SEEDED = FactSource.SEEDED_PROFILE


def a_fact(number=1, content=CHESS, *, refs=JOHN, kind=FactKind.PEOPLE, space=ADA, **changes):
    """A kept memory, the later the larger its number."""
    fact = NewFact(kind=kind, content=content, entity_refs=refs)
    own = {name: changes.pop(name) for name in list(changes) if name in NewFact.__slots__}
    request = request_of_fact(replace(fact, **own), space=space, at=None)
    names = ("type", "importance", "confidence", "source", "authority", "pinned", "native")
    values = {name: getattr(request, name) for name in (*names, "logical_key", "kept_by")}
    at = NOW - timedelta(days=9) + timedelta(seconds=number)
    times = {"created_at": at, "updated_at": at}
    entities = tuple(sorted(EntityRef(key=ref) for ref in refs))
    values |= times | {"uid": f"m-{number}", "space": space, "entities": entities}
    return a_memory(content, **(values | {"claims_content": False} | changes))


def facts_of(number, start=1, **changes):
    return [a_fact(start + each, f"Fact {start + each}.", **changes) for each in range(number)]


def state_of(*memories, **values):
    return GraphState(memories={memory.key: memory for memory in memories}, **values)


def archived(decision):
    return [each.uid for each in decision.changed if each.status is Status.ARCHIVED]


def decided(*memories, names=NAMES, **options):
    return decide_dedupe(state_of(*memories), NOW, names=names, **options)


def deduped(*memories, **options):
    return archived(decided(*memories, **options))


def kept(*memories):
    decision = decided(*memories)
    (found,) = [each for each in decision.changed if each.status is Status.ACTIVE]
    return found


def folds(*memories, folded=PEOPLE, policy=POLICY, most=5):
    numbers = count(1)
    return plan_folds(
        [kept_fact(memory, NAMES) for memory in memories],
        ADA,
        folded,
        policy,
        most=most,
        new_uid=lambda: f"fold-{next(numbers)}",
    )


def made_of(*memories, **options):
    (fold,) = folds(*memories)
    decision = decide_fold(state_of(*memories), fold, NOW, **options)
    return decision.created[0], decision


# when


def due(new_memories=0, *, by_job=False, **ago):
    last = CuratorState(last_run_at=NOW - timedelta(**ago), last_memory_count_at_run=0)
    return is_due(last, new_memories, POLICY, NOW, by_job=by_job)


def test_a_user_who_was_never_looked_after_is_due():
    assert is_due(None, 0, POLICY, NOW)


@pytest.mark.parametrize(("minutes", "expected"), [(23 * 60 + 59, False), (24 * 60, True)])
def test_a_user_is_due_after_a_day(minutes, expected):
    assert expected == due(minutes=minutes)


@pytest.mark.parametrize(("new", "expected"), [(24, False), (25, True)])
def test_a_user_is_due_after_25_new_memories(new, expected):
    assert expected == due(new, hours=1)


@pytest.mark.parametrize(("seconds", "expected"), [(59, False), (60, True)])
@pytest.mark.parametrize(("new", "by_job"), [(25, False), (0, True)])
def test_nobody_is_due_again_within_a_minute_and_a_job_waits_for_nothing_else(
    seconds, expected, new, by_job
):
    assert expected == due(new, by_job=by_job, seconds=seconds)


# repeats


def test_of_repeats_the_newest_stays_and_counts_all_mentions():
    decision = decided(*[a_fact(i, mention_count=2) for i in range(30)])

    assert 29 == len(archived(decision))
    assert {Reason.DEDUPE} == {each.status_reason for each in decision.changed} - {None}
    (newest,) = [each for each in decision.changed if each.status is Status.ACTIVE]
    assert ("m-29", 60) == (newest.uid, newest.mention_count)
    assert {"m-29"} == {
        event.detail["kept"] for event in decision.events if event.effect is Effect.ARCHIVED
    }
    assert (Effect.REINFORCED, "m-29") == (decision.events[-1].effect, decision.events[-1].subject)


def test_of_seeded_ones_the_newest_stays_though_others_are_newer():
    old, new, other = a_fact(1, source=SEEDED), a_fact(2, source=SEEDED), a_fact(3)

    assert ["m-1", "m-3"] == deduped(old, new, other)


def test_pinned_ones_are_never_put_away_and_one_of_them_stands_for_the_others():
    assert ["m-3"] == deduped(a_fact(1, pinned=True), a_fact(2, pinned=True), a_fact(3))
    assert "m-2" == kept(a_fact(1, pinned=True), a_fact(2, pinned=True), a_fact(3)).uid
    assert [] == deduped(a_fact(1, source=SEEDED), a_fact(2, pinned=True))


@pytest.mark.parametrize(
    ("content", "other"),
    [(CHESS, "john  likes CHESS"), ("Lives in Rome", "Lives in Rome!?"), ("Café.", "Cafe\u0301")],
)
def test_contents_are_compared_in_their_normal_form(content, other):
    assert ["m-1"] == deduped(a_fact(1, content), a_fact(2, other))


def test_the_first_entity_and_not_the_memory_key_tells_repeats():
    other = Subtype(entity_type=EntityKind.PERSON, fact_type=FactType.HABIT)

    assert ["m-1"] == deduped(a_fact(1), a_fact(2, subtype=other))
    assert ["m-1"] == deduped(a_fact(1, refs=(*JOHN, "place:rome")), a_fact(2))
    assert [] == deduped(a_fact(1, refs=("place:rome", *JOHN)), a_fact(2))


def test_equal_words_about_two_people_both_stay():
    mom = a_fact(1, "Lives in Rome.", refs=("person:mom",))

    assert [] == deduped(mom, a_fact(2, "Lives in Rome.", refs=JOHN))


def test_an_entity_that_was_merged_is_what_it_became():
    old = a_fact(1, refs=("person:johnny", "place:rome"))
    new = a_fact(2, refs=("person:john",))

    assert ["m-1"] == deduped(old, new)
    assert [] == deduped(old, new, names={})
    assert ("person:john", "place:rome") == fact_of(kept(old, new)).entity_refs
    facts = [*facts_of(2), a_fact(3, "Fact 3.", refs=("person:johnny",))]
    assert ["person:john"] == [fold.entity for fold in folds(*facts)]


def test_without_entities_the_words_alone_tell_repeats():
    assert ["m-1"] == deduped(a_fact(1, refs=()), a_fact(2, "John likes chess!", refs=()))


@pytest.mark.parametrize(
    "other",
    [
        {"content": "John likes cheese."},
        {"kind": FactKind.PROFILE},
        {"space": replace(ADA, persona="coach")},
        {"status": Status.SUPERSEDED},
        {"kept_by": None},
        {"kept_by": "notes"},
        {"valid_until": NOW},
        {"expires_at": NOW + timedelta(days=1)},
    ],
    ids=["words", "type", "space", "status", "plain", "another room", "interval", "expiry"],
)
def test_what_is_no_repeat_stays(other):
    assert [] == deduped(a_fact(1), a_fact(2, **other))


def test_todos_are_left_alone():
    native = native_of_todo(NewTodo(kind=TodoKind.COMMITMENT, content="Call mom"))
    todos = [a_fact(i, type=MemoryType.TODO, native=native) for i in range(3)]

    assert decided(*todos).is_empty


@pytest.mark.parametrize(("importance", "expected"), [(0, True), (1, True), (2, False)])
def test_the_hygiene_variant_puts_only_away_what_matters_little(importance, expected):
    repeats = a_fact(1, importance=importance), a_fact(2, importance=3)

    assert expected == (["m-1"] == deduped(*repeats, only_small=True))
    assert ["m-1"] == deduped(*repeats)


def test_the_hygiene_variant_has_a_reason_of_its_own_and_leaves_pinned_ones():
    decision = decided(a_fact(1), a_fact(2), only_small=True)

    assert {None, Reason.CURATOR_V1_DEDUPE} == {each.status_reason for each in decision.changed}
    assert [] == deduped(a_fact(1, pinned=True), a_fact(2), a_fact(3, source=SEEDED))[1:]


def test_what_stays_takes_the_most_of_all():
    old = a_fact(1, refs=("person:john", "place:rome"), importance=3, kind=FactKind.PROFILE)
    new = a_fact(2, refs=("person:john", "org:acme"), kind=FactKind.PROFILE)
    assert MemoryType.FACT is new.type

    fact = fact_of(kept(old, new))

    assert (3, ("person:john", "org:acme", "place:rome")) == (fact.importance, fact.entity_refs)
    assert MemoryType.IDENTITY is kept(old, new).type
    assert 3 == kept(old, new).native["importance"]
    assert ["org:acme", "person:john", "place:rome"] == [ref.key for ref in kept(old, new).entities]


@pytest.mark.parametrize(("number", "expected"), [(4, 5), (5, 5)])
def test_what_stays_names_at_most_five_entities(number, expected):
    more = tuple(f"place:p{i}" for i in range(number))

    fact = fact_of(kept(a_fact(1, refs=(*JOHN, *more)), a_fact(2)))

    assert (expected, "person:john") == (len(fact.entity_refs), fact.entity_refs[0])


def test_what_stays_has_the_sources_of_all_and_takes_their_turns():
    decision = decided(a_fact(1), a_fact(2, source=SEEDED))

    assert [(a_fact(1).key, a_fact(2).key)] == list(decision.absorbed)
    (memory,) = decision.sourced
    assert [a_fact(2, source=SEEDED).source, a_fact(1).source] == list(memory.sources)


def test_groups_go_together_up_to_a_batch_and_a_larger_one_in_parts_with_what_stays():
    groups = [[f"{name}{i}" for i in range(size)] for name, size in (("a", 7), ("b", 2), ("c", 3))]

    assert [
        ["a0", "a1", "a2", "a3"],
        ["a0", "a4", "a5", "a6"],
        ["b0", "b1"],
        ["c0", "c1", "c2"],
    ] == list(batches(groups, 4))


def test_ten_thousand_memories_are_looked_through_once():
    facts = [kept_fact(a_fact(i, f"Fact {i % 5_000}."), NAMES) for i in range(10_000)]
    compared = count()

    class Watched(str):
        __slots__ = ()

        def __eq__(self, other):
            next(compared)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    watched = [replace(each, key=Watched(each.key)) for each in facts]

    assert 5_000 == len(list(repeats_in(watched, only_small=False)))
    assert 5 == len(plan_folds(watched, ADA, PEOPLE, POLICY, most=5, new_uid=lambda: "fold"))
    assert next(compared) < 200_000


# folds


@pytest.mark.parametrize(("number", "expected"), [(2, 0), (3, 1)])
def test_a_fold_needs_three_members(number, expected):
    assert expected == len(folds(*facts_of(number)))


@pytest.mark.parametrize(
    ("number", "sizes"), [(5, [5]), (6, [5]), (7, [5]), (8, [5, 3]), (10, [5, 5])]
)
def test_a_fold_holds_five_contents_and_the_rest_waits_for_the_next(number, sizes):
    assert sizes == [len(fold.members) for fold in folds(*facts_of(number))]


@pytest.mark.parametrize(("number", "expected"), [(5, 5), (6, 5)])
def test_a_run_makes_at_most_five_folds(number, expected):
    people = [facts_of(3, 10 * i, refs=(f"person:p{i}",)) for i in range(1, number + 1)]

    assert expected == len(folds(*(each for facts in people for each in facts)))


def test_a_fold_says_what_its_members_say_the_oldest_first():
    fold = folds(*facts_of(4)[::-1])[0]

    assert "John: Fact 1. / Fact 2. / Fact 3. / Fact 4." == fold.content


def test_a_fold_calls_its_entity_as_it_is_known():
    facts = facts_of(3, entities=(EntityRef(key="person:john", label="John Doe"),))

    (fold,) = folds(*facts)

    assert "John Doe: " == named(fold, state_of(*facts).memories).content[:10]
    assert fold == named(fold, {})


def test_the_entity_of_which_most_is_known_is_folded_first_and_a_fact_goes_into_one_fold():
    both = a_fact(9, "John knows Mary.", refs=(*JOHN, "person:mary"))
    facts = [*facts_of(2, refs=("person:mary",)), *facts_of(3, 3), both]

    assert [["m-3", "m-4", "m-5", "m-9"]] == [
        [member.key.rpartition("|")[2] for member in fold.members] for fold in folds(*facts)
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"source": SEEDED},
        {"source": FactSource.CURATED_FOLD},
        {"pinned": True},
        {"refs": ("person:mary",)},
        {"refs": ()},
        {"kind": FactKind.PROFILE},
    ],
    ids=["seeded", "folded", "pinned", "another entity", "no entity", "of the user"],
)
def test_what_may_not_be_folded_is_no_member(other):
    assert [] == folds(*facts_of(2), a_fact(3, "Fact 3.", **other))


def test_what_has_typed_edges_is_no_member():
    facts = [kept_fact(each, NAMES) for each in facts_of(3)]
    held = replace(facts[0], stands_alone=False)

    assert [] == plan_folds([held, *facts[1:]], ADA, PEOPLE, POLICY, most=5, new_uid=str)


def test_only_a_job_folds_projects_and_people_share_a_person_or_an_organisation():
    project = facts_of(3, kind=FactKind.PROJECT, refs=("project:x", "place:rome"))
    firm = facts_of(3, 4, refs=("org:acme", "place:rome"))

    assert ["org:acme"] == [fold.entity for fold in folds(*project, *firm)]
    assert ["org:acme", "project:x"] == [
        fold.entity for fold in folds(*project, *firm, folded=PEOPLE_AND_PROJECTS)
    ]


def test_a_fold_never_has_the_key_of_another_memory_or_of_what_is_said_next():
    facts = facts_of(10, subtype=Subtype(entity_type=EntityKind.PERSON, fact_type=FactType.FACT))
    other = a_fact(99, "Before.", source=FactSource.CURATED_FOLD, pinned=True)
    taken = replace(other, logical_key="people|person|john|fact|fold")

    assert ["people|person|john|fact"] == list({fact.logical_key for fact in facts})
    assert ["people|person|john|fact|fold", "people|person|john|fact|fold-2"] == [
        fold.memory_key for fold in folds(*facts)
    ]
    assert ["people|person|john|fact|fold-2", "people|person|john|fact|fold-3"] == [
        fold.memory_key for fold in folds(*facts, taken)
    ]


def test_a_fold_holds_no_more_than_a_memory_may():
    facts = [a_fact(i, f"{i}" * 9_000) for i in range(1, 5)]

    assert [3] == [len(fold.members) for fold in folds(*facts)]
    assert [] == folds(*(a_fact(i, f"{i}" * 16_000) for i in range(1, 4)))


def test_a_fold_is_a_memory_of_the_room_and_its_members_are_put_away():
    facts = [
        a_fact(1, "Fact 1.", refs=("person:john", "org:acme"), importance=3, mention_count=2),
        a_fact(2, "Fact 2.", refs=("place:rome", "person:john"), confidence=0.4),
        a_fact(3, "Fact 3."),
    ]

    made, decision = made_of(*facts, has_vectors=True)

    fact = fact_of(made)
    assert ("fold-1", ROOM, ADA, 4, 0.4) == (
        *(made.uid, made.kept_by, made.space),
        *(made.mention_count, made.confidence),
    )
    assert (FactKind.PEOPLE, FactSource.CURATED_FOLD, 2) == (
        *(fact.kind, fact.source),
        fact.importance,
    )
    assert ("person:john", "org:acme", "place:rome") == fact.entity_refs
    assert ("John", ("m-1", "m-2", "m-3")) == (fact.entity_label, fact.folded_from)
    assert Subtype(entity_type=EntityKind.PERSON, fact_type=FactType.FACT) == fact.subtype
    assert made.logical_key == fact.memory_key == made.native["memory_key"]
    assert ["m-1", "m-2", "m-3"] == archived(decision)
    assert {Reason.FOLD} == {each.status_reason for each in decision.changed}
    assert {(made.key, LineageType.FOLDED_FROM, each.key) for each in facts} == {
        ends for ends, _ in decision.edges
    }
    assert {logical_claim(ADA, made.logical_key, ROOM): made.key} == decision.claims


def test_a_fold_is_of_the_turns_of_its_members_which_gave_it_no_words():
    made, decision = made_of(*facts_of(3), turns=[("t-1", "said"), ("t-2", "said")])

    assert [(made.key, "t-1", "said", ""), (made.key, "t-2", "said", "")] == [
        (link.memory, link.turn, link.said_by, link.words) for link in decision.turns.links
    ]


@pytest.mark.parametrize("change", ["version", "gone", "key"])
def test_what_changed_since_it_was_read_is_not_folded(change):
    facts = facts_of(3)
    (fold,) = folds(*facts)
    now = {
        "version": state_of(replace(facts[0], version=2), *facts[1:]),
        "gone": state_of(*facts[1:]),
        "key": state_of(
            *facts,
            a_fact(9, refs=()),
            claims={logical_claim(ADA, fold.memory_key, ROOM): a_fact(9).key},
        ),
    }[change]

    assert decide_fold(now, fold, NOW).is_empty


def retracted(memory, decision, made):
    """What becomes of a fold when one of its members is retracted."""
    memories = {each.key: each for each in (*decision.changed, made)}
    members = tuple(each.key for each in decision.changed)
    state = GraphState(memories=memories, rollups={made.key: members})
    change = ChangeStatus(memory=memories[memory.key], status=Status.RETRACTED, reason=None)
    after = {each.key: each for each in decide_status(state, change, now=NOW).changed}
    return {**memories, **after}


def test_a_fold_whose_member_is_retracted_says_and_names_what_is_left():
    facts = [
        a_fact(1, "Fact 1.", refs=("person:john", "org:acme")),
        a_fact(2, "Fact 2.", refs=("person:john", "place:rome")),
        a_fact(3, "Fact 3."),
    ]
    made, decision = made_of(*facts)

    left = retracted(facts[0], decision, made)[made.key]

    fact = fact_of(left)
    assert ("John: Fact 2. / Fact 3.", ("m-2", "m-3")) == (fact.content, fact.folded_from)
    assert ("person:john", "place:rome") == fact.entity_refs
    assert (
        made.native
        | {
            "folded_from_ids": ["m-2", "m-3"],
            "entity_refs": ["person:john", "place:rome"],
        }
        == left.native
    )
    assert made.logical_key == left.logical_key


def test_a_fold_of_which_one_member_is_left_is_taken_apart():
    facts = facts_of(3)
    made, decision = made_of(*facts)
    two = retracted(facts[0], decision, made)
    again = replace(decision, changed=tuple(two[each.key] for each in facts))

    after = retracted(facts[1], again, two[made.key])

    assert (Status.ARCHIVED, Reason.UNFOLD) == (
        *(after[made.key].status, after[made.key].status_reason),
    )
    assert FactStatus.ACTIVE is fact_of(after[facts[2].key]).status
    assert facts[2].native == after[facts[2].key].native
