"""What the service sends to the database for two tenants who do the same, with the same names.

Not the names of parameters count here, but the values that are sent, the rows that come back, and
what became of the other's graph.
"""

import re

import pytest
from playing import play
from recording import RecordingConnection

from graphmem.model.caller import Role

TOUCHES_MEMORIES = re.compile(r":(Memory|Chunk|EmbedPending)\b|memory_text|chunk_embedding")
QUERIES_SENT = 60  # different ones that touch memories; fewer would say that little was played


@pytest.fixture(scope="module")
def played(neo4j_address, connection, house_of_module_at, api_over):
    """Two tenants, one after the other, and what was sent for each of them."""
    uri, user, password = neo4j_address
    recording = RecordingConnection(uri, user=user, password=password)
    with house_of_module_at(recording) as house:
        first = api_over(house)
        second = first.with_key(Role.ADMIN, "*", tenant=f"{house.caller.tenant}-2")
        sent = {}
        for api, tenant in (
            (second, f"{house.caller.tenant}-2"),
            (first, house.caller.tenant),
        ):
            recording.sent.clear()
            if api is first:
                before = graph_of(house, f"{house.caller.tenant}-2")
            play(api)
            sent[tenant] = [each for each in recording.sent if TOUCHES_MEMORIES.search(each.text)]
        yield house, sent, before
        house.rows(
            "MATCH (n) WHERE n.space STARTS WITH $other DETACH DELETE n",
            other=f"{house.caller.tenant}-2/",
        )
    recording.close()


def graph_of(house, tenant):
    """All nodes of a tenant with their properties, and all that leads out of them."""
    return house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $other"
        " OPTIONAL MATCH (n)-[r]->(to)"
        " WITH n, r, to ORDER BY elementId(n), elementId(r)"
        " RETURN elementId(n) AS id, labels(n), properties(n),"
        " collect([type(r), properties(r), elementId(to)])"
        " ORDER BY id",
        other=f"{tenant}/",
    )


def test_what_was_played_sends_most_queries_that_touch_memories(played):
    _, sent, _ = played

    names = {each.name for tenant in sent.values() for each in tenant}
    assert QUERIES_SENT <= len(names), sorted(names)


def test_every_statement_that_touches_memories_carries_a_space_of_its_caller(played):
    _, sent, _ = played

    without = {
        each.name or each.text
        for tenant, statements in sent.items()
        for each in statements
        if not any(text.startswith(f"{tenant}/") for text in each.sent_texts)
    }
    assert set() == without


def test_no_statement_names_another_tenant(played):
    _, sent, _ = played

    naming = {
        each.name or each.text
        for tenant, statements in sent.items()
        for each in statements
        for another in sent.keys() - {tenant}
        if any(text.startswith(f"{another}/") for text in each.sent_texts)
    }
    assert set() == naming


def test_no_statement_gives_anything_of_another_tenant(played):
    _, sent, _ = played

    giving = {
        each.name or each.text
        for tenant, statements in sent.items()
        for each in statements
        for another in sent.keys() - {tenant}
        if any(text.startswith(f"{another}/") for text in each.given_texts)
    }
    assert set() == giving


def test_what_a_tenant_does_leaves_the_graph_of_another_as_it_was(played):
    house, _, before = played

    assert before
    assert before == graph_of(house, f"{house.caller.tenant}-2")
