"""Integrity on a real graph that somebody damaged by hand."""

import pytest
from builders import a_request

from graphmem.gateway.status import ChangeStatus
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.space import space_from_key

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
