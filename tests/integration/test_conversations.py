"""Conversations on a real graph."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from builders import NOW, a_request

from graphmem.gateway.status import ChangeStatus
from graphmem.model.memory import Status
from graphmem.model.source import Source


def turn(text, actor="Ada", conversation="c", **changes):
    return a_request(
        text, actor=actor, occurred_at=NOW, source=Source(conversation_id=conversation), **changes
    )


def chain(house):
    return house.rows(
        "MATCH (a:Memory)-[:NEXT]->(b:Memory) WHERE a.space STARTS WITH $tenant"
        " RETURN a.content, b.content ORDER BY a.content"
    )


def test_turns_join_in_order_of_arrival(house):
    for number in range(3):
        house.write(turn(f"T{number}"))

    assert [("T0", "T1"), ("T1", "T2")] == chain(house)


def test_the_context_of_the_turn_before_is_rewritten_when_the_next_arrives(house):
    house.write(turn("Do you have pets?", actor="Bob"))
    house.write(turn("Yes, three."))
    house.write(turn("Which ones?", actor="Bob"))

    assert [("Do you have pets?\nWhich ones?",)] == house.rows(
        "MATCH (m:Memory {content: 'Yes, three.'}) WHERE m.space STARTS WITH $tenant RETURN"
        " m.context"
    )
    found = house.recall("pets")
    assert "Yes, three." in [item.memory.content for item in found.items if item.explanation.text]


def test_the_date_and_the_speaker_can_be_searched(house):
    house.write(turn("I went home.", actor="Zelda"))

    for cue in ("March 2026", "Zelda"):
        item = house.recall(cue).items[0]
        assert item.explanation.text is not None


def test_one_batch_and_single_adds_build_the_same_chain(house):
    house.write(*[turn(f"B{number}", conversation="batch") for number in range(4)])
    for number in range(4):
        house.write(turn(f"S{number}", conversation="single"))

    contexts = dict(
        house.rows(
            "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.content, m.context"
            " ORDER BY m.content"
        )
    )
    assert [contexts[f"B{number}"] for number in range(4)] == [
        contexts[f"S{number}"].replace("S", "B") for number in range(4)
    ]


def test_clients_that_write_at_once_leave_one_unbroken_chain(house):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: house.write(turn(f"P{number:02}")), range(24)))

    assert [(24, 23, 1, 1)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN count(m), sum(COUNT { (m)-[:NEXT]->() }), max(COUNT { (m)-[:NEXT]->() }),"
        " max(COUNT { ()-[:NEXT]->(m) })"
    )
    assert [(0,)] == house.rows(
        "MATCH (p:Memory)-[:NEXT]->(m:Memory) WHERE m.space STARTS WITH $tenant"
        " AND NOT (m.context CONTAINS p.content AND p.context CONTAINS m.content) RETURN count(*)"
    )


def test_a_turn_put_behind_another_mends_the_chain_and_the_contexts(house):
    house.write(*[turn(f"A{number}", uid=f"a{number}") for number in range(4)])
    house.write(turn("Between", after="a1"))

    assert [("A0", "A1"), ("A1", "Between"), ("A2", "A3"), ("Between", "A2")] == chain(house)
    assert [("A0\nBetween",), ("Between\nA3\nA1",)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.content IN ['A1', 'A2']"
        " RETURN m.context ORDER BY m.content"
    )


def test_two_conversations_never_touch(house):
    house.write(turn("One", conversation="1"), turn("Two", conversation="2"))

    assert [] == chain(house)


def test_a_turn_revised_by_its_logical_key_keeps_its_neighbours(house):
    house.write(turn("One"), turn("Two", logical_key="k"), turn("Three"))
    house.write(turn("Two again", logical_key="k"))

    contexts = dict(
        house.rows("MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.content, m.context")
    )
    assert {"One": "Two again", "Two again": "One\nThree", "Three": "Two again\nOne"} == contexts


def contexts(house):
    return dict(
        house.rows(
            "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.content, m.context"
            " ORDER BY m.content"
        )
    )


def said(house):
    """Five turns, each of a word of its own; and their contexts."""
    for number, word in enumerate(("alpha", "bravo", "charlie", "delta", "echo")):
        house.write(turn(f"The {word} is here.", uid=f"t{number}"))
    return contexts(house)


def change(house, status, uid="t2"):
    (memory,) = house.graphmem.memories.by_uid(house.caller.tenant, uid)
    before = house.graphmem.histories.last_active(memory)
    house.graphmem.gateway.execute(
        ChangeStatus(memory=memory, status=status, reason="by hand", before=before), house.caller
    )


@pytest.mark.parametrize("status", [Status.RETRACTED, Status.ARCHIVED])
def test_what_stops_being_active_leaves_the_contexts_beside_it_and_comes_back_there(house, status):
    before = said(house)
    assert 3 == sum("charlie" in f"{context}" for context in before.values())

    change(house, status)

    beside = contexts(house)
    assert [] == [
        content
        for content, context in beside.items()
        if "charlie" in f"{context}" and "charlie" not in content
    ]
    assert [] == [
        item.memory.content
        for item in house.recall("charlie").items
        if item.explanation.text is not None
    ]
    change(house, Status.ACTIVE)
    assert before == contexts(house)


def test_what_expires_leaves_them_when_its_job_runs(house):
    said(house)
    end = house.clock.now() + timedelta(minutes=1)
    house.write(turn("The foxtrot is here.", uid="t5", expires_at=end))
    assert "foxtrot" in contexts(house)["The echo is here."]
    house.clock.advance(minutes=2)

    house.graphmem.runner.run("expire")

    assert "foxtrot" not in contexts(house)["The echo is here."]


def test_a_superseded_turn_leaves_them_in_the_same_write(house):
    said(house)

    house.write(a_request("The golf is here.", updates=("t2",)))

    assert [] == [
        content
        for content, context in contexts(house).items()
        if "charlie" in f"{context}" and "charlie" not in content
    ]
