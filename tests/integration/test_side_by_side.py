"""Many at once: writers into one space, and a reader who pages while others write."""

import threading
from concurrent.futures import ThreadPoolExecutor

from builders import a_request

from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.page import every_item
from graphmem.model.space import Space, SpaceKind
from graphmem.model.writing import Outcome
from graphmem.store.memories import MemoryFilter

HUB = EntityRef(key="org:hub")


def test_eight_writers_into_one_space_and_one_entity_never_see_a_deadlock(house):
    def write(writer):
        outcomes = []
        for number in range(12):
            report = house.write(
                a_request(
                    f"Fact {writer} {number}.", entities=(HUB,), logical_key=f"k{number % 3}"
                ),
                a_request("The same for all.", entities=(HUB, EntityRef(key=f"person:p{writer}"))),
            )
            outcomes += [result.outcome for result in report.results]
        return outcomes

    with ThreadPoolExecutor(8) as pool:
        outcomes = [outcome for part in pool.map(write, range(8)) for outcome in part]

    assert 8 * 24 == len(outcomes)
    assert Outcome.REFUSED not in outcomes
    assert [(96,)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.content = 'The same for all.'"
        " RETURN m.mention_count"
    )
    assert [(3,)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.logical_key IS NOT NULL"
        " RETURN count(m)"
    )


def test_edges_drawn_in_both_directions_at_once_never_see_a_deadlock(house):
    house.write(*[a_request(f"Fact {number}.", uid=f"m{number}") for number in range(6)])
    space = Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner="ada")

    def draw(writer):
        for number in range(10):
            start, end = (writer + number) % 6, (writer + number * 2 + 1) % 6
            if start != end:
                request = EdgeRequest(
                    space=space,
                    from_uid=f"m{start}",
                    to_uid=f"m{end}",
                    type=EdgeType.RELATED_TO,
                    weight=0.5,
                )
                house.graphmem.gateway.execute(DrawEdge(request=request), house.caller)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(draw, range(8)))

    doubles = house.rows(
        "MATCH (a:Memory)-[e:RELATED_TO]->(b:Memory) WHERE a.space STARTS WITH $tenant"
        " WITH a, b, count(e) AS n WHERE n > 1 RETURN a.uid"
    )
    assert [] == doubles


def test_a_list_that_is_paged_while_others_write_skips_none_and_shows_none_twice(house):
    for part in range(4):
        house.write(
            *[a_request(f"Fact {part} {number}.", uid=f"m{part}-{number}") for number in range(250)]
        )
    stop = threading.Event()

    def insert():
        number = 0
        while not stop.is_set():
            house.write(a_request(f"Later {number}."))
            number += 1

    writer = threading.Thread(target=insert)
    writer.start()
    space = Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner="ada")
    wanted = MemoryFilter(spaces=[space])
    memories = every_item(lambda after: house.graphmem.memories.page(wanted, limit=50, after=after))
    seen = [memory.uid for memory in memories if memory.uid.startswith("m")]
    stop.set()
    writer.join()

    assert sorted(f"m{part}-{number}" for part in range(4) for number in range(250)) == sorted(seen)
