"""Recalls of many memories with many edges: what they bring, and what they may cost."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from builders import a_request

from graphmem.errors import StoreOutOfMemory
from graphmem.model.entity import EntityRef
from graphmem.recall.request import RankerName

HUNGRY = """
// name: hungry
// Sorts more than a transaction may hold.
// parameters: most
UNWIND range(1, $most) AS number
WITH number ORDER BY -number
RETURN count(number) AS numbers;
"""


def draw(house, pairs):
    house.rows(
        "UNWIND $pairs AS pair"
        " MATCH (a:Memory {uid: pair[0]}) WHERE a.space STARTS WITH $tenant"
        " MATCH (b:Memory {uid: pair[1], space: a.space})"
        " CREATE (a)-[:RELATED_TO {uid: pair[0] + '-' + pair[1], weight: 0.5,"
        " created_at: datetime()}]->(b)",
        pairs=[list(pair) for pair in pairs],
    )


@pytest.mark.parametrize("ranker", RankerName)
def test_results_bring_their_edges_from_wherever_a_ranker_lifts_them(house, ranker):
    lifted = ("lifted-0", "lifted-1", "lifted-2")
    plain = [
        a_request(f"Tea number {n}.", uid=f"plain-{n}", importance=0, confidence=0.05)
        for n in range(60)
    ]
    best = [
        a_request(f"Of tea as of much else in the world, part {uid}.", uid=uid, importance=100)
        for uid in lifted
    ]
    house.write(*plain, *best)
    draw(house, [*pairwise(lifted), ("lifted-0", "plain-0")])

    bundle = house.recall("tea number", ranker=ranker, limit=63)
    first = house.recall("tea number", ranker=ranker, limit=40)

    assert {"lifted-0-lifted-1", "lifted-1-lifted-2", "lifted-0-plain-0"} == {
        edge.uid for edge in bundle.edges
    }
    uids = {item.memory.uid for item in first.items}
    enough = any if ranker is RankerName.RRF else all
    assert {
        edge.uid
        for edge in bundle.edges
        if enough(uid in uids for uid in (edge.from_uid, edge.to_uid))
    } == {edge.uid for edge in first.edges}


def test_ten_wide_recalls_at_once_stay_within_the_memory_of_a_transaction(house):
    count = 900
    topics = [EntityRef(key=f"project:topic-{n}") for n in range(9)]
    text = "Tea, and what else was said of it in the garden by the river, " * 8
    for first in range(0, count, 100):
        house.write(
            *(
                a_request(f"{text}{n}.", uid=f"m-{n}", entities=tuple(topics[: n % 9 + 1]))
                for n in range(first, first + 100)
            )
        )
    draw(house, {(f"m-{n}", f"m-{(n + 7 * k) % count}") for n in range(count) for k in range(1, 5)})
    kinds = [*RankerName] * 3

    with ThreadPoolExecutor(10) as pool:
        bundles = list(
            pool.map(lambda kind: house.recall("tea garden", ranker=kind, limit=150), kinds[:10])
        )

    assert [150] * 10 == [len(bundle.items) for bundle in bundles]


def test_a_query_that_needs_too_much_memory_fails_at_once_and_is_not_run_again(house, tmp_path):
    connection = house.graphmem.connection
    (tmp_path / "greed.cypher").write_text(HUNGRY, "utf-8")
    connection.add_queries(tmp_path)
    before = connection.queries_run

    with pytest.raises(StoreOutOfMemory, match="no memory left"):
        connection.fetch("greed.hungry", most=20_000_000)

    assert before + 1 == connection.queries_run
