"""What a call costs grows with its space, not with the store.

Its db hits are counted beside few and beside many memories of strangers.
"""

from collections import Counter

import pytest
from builders import a_request
from profiling import db_hits
from uuid6 import uuid7

from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType
from graphmem.model.source import Source
from graphmem.model.space import parse_space
from graphmem.recall.request import RankerName

FEW, MANY = 250, 5_000
RULED = 150  # spaces of strangers with policies of their own
GROWTH_MAX = 1.2
LEAST = 500  # db hits: below, a few lookups more or less are no scan

STRANGERS = """
CYPHER 25
UNWIND range($first, $last) AS n
WITH n, $strangers + '/user:u' + (n % 500) AS space, 1900000000000 + n * 1000 AS ms
WITH n, space, datetime({epochMillis: ms}) AS at, space + '|m-' + n AS key, '|c' + n AS claim
CREATE (m:Memory {
  key: key, uid: 'm-' + n, space: space, type: CASE n % 2 WHEN 0 THEN 'Fact' ELSE 'Todo' END,
  content: 'Foreign tea ' + n, search_text: 'foreign tea', space_token: '', tags: [], version: 1,
  created_at: at, updated_at: at, expires_at: CASE n % 20 WHEN 0 THEN 1000 ELSE 4102444800000 END,
  status: 'active', pinned: n % 20 = 0, importance: 0.1, confidence: 0.8, recall_count: 0,
  actor: 'user', captured_by: 'user', source_type: 'manual', logical_key: 'key-' + n
})
SET m:$(CASE WHEN n % 4 = 0 THEN ['Fact', 'EmbedPending'] ELSE ['Todo'] END)
CREATE (:Chunk {key: key + '|1|0', space: space, status: 'active', embedder: 'other'})-[:OF]->(m)
CREATE (:ClaimKey {key: space + '|content' + claim, space: space})-[:CLAIMS]->(m)
CREATE (:ClaimKey {key: space + '|empty' + claim, space: space})
CREATE (e:Entity {
  key: space + '|topic:' + n, space: space, entity_key: 'topic:' + n, type: 'topic', label: 'T',
  search_names: ' ship topic', space_token: 'other'
})
CREATE (m)-[:MENTIONS {
  space: space, status: 'active', weight: 1.0, created: n, expires: 4102444800000
}]->(e)
CREATE (m)-[:FROM]->(:Source {
  key: key + '|from|1', space: space, conversation_id: 'c' + n, captured_by: 'user', at: at
})
CREATE (m)-[:HAS_REVISION]->(:Revision {key: key + '|1', space: space, version: 1, replaced_at: at})
CREATE (m)-[:ABOUT {place: 0}]->(:Topic {key: key, space: space, rank: n, topic: 't'})
CREATE (:Bulletin {key: key, space: space, generated_at: at})
CREATE (:Turn {
  key: key, uid: 't-' + n, space: space, conversation: space + '|c' + n, number: n,
  status: 'active', message_id: 'm-' + n, content: 'Foreign', chars: 7
})-[:IN]->(:Conversation {key: space + '|c' + n, space: space, created_at: at, updated_at: at})
CREATE (:EntityChange {uid: key, space: space, created_at: at})
CREATE (e)-[:RELATION {
  key: key, uid: key, space: space, label: 'knows', weight: 1.0, memories: [], by_hand: true,
  created_at: at
}]->(:Entity {key: space + '|other:' + n, space: space, entity_key: 'other:' + n, label: 'O'})
CREATE (:Trace {uid: key, tenant: $strangers, space: space, created_at: at})
MERGE (s:Space {key: space})
  ON CREATE SET s.space = space
WITH m, n, key
MATCH (o:Memory {key: $strangers + '/user:u' + ((n - 1) % 500) + '|m-' + (n - 1)})
CREATE (m)-[:RELATED_TO {uid: key, weight: 0.5}]->(o)
"""
GETS = (
    "/v1/memories?space=user:ada",
    "/v1/memories?space=user:ada&tag=tea",
    "/v1/memories?space=user:ada&known_at=2030-01-01T00:00:00Z",
    "/v1/edges?space=user:ada",
    "/v1/edges?space=user:ada&memory=m-1",
    "/v1/memories/m-1?space=user:ada",
    "/v1/memories/m-1/history?space=user:ada",
    "/v1/memories/m-1/sources?space=user:ada",
    "/v1/memories/m-1/neighbours?space=user:ada",
    "/v1/conversations?space=user:ada",
    "/v1/conversations/chat?space=user:ada",
    "/v1/conversations/chat/turns?space=user:ada&limit=5",
    "/v1/entities?space=user:ada",
    "/v1/entities?space=user:ada&prefix=sh",
    "/v1/entities?space=user:ada&query=ship",
    "/v1/entities/project:ship?space=user:ada",
    "/v1/entities/project:ship/card?space=user:ada",
    "/v1/entities/merges?space=user:ada",
    "/v1/relations?space=user:ada",
    "/v1/relations?space=user:ada&entity=project:ship&depth=3",
    "/v1/spaces",
    "/v1/spaces/user:ada/policy",
    "/v1/spaces/user:ada/topics",
    "/v1/jobs",
    "/v1/jobs/expire/runs",
    "/v1/admin/keys",
    "/metrics",
    "/health/ready",
)


@pytest.fixture(scope="module")
def costs(house_of_module, api_of_module):
    """The db hits of each query of each call, beside few and beside many foreign memories."""
    house, api = house_of_module, api_of_module
    ship = EntityRef(key="project:ship")
    house.write(
        *(
            a_request(f"Tea note {n} of the ship.", uid=f"m-{n}", tags=("tea",), entities=(ship,))
            for n in range(30)
        ),
        *(a_request(f"Buy tea {n}.", type=MemoryType.TODO, uid=f"t-{n}") for n in range(10)),
    )
    for n in range(10):
        body = {"space": "user:ada", "from": f"m-{n}", "to": f"m-{n + 1}", "type": "RELATED_TO"}
        assert 201 == api.post("/v1/edges", body).status_code
    say(api, 30)
    for n in range(10):
        body = {"space": "user:ada", "type": "tool", "name": f"Rope {n}"}
        assert 201 == api.post("/v1/entities", body).status_code
        body = {"space": "user:ada", "from": "project:ship", "to": f"tool:rope_{n}", "label": "has"}
        assert 201 == api.post("/v1/relations", body).status_code
    strangers = f"s-{uuid7()}"
    try:
        add_strangers(house, strangers, 1, FEW)
        for number in range(RULED):
            house.graphmem.policies.save(
                parse_space(f"user:ruled-{number}", tenant=strangers), {"upkeep.archive.recalls": 9}
            )
        costs_of_all(house, api)  # what only the first call does
        few = costs_of_all(house, api)
        add_strangers(house, strangers, FEW + 1, MANY)
        yield few, costs_of_all(house, api)
    finally:
        house.rows(
            "MATCH (n) WHERE n.space STARTS WITH $strangers"
            " CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS",
            strangers=f"{strangers}/",
        )


def say(api, number):
    turns = [
        {"role": "user", "content": f"Tea {n}.", "message_id": f"m-{n}"} for n in range(number)
    ]
    body = {"space": "user:ada", "turns": turns}
    assert api.post("/v1/conversations/chat/turns", body).status_code < 300


def add_strangers(house, strangers, first, last):
    for start in range(first, last + 1, 2_000):
        house.graphmem.connection.run_statement(
            STRANGERS, strangers=strangers, first=start, last=min(start + 1_999, last)
        )
    house.rows("CALL db.awaitIndexes()")
    house.rows("CALL db.clearQueryCaches()")


def costs_of_all(house, api):
    """The db hits of each query, by the call that runs it."""
    costs = {}
    for path in GETS:
        with db_hits() as costs[path]:
            assert 200 == api.get(path).status_code, path
    for ranker in RankerName:
        with db_hits() as costs[f"recall {ranker}"]:
            house.recall("tea", ranker=ranker)
            house.graphmem.journal.flush()
    for name, options in {
        "filtered": {"types": (MemoryType.FACT,)},
        "tagged": {"tags": ("tea",)},
        "known at": {"known_at": house.clock.now()},
    }.items():
        with db_hits() as costs[f"recall {name}"]:
            house.recall("tea", **options)
            house.graphmem.journal.flush()
    for job in house.graphmem.runner.jobs:
        if not job.spans_spaces and job.name != "ingest":  # reads files of orchestrators alone
            with db_hits() as costs[f"job {job.name}"]:
                house.graphmem.runner.run(
                    job.name, space_key=f"{house.caller.tenant}/user:ada", by_hand=True
                )
    with db_hits() as costs["write"]:
        house.write(a_request("One more."))
    body = {"space": "user:ada", "from": "project:ship", "to": "tool:rope_1"}
    for call, write in (
        ("said", lambda: house.write(a_request("Said.", source=Source(conversation_id="chat")))),
        ("say", lambda: say(api, 5)),
        ("relate", lambda: api.post("/v1/relations", body | {"label": "had"})),
        ("pop", lambda: api.post("/v1/conversations/chat/turns/pop", {"space": "user:ada"})),
    ):
        with db_hits() as costs[call]:
            write()
    for job in ("expire", "decay_commitments", "archive"):
        with db_hits() as hits:
            house.graphmem.policies.reload()
            house.graphmem.runner.run(job, dry_run=True, by_hand=True)
        of_spaces = {query: count for query, count in hits.items() if query.endswith("_of_space")}
        costs["policies"] = Counter({"spaces.policies": hits["spaces.policies"]})
        costs[f"job {job} under foreign policies"] = Counter(of_spaces)
    return costs


def test_no_query_costs_more_beside_twenty_times_the_strangers(costs):
    few, many = costs
    most = Counter()  # of a query that runs now and then, as its answer is kept for a while
    for hits in few.values():
        most |= hits

    grown = {
        (call, query): (few[call].get(query), hits)
        for call in many
        for query, hits in many[call].items()
        if hits > max(few[call].get(query, most[query]), LEAST) * GROWTH_MAX
    }

    assert {} == grown
