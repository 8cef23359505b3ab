"""Episodes and notes (003): what happened stays as it was told, of what holds the newest counts."""

from datetime import timedelta

import pytest
from builders import a_request
from sessions import Session

from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.source import CapturedBy, Source

JOBS = ("curate_dedupe", "curate_fold", "consolidate", "detect_contradictions")
EPISODE, NOTE = {"kind": "episode"}, {"kind": "note"}
EXTRACTED = Source(captured_by=CapturedBy.EXTRACTOR)
EPISODES = (
    "John deployed the API on Monday.",
    "John deployed the API on a Monday.",
    "John met Eve in Rome.",
)


@pytest.fixture
def ada(house):
    session = Session(house)
    session.want(episode_note_mode_enabled=True)
    return session


def write(house, content, native, **values):
    values |= {"source": EXTRACTED, "native": native}
    (result,) = house.write(a_request(content, **values)).results
    house.clock.advance(seconds=1)
    return result.memory.uid


def run(house, *jobs):
    key = f"{house.caller.tenant}/user:ada"
    return [house.graphmem.runner.run(job, space_key=key, by_hand=True) for job in jobs]


def test_a_fact_says_what_it_is_and_none_where_that_is_not_asked(ada):
    kinds = [
        ada.memory(ada.fact(said).uid).native.get("kind")
        for said in ("I prefer tabs over spaces.", "Yesterday we decided to use Go.")
    ]
    ada.want(episode_note_mode_enabled=False)
    without = ada.memory(ada.fact("I prefer tea over coffee.").uid).native

    assert ["note", "episode"] == kinds
    assert "kind" not in without


@pytest.mark.parametrize(("native", "is_left"), [(EPISODE, True), (NOTE, False)])
def test_no_job_changes_episodes(house, ada, native, is_left):
    john = (EntityRef(key="person:john", label="John"),)
    uids = [write(house, content, native, entities=john) for content in EPISODES]
    before = [ada.memory(uid) for uid in uids]
    for _ in range(2):
        run(house, *JOBS)
        house.clock.advance(days=2)

    assert is_left == (before == [ada.memory(uid) for uid in uids])


def test_a_newer_note_supersedes_the_older_one_that_states_another_value(house, ada):
    began = house.clock.now() - timedelta(days=9)
    oslo = write(house, "Ada lives in Oslo.", NOTE, occurred_at=began)
    rome = write(house, "Ada lives in Rome.", NOTE, occurred_at=began - timedelta(days=1))
    said = write(house, "Ada lived in Bonn.", EPISODE)

    (first,) = run(house, "consolidate")
    (second,) = run(house, "consolidate")

    assert [Status.ACTIVE, Status.SUPERSEDED, Status.ACTIVE] == [
        ada.memory(uid).status for uid in (oslo, rome, said)
    ]
    assert (1, 0) == (first.counts["superseded"], second.counts.get("superseded", 0))
    assert ada.memory(rome).valid_until == began
    edges = house.rows(
        "MATCH (m:Memory)-[e:UPDATES]->(o:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN m.uid, o.uid, e.reason"
    )
    assert [(oslo, rome, "conflict")] == edges
    traces = house.rows(
        "MATCH (t:Trace {kind: 'consolidate'}) WHERE t.tenant + '/' = $tenant"
        " AND t.events CONTAINS 'superseded' RETURN t.events"
    )
    assert 1 == len(traces)
    assert "Ada lives in Rome." not in house.contents("Where does Ada live?")


def was_run(house):
    key = f"{house.caller.tenant}/user:ada"
    return "topics" in house.graphmem.runner.run("consolidate", space_key=key).counts


@pytest.mark.parametrize(("written", "is_due"), [(1, False), (2, True)])
def test_where_there_are_turns_three_extractions_and_five_memories_make_a_pass_due(
    house, written, is_due
):
    ada = Session(house)
    for number in range(written):
        house.write(a_request(f"Apple number {number}."))
    ran = []
    for drink in ("tea", "cocoa", "milk"):
        ada.fact(f"I prefer {drink} in the morning.")
        house.clock.advance(minutes=11)
        ran.append(was_run(house))

    assert [False, False, is_due] == ran


def test_an_extraction_that_kept_nothing_and_plain_writes_make_no_pass_due_where_there_are_turns(
    house,
):
    ada = Session(house)
    house.write(*[a_request(f"Apple number {number}.") for number in range(5)])
    for drink in ("tea", "cocoa"):
        ada.fact(f"I prefer {drink} in the morning.")
    assert () == ada.read("FYI hmm, well then, so it goes.").kept.facts
    house.write(a_request("Plum number 1."))
    house.clock.advance(minutes=11)

    assert not was_run(house)


def test_notes_stay_beside_each_other_where_kinds_are_not_told_apart(house, ada):
    ada.want(episode_note_mode_enabled=False)
    uids = [write(house, f"Ada lives in {city}.", NOTE) for city in ("Oslo", "Rome")]

    run(house, "consolidate")

    assert [Status.ACTIVE] * 2 == [ada.memory(uid).status for uid in uids]


def test_a_pinned_note_stays_and_a_note_to_come_ends_the_older_one_when_it_begins(house, ada):
    tomorrow = house.clock.now() + timedelta(days=1)
    rome = write(house, "Ada lives in Rome.", NOTE)
    oslo = write(house, "Ada lives in Oslo.", NOTE, valid_from=tomorrow)
    pinned = write(house, "Eve lives in Bonn.", NOTE, pinned=True)
    write(house, "Eve lives in Kiel.", NOTE)

    run(house, "consolidate")

    assert (Status.ACTIVE, tomorrow) == (ada.memory(rome).status, ada.memory(rome).valid_until)
    assert Status.ACTIVE == ada.memory(oslo).status == ada.memory(pinned).status


@pytest.mark.parametrize(
    ("native", "status"), [(EPISODE, Status.ACTIVE), (NOTE, Status.SUPERSEDED)]
)
def test_a_contradiction_supersedes_no_episode(house, ada, native, status):
    house.graphmem.policies.save(
        ada.space,
        {
            "upkeep.contradictions.resolve": True,
            "lifecycle.episode_note_mode_enabled": False,
        },
    )
    john = (EntityRef(key="person:john", label="John"),)
    older = write(house, "John lives in Rome.", native, entities=john)
    write(house, "John lives in Paris.", NOTE, entities=john)
    (record,) = run(house, "consolidate")

    assert 1 == record.counts["contradiction"]
    assert status is ada.memory(older).status
