"""What time does depends on the kind of space: a hundred days of jobs over each (policy, Kinds)."""

import pytest
from builders import a_request

from graphmem.bootstrap import build
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import parse_space

USUAL = ("user", "project", "session", "system", "namespace")
JOBS = (
    "expire",
    "decay_commitments",
    "archive",
    "curate_dedupe",
    "curate_fold",
    "consolidate",
    "detect_contradictions",
    "integrity",
)
ALL_THAT_SLEEPS = {
    "ended": "ttl",
    "doubted": "ttl",
    "promised": "commitment_decay",
    "repeat-0": "dedupe",
    "fact-0": "fold",
    "fact-1": "fold",
    "fact-2": "fold",
    "same-0": "merge",
}


def run(house, space, name):
    key = parse_space(space, tenant=house.caller.tenant).key
    return house.graphmem.runner.run(name, space_key=key)


def fill(house, space):
    """One memory for each thing that time can do."""
    end = house.clock.now().replace(month=4)
    told = Source(type=SourceType.DIAGNOSTICS, captured_by=CapturedBy.EXTRACTOR)
    john, zoe = EntityRef(key="person:john"), EntityRef(key="other:zoe")

    def write(name, content, **values):
        house.clock.advance(seconds=1)
        values = {"dedupe": "none", "uid": name, "tags": (name,), "source": told} | values
        house.write(a_request(content, space=space, **values))

    write("plain", "The harbour has nine cranes.")
    write("ended", "The harbour is closed on Sunday.", expires_at=end)
    write("doubted", "The harbour may be sold.", confidence=0.2)
    write("promised", "Call the harbour master.", type=MemoryType.TODO)
    write("pinned", "The harbour is in Bergen.", pinned=True, confidence=0.2)
    for number in range(2):
        write(f"repeat-{number}", "The pilot boat is red.")
    for number, fact in enumerate(("plays chess", "owns a boat", "sings well")):
        write(f"fact-{number}", f"John {fact}.", entities=(john,), uid=None)
    for number, content in enumerate(
        (
            "Zoe likes green tea with milk and honey in bed.",
            "Zoe likes the green tea with milk and honey in bed.",
        )
    ):
        write(f"same-{number}", content, entities=(zoe,))
    write("email-0", "Zoe's email is zoe@one.example.", entities=(zoe,))
    write("email-1", "Zoe's email is zoe@two.example.", entities=(zoe,))


def a_hundred_days(house, space):
    for _ in range(5):
        house.clock.advance(days=20)
        for job in JOBS:
            run(house, space, job)


def put_away(house, space):
    """What is no longer active, by the tag that each was given, with the reason."""
    key = parse_space(space, tenant=house.caller.tenant).key
    return dict(
        house.rows(
            "MATCH (m:Memory {space: $key}) WHERE m.status <> 'active' AND size(m.tags) = 1"
            " RETURN m.tags[0], m.status_reason",
            key=key,
        )
    )


def contradictions(house, space):
    key = parse_space(space, tenant=house.caller.tenant).key
    return house.rows(
        "MATCH (a:Memory {space: $key})-[:CONTRADICTS]->(b) RETURN a.uid, b.uid", key=key
    )


@pytest.mark.parametrize("kind", USUAL)
def test_in_the_usual_spaces_time_does_all_that_the_table_says(house, kind):
    space = f"{kind}:ada"
    fill(house, space)

    a_hundred_days(house, space)

    assert ALL_THAT_SLEEPS == put_away(house, space)
    assert [("email-1", "email-0")] == contradictions(house, space)


def test_in_an_orchestrators_space_only_a_given_end_ends_and_contradictions_are_looked_for(house):
    space = "orchestrator:main"
    fill(house, space)

    a_hundred_days(house, space)

    assert {"ended": "ttl"} == put_away(house, space)
    assert [("email-1", "email-0")] == contradictions(house, space)


def test_in_a_corpus_nothing_changes_not_even_by_hand(house):
    space = "corpus:ada"
    fill(house, space)

    a_hundred_days(house, space)
    for job in JOBS:
        key = parse_space(space, tenant=house.caller.tenant).key
        house.graphmem.runner.run(job, space_key=key, by_hand=True)

    assert {} == put_away(house, space)
    assert [] == contradictions(house, space)


def test_a_switch_that_the_file_sets_for_all_wakes_no_orchestrator_but_one_of_its_own_holds(
    house, connection, settings
):
    switches = {
        "upkeep.speculative.enabled": True,
        "upkeep.commitments.enabled": True,
        "upkeep.curate.enabled": True,
        "upkeep.consolidate.enabled": True,
    }
    awake = build(
        type(settings)(server=settings.server, embedder=settings.embedder, policy=switches),
        connection,
        clock=house.clock,
        embedder=house.embedder,
    )
    main, own = (
        parse_space(f"orchestrator:{name}", tenant=house.caller.tenant) for name in ("main", "own")
    )
    awake.policies.save(own, {"upkeep.commitments.enabled": True})

    assert not awake.policies.of(main).upkeep.commitments.enabled
    assert not awake.policies.of(own).upkeep.curate.enabled
    assert awake.policies.of(own).upkeep.commitments.enabled
    origins = awake.policies.layer(own).origins
    assert "kind: orchestrator" == origins["upkeep.curate.enabled"]
    assert "space: orchestrator:own" == origins["upkeep.commitments.enabled"]
    awake.journal.close()
    awake.events.close()
