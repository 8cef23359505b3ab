"""Integrity on a real graph that somebody damaged by hand."""

import pytest
from builders import a_request

from graphmem.gateway.status import ChangeStatus
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import space_from_key

ADA = EntityRef(key="person:ada", label="Ada")
IN_SPACE = "MATCH (m:Memory {content: $content}) WHERE m.space STARTS WITH $tenant "


def run(house, **options):
    key = f"{house.caller.tenant}/user:ada"
    return house.graphmem.runner.run("integrity", space_key=key, by_hand=True, **options)


def wrong(record):
    return {
        name: number
        for name, number in record.counts.items()
        if number and name not in {"inspected", "spaces"}
    }


@pytest.fixture
def healthy(house):
    house.write(
        a_request("Tea.", entities=(EntityRef(key="person:ada"),), tags=("drink",)),
        a_request("Coffee.", logical_key="drink", pinned=True),
        a_request("Old.", uid="old"),
    )
    house.write(a_request("New.", updates=("old",)))
    assert {} == wrong(run(house))
    return house


DAMAGES = {
    "memories_without_claim": "MATCH (k:ClaimKey)-[:CLAIMS]->(m) DETACH DELETE k",
    "stale_copies": "MATCH (c:Chunk)-[:OF]->(m) SET c.status = 'archived'",
    "embedded_without_vectors": "MATCH (c:Chunk)-[:OF]->(m) DETACH DELETE c",
}


@pytest.mark.parametrize(("finding", "damage"), DAMAGES.items(), ids=list(DAMAGES))
def test_damage_is_reported_with_an_example_and_mended_when_asked(healthy, finding, damage):
    healthy.rows(IN_SPACE + damage, content="Tea.")

    record = run(healthy)
    assert {finding: 1} == wrong(record)
    assert 1 == len(record.examples[finding])
    assert {finding: 1, "repaired": 1} == wrong(run(healthy, dry_run=True, repair=True))
    assert {finding: 1} == wrong(run(healthy))  # a dry run mends nothing

    assert {finding: 1, "repaired": 1} == wrong(run(healthy, repair=True))
    assert {} == wrong(run(healthy))


def test_a_mention_that_disagrees_and_a_token_that_is_stale_are_mended(healthy):
    healthy.rows(IN_SPACE + "MATCH (m)-[x:MENTIONS]->() SET x.weight = 7", content="Tea.")
    healthy.rows(IN_SPACE + "SET m.space_token = 'nonsense'", content="New.")

    assert {"stale_copies": 2, "repaired": 2} == wrong(run(healthy, repair=True))
    assert {} == wrong(run(healthy))
    assert "New." in healthy.contents("new")


def test_a_superseded_memory_without_successor_goes_to_the_archive_and_does_not_come_back(healthy):
    healthy.rows(IN_SPACE + "MATCH (m)<-[e:UPDATES]-() DELETE e", content="Old.")

    assert {"superseded_without_update": 1, "repaired": 1} == wrong(run(healthy, repair=True))
    assert [("archived", "superseded_without_update")] == healthy.rows(
        IN_SPACE + "RETURN m.status, m.status_reason", content="Old."
    )


def test_claims_and_edges_that_belong_to_nothing_are_removed(healthy):
    healthy.write(a_request("Bob.", space="user:bob"))
    healthy.rows(
        "CREATE (:ClaimKey {key: $tenant + 'user:ada|content|x', space: $tenant + 'user:ada'})"
    )
    healthy.rows(
        "MATCH (a:Memory {content: 'Tea.'}), (b:Memory {content: 'Bob.'})"
        " WHERE a.space STARTS WITH $tenant AND b.space STARTS WITH $tenant CREATE"
        " (a)-[:RELATED_TO]->(b)"
    )

    assert {"claims_without_memory": 1, "edges_across_spaces": 1} == wrong(run(healthy))
    assert {"claims_without_memory": 1, "edges_across_spaces": 1, "repaired": 2} == wrong(
        run(healthy, repair=True)
    )
    assert {} == wrong(run(healthy))


def test_what_waits_for_vectors_or_is_retracted_is_no_damage(house):
    house.embedder.is_broken = True
    memory = house.write(a_request("Waits."), a_request("Wrong.")).results[1].memory
    house.graphmem.gateway.execute(
        ChangeStatus(memory=memory, status=Status.RETRACTED, reason=None), house.caller
    )

    assert {} == wrong(run(house))


def test_a_merged_entity_is_no_damage(house):
    for name in ("zoe", "ada"):
        house.write(
            a_request(
                f"{name} came.",
                entities=(EntityRef(key=f"person:{name}"), EntityRef(key="person:mia")),
            )
        )
    space = space_from_key(f"{house.caller.tenant}/user:ada")

    house.graphmem.entity_keeper.merge(space, "person:zoe", "person:ada", caller=house.caller)

    assert {} == wrong(run(house))


def test_what_older_versions_left_on_merged_entities_is_found_under_the_new_name(house):
    bob = EntityRef(key="person:bob")
    house.write(a_request("Tea.", entities=(bob,)), a_request("Milk.", entities=(ADA,)))
    house.graphmem.entity_keeper.merge(
        space_from_key(f"{house.caller.tenant}/user:ada"),
        "person:bob",
        "person:ada",
        caller=house.caller,
    )
    house.rows(
        IN_SPACE + "MATCH (m)-[x:MENTIONS]->(a:Entity), (b:Entity {key: a.space + '|person:bob'})"
        " CREATE (m)-[y:MENTIONS]->(b) SET y = properties(x) DELETE x",
        content="Tea.",
    )

    found = wrong(run(house, repair=True))

    assert 1 == found["mentions_of_merged"]
    assert {} == wrong(run(house))
    assert {"Tea.", "Milk."} == set(house.contents("tea milk", entities=("person:ada",)))


def test_a_context_of_what_is_not_active_is_built_anew(house):
    turns = ("Do you have pets?", "Yes, three of them.", "Which ones are they?")
    for text in turns:
        house.write(a_request(text, source=Source(conversation_id="c")))
    house.rows(
        IN_SPACE + "SET m.status = 'retracted', m.space_token = ''"
        " WITH m MATCH (c:Chunk)-[:OF]->(m) SET c.status = m.status",
        content=turns[0],
    )

    assert 2 == wrong(run(house))["stale_contexts"]
    run(house, repair=True)

    assert {} == wrong(run(house))
    assert [(turns[2],), (turns[1],)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.status = 'active'"
        " RETURN m.context ORDER BY m.created_at, m.uid"
    )


def test_a_fold_that_states_what_was_taken_back_is_made_anew(house):
    source = Source(
        type=SourceType.WORKFLOW_OUTPUT,
        workflow_run_id="w",
        step_id="s",
        captured_by=CapturedBy.EXTRACTOR,
    )
    for number in range(3):
        house.write(a_request(f"Fact {number}.", source=source, entities=(ADA,)))
    key = f"{house.caller.tenant}/user:ada"
    house.graphmem.runner.run("curate_fold", space_key=key, by_hand=True)
    house.rows(IN_SPACE + "SET m.status = 'retracted', m.space_token = ''", content="Fact 1.")
    house.rows(IN_SPACE + "MATCH (c:Chunk)-[:OF]->(m) SET c.status = m.status", content="Fact 1.")

    assert 1 == wrong(run(house))["stale_rollups"]
    run(house, repair=True)

    assert {} == wrong(run(house))
    assert ["Ada: Fact 0. / Fact 2."] == house.contents("fact")


def test_edges_of_one_uid_get_uids_of_their_own(healthy):
    healthy.rows(
        "MATCH (a:Memory {content: 'Tea.'}), (b:Memory {content: 'Coffee.'}),"
        " (c:Memory {content: 'New.'})"
        " WHERE a.space STARTS WITH $tenant AND b.space = a.space AND c.space = a.space"
        " CREATE (a)-[:RELATED_TO {uid: 'e', weight: 1.0, created_at: datetime('2026-01-01')}]->(b)"
        " CREATE (a)-[:RELATED_TO {uid: 'e', weight: 1.0, created_at: datetime('2026-01-02')}]->(b)"
        " CREATE (a)-[:CAUSED_BY {uid: 'e', weight: 1.0, created_at: datetime('2026-01-03')}]->(c)"
        " CREATE (a)-[:PART_OF {uid: 'e', weight: 1.0, created_at: datetime('2026-01-04')}]->(b)"
    )

    assert {"edges_of_one_uid": 3} == wrong(run(healthy))
    run(healthy, repair=True)

    assert {} == wrong(run(healthy))
    edges = healthy.rows(
        "MATCH (a:Memory {content: 'Tea.'})-[e:RELATED_TO|CAUSED_BY|PART_OF]->()"
        " WHERE a.space STARTS WITH $tenant RETURN type(e), e.uid = 'e' ORDER BY type(e)"
    )
    assert [("CAUSED_BY", False), ("PART_OF", False), ("RELATED_TO", True)] == edges


def test_two_values_of_a_key_at_one_instant_are_named(healthy):
    healthy.write(a_request("Milk."))
    healthy.rows(IN_SPACE + "SET m.logical_key = 'drink'", content="Milk.")

    for _ in range(2):  # which of them holds, no rule can tell
        record = run(healthy, repair=True)
        assert 1 == wrong(record)["values_at_one_instant"]
        assert 1 == len(record.examples["values_at_one_instant"])
