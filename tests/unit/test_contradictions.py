"""Contradictions: what disagrees, and what wins where the policy resolves it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from builders import NOW, a_memory
from contradiction_corpus import COMPATIBLE, CONTRADICTIONS
from fakes import ScriptedModel

from graphmem.model.edge import Edge, EdgeType
from graphmem.model.memory import Authority, Status
from graphmem.model.policy import ContradictionPolicy
from graphmem.model.state import GraphState
from graphmem.model.upkeep_rows import EntityNames, EntityStatement
from graphmem.upkeep.contradictions import Disagreement, decide_disagreements, find_disagreements
from graphmem.upkeep.model_judge import ModelJudge

JOHN = EntityNames(key="person:john", names=("John", "Johnny"))
ROME = EntityNames(key="place:rome", names=("Rome",))
POLICY = ContradictionPolicy()


def said(number, content, *entities, **changes):
    values = {"valid_from": None, "valid_until": None} | changes
    return EntityStatement(
        key=f"s|m-{number}",
        version=1,
        content=content,
        created_ms=number,
        entities=entities or (JOHN,),
        **values,
    )


def pairs(*statements):
    return [(pair.newer, pair.older) for pair in find_disagreements(statements)]


def test_other_values_of_one_family_of_one_entity_disagree_and_the_reason_names_them():
    (found,) = find_disagreements(
        [said(1, "John lives in Rome."), said(2, "Johnny lives in Paris.")]
    )

    assert ("s|m-2", "s|m-1", (1, 1)) == (found.newer, found.older, found.versions)
    assert "person:john: residence is paris or rome" == found.reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("John lives in Rome.", "John lives in Rome."),
        ("John lives in Rome.", "John works for Acme."),
        ("John lives in Rome.", "Ann lives in Paris with John."),
        ("The weather is nice.", "The weather is bad."),
        ("John lives in Rome.", "John's mother lives in Paris."),
        ("John's name is John Doe.", "John's dog's name is Rex."),
        ("John's age is 40.", "John's daughter's age is 7."),
    ],
)
def test_what_does_not_disagree(one, other):
    ann = EntityNames(key="person:ann", names=("Ann",))

    assert [] == pairs(said(1, one), said(2, other, JOHN, ann))


def test_the_subject_is_named_before_the_value_or_is_the_only_entity():
    assert [("s|m-2", "s|m-1")] == pairs(said(1, "He lives in Rome"), said(2, "He lives in Paris"))
    assert [] == pairs(
        said(1, "He lives in Rome", ROME, JOHN), said(2, "He lives in Paris", ROME, JOHN)
    )


def test_other_times_do_not_disagree():
    march = NOW + timedelta(days=30)

    assert [] == pairs(
        said(1, "John lives in Rome.", valid_until=march),
        said(2, "John lives in Paris.", valid_from=march),
    )
    assert 1 == len(
        pairs(
            said(1, "John lives in Rome.", valid_until=march + timedelta(seconds=1)),
            said(2, "John lives in Paris.", valid_from=march),
        )
    )


def test_an_attribute_and_a_polarity_of_the_entity_itself_disagree():
    assert 1 == len(pairs(said(1, "John's age is 40."), said(2, "John's age is 41.")))
    assert 1 == len(
        pairs(said(1, "John is allergic to nuts."), said(2, "John is not allergic to nuts."))
    )


def test_many_that_agree_are_compared_once():
    agreeing = [said(i, "John lives in Rome.") for i in range(200)]

    assert [("s|m-200", "s|m-199")] == pairs(*agreeing, said(200, "John lives in Paris."))


def test_many_values_of_one_family_are_bounded():
    assert 20 == len(pairs(*[said(i, f"John lives in Town{i}.") for i in range(30)]))


def a_pair(one, other, **changes):
    values = {
        "newer": other.key,
        "older": one.key,
        "versions": (other.version, one.version),
        "reason": "why",
    }
    return Disagreement(**(values | changes))


def memories(**changes):
    old = a_memory("John lives in Rome.", uid="old", **changes)
    return old, a_memory("John lives in Paris.", uid="new", created_at=NOW + timedelta(days=1))


def decided(one, other, policy=POLICY, edges=(), **changes):
    state = GraphState(
        memories={m.key: m for m in (one, other)}, edges=dict.fromkeys(edges, an_edge())
    )
    return decide_disagreements(
        state, disagreements=[a_pair(one, other, **changes)], policy=policy, now=NOW
    )


def an_edge():
    return Edge(
        uid="e", from_uid="a", to_uid="b", type=EdgeType.CONTRADICTS, weight=1.0, created_at=NOW
    )


def test_both_stay_active_and_the_edge_says_why():
    old, new = memories()
    decision = decided(old, new)

    assert () == decision.changed
    assert [("new", "CONTRADICTS", "old", "why")] == [
        (edge.from_uid, edge.type, edge.to_uid, edge.reason) for edge in decision.edges.values()
    ]


@pytest.mark.parametrize("kind", [EdgeType.CONTRADICTS, EdgeType.UPDATES])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_pair_that_is_known_is_left_alone(kind, is_reversed):
    old, new = memories()
    ends = (new.key, kind, old.key) if is_reversed else (old.key, kind, new.key)

    assert decided(old, new, edges=[ends]).is_empty


@pytest.mark.parametrize("change", [{"version": 2}, {"status": Status.ARCHIVED}])
def test_a_pair_that_changed_meanwhile_is_left_alone(change):
    old, new = memories()

    assert decided(replace(old, **change), new, versions=(1, 1)).is_empty


def superseded(old, new):
    decision = decided(old, new, ContradictionPolicy(resolve=True))
    assert {("CONTRADICTS", "why"), ("UPDATES", "conflict")} >= {
        (e.type, e.reason) for e in decision.edges.values()
    }
    return [(memory.uid, memory.status_reason) for memory in decision.changed]


def test_where_the_policy_says_so_the_newer_one_wins():
    assert [("old", "conflict")] == superseded(*memories())


def test_authority_comes_before_recency_and_corrections_before_it():
    assert [("new", "conflict")] == superseded(*memories(authority=Authority.TOOL_VERIFIED))
    assert [("new", "conflict")] == superseded(*memories(tags=("correction",)))


def test_a_pinned_memory_is_never_superseded():
    assert [] == superseded(*memories(pinned=True))


def test_a_claim_of_names_that_differ_by_signs_is_about_none_of_them():
    plain = EntityNames(key="person:bo", names=("Bo",))
    signed = EntityNames(key="person:bo__plus", names=("Bo+",))
    contents = "Bo+ lives in Rome.", "Bo+ lives in Paris."

    assert [] == pairs(*(said(number, text, plain, signed) for number, text in enumerate(contents)))
    assert 1 == len(pairs(*(said(number, text, signed) for number, text in enumerate(contents))))


def test_a_known_contradiction_is_resolved_once_the_policy_says_so():
    old, new = memories()
    decision = decided(
        old,
        new,
        ContradictionPolicy(resolve=True),
        edges=[(new.key, EdgeType.CONTRADICTS, old.key)],
    )

    assert [EdgeType.UPDATES] == [edge.type for edge in decision.edges.values()]


@pytest.mark.parametrize(("confidence", "expected"), [(0.89, 0), (0.9, 1), (1.0, 1), (1.1, 0)])
def test_a_model_is_believed_when_it_is_sure(confidence, expected):
    old, new = memories()
    answer = {"contradictions": [{"pair": 0, "confidence": confidence, "reason": "towns differ"}]}

    found = ModelJudge(model=ScriptedModel(answer)).disagreements([(new, old)], confidence=0.9)

    assert [("new", "old", "towns differ", confidence, "model scripted")][:expected] == [
        (pair.newer[-3:], pair.older[-3:], pair.reason, pair.weight, pair.by) for pair in found
    ]


def statements_of(pair):
    names = {"person:ada": "Ada", "project:apollo": "Apollo"}
    return [
        EntityStatement(
            key=f"k{number}",
            version=1,
            content=text,
            created_ms=number,
            valid_from=None,
            valid_until=None,
            entities=tuple(
                EntityNames(key=key, names=(name,)) for key, name in names.items() if name in text
            ),
        )
        for number, text in enumerate(pair)
    ]


def test_of_pairs_that_exclude_each_other_most_are_found_and_of_others_none():
    found = [pair for pair in CONTRADICTIONS if find_disagreements(statements_of(pair))]
    alarms = [pair for pair in COMPATIBLE if find_disagreements(statements_of(pair))]

    assert (60, 60) == (len(CONTRADICTIONS), len(COMPATIBLE))
    assert len(found) >= 36, f"{len(found)} of 60 are found"
    assert [] == alarms
