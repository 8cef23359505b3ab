"""Shared memories beside other writers, and in exports and imports."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from builders import a_request

from graphmem.errors import Conflict
from graphmem.gateway.status import ChangeStatus
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.lifecycle.keeper import LifecycleKeeper
from graphmem.model.memory import Status
from graphmem.model.space import SHARED_NAME, parse_space

DOG = "The office dog is called Momo."
ROUNDS = 6  # of a race


@pytest.fixture
def fact(house):
    """A memory of Ada that may be shared."""
    return written(house, "one")


def written(house, uid, content=DOG, **changes):
    return house.write(a_request(content, uid=uid, **changes)).results[0].memory


def share(house, memory):
    sharing = house.graphmem.of(LifecycleKeeper).sharing
    return sharing.share(memory, caller=house.caller).answer


def retract(house, memory):
    change = ChangeStatus(memory=memory, status=Status.RETRACTED, reason=None)
    house.graphmem.gateway.execute(change, house.caller)


def statuses(house, space=SHARED_NAME):
    return house.rows(
        "MATCH (m:Memory {space: $tenant + $space}) RETURN m.content, m.status ORDER BY m.content",
        space=space,
    )


def space_of(house, name):
    return parse_space(name, tenant=house.caller.tenant)


def lines_of(house, name):
    return list(export_lines(house.graphmem.transfers, space_of(house, name)))


def bring(house, lines, name):
    *_, done = import_lines(
        house.graphmem.transfers, lines, space_of(house, name), caller=house.caller
    )
    assert not done.problems
    return done


def test_a_memory_that_many_share_at_once_has_one_copy(house, fact):
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: share(house, fact), range(4)))

    assert 1 == len({each.copy.uid for each in answers})
    assert [False, False, False, True] == sorted(each.is_new for each in answers)
    assert [(DOG, "active")] == statuses(house)
    assert 1 == answers[0].copy.mention_count


def test_no_copy_of_what_is_retracted_meanwhile_stays(house):
    for number in range(ROUNDS):
        memory = written(house, f"m-{number}", f"Room {number} is blue.")
        with ThreadPoolExecutor(2) as pool:
            shared, retracted = (
                pool.submit(share, house, memory),
                pool.submit(retract, house, memory),
            )
        assert retracted.exception() is None
        assert isinstance(shared.exception(), Conflict | None)

    assert {"retracted"} == {status for _, status in statuses(house, "user:ada")}
    assert {"retracted"} >= {status for _, status in statuses(house)}


def test_a_copy_goes_with_the_last_of_several_that_are_retracted_at_once(house, fact):
    others = [written(house, "one", space=f"user:u{number}") for number in range(3)]
    copies = {share(house, each).copy.uid for each in (fact, *others)}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: retract(house, each), (fact, *others)))

    assert 1 == len(copies)
    assert [(DOG, "retracted")] == statuses(house)


TEA = "Ada likes green tea with milk and honey in bed."


@pytest.mark.parametrize("job", ["consolidate", "curate_dedupe"])
def test_a_copy_that_stands_for_another_goes_with_the_last_of_what_both_say(house, job):
    ada = written(house, "one", TEA)
    eve = written(house, "two", TEA.replace("green", "the green"), space="user:eve")
    for memory in (ada, eve):
        share(house, memory)
        house.clock.advance(minutes=1)
    if job == "curate_dedupe":
        house.rows(
            "MATCH (m:Memory {space: $tenant + $space}) SET m.content = $content",
            space=SHARED_NAME,
            content=TEA,
        )
    house.graphmem.runner.run(job, space_key=f"{house.caller.tenant}/{SHARED_NAME}", by_hand=True)
    merged = [status for _, status in statuses(house)]
    retract(house, ada)
    first = [status for _, status in statuses(house)]
    retract(house, eve)

    assert 1 == merged.count("active")
    assert 1 == first.count("active")
    assert "active" not in [status for _, status in statuses(house)]


def test_an_imported_copy_follows_what_it_was_imported_with(house, fact):
    share(house, fact)
    lines = {name: lines_of(house, name) for name in ("user:ada", SHARED_NAME)}
    house.rows("MATCH (n) WHERE n.space STARTS WITH $tenant DETACH DELETE n")
    for name, exported in lines.items():
        bring(house, exported, name)
    found = house.graphmem.memories.by_key([fact.key])[fact.key]

    assert [(DOG, "active")] == statuses(house)
    assert not share(house, found).is_new
    retract(house, found)
    assert [(DOG, "retracted")] == statuses(house)


def test_a_copy_follows_a_source_that_an_import_says_is_retracted(house, fact):
    share(house, fact)
    lines = map(json.loads, lines_of(house, "user:ada"))
    (memory,) = (line["memory"] for line in lines if "memory" in line)
    bring(house, [json.dumps({"memory": memory | {"status": "retracted"}})], "user:ada")

    assert [(DOG, "retracted")] == statuses(house, "user:ada")
    assert [(DOG, "retracted")] == statuses(house)


def test_a_shared_graph_agrees_with_itself(house, fact):
    share(house, fact)
    retract(house, fact)
    run = house.graphmem.runner.run
    counts = [
        run("integrity", space_key=space_of(house, name).key, by_hand=True).counts
        for name in ("user:ada", SHARED_NAME)
    ]

    found = [{name for name, number in each.items() if number} for each in counts]
    assert [{"inspected"}, {"inspected"}] == found
