"""What the service leaves behind by itself stays within its bounds, however long it runs."""

import time
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from builders import a_request

from graphmem.bootstrap import build
from graphmem.model.job import RunStatus
from graphmem.model.source import Source
from graphmem.recall.reasons import Reason

YEAR = 365


@pytest.fixture
def bounded(house, settings):
    """A service with bounds that a test can reach, and how many there are of each thing."""
    small = replace(
        settings,
        traces=replace(settings.traces, keep_most=1_000),
        keep=replace(settings.keep, runs_most=50, former_vectors_most=300, retry_keys_most=1_000),
    )
    built = build(small, house.graphmem.connection, clock=house.clock, embedder=house.embedder)
    yield replace(house, graphmem=built)
    house.rows("MATCH (i:IdempotencyKey) WHERE i.key STARTS WITH $tenant DELETE i")
    house.rows("MATCH (r:JobRun) WHERE r.uid STARTS WITH $tenant DELETE r")


def number_of(house, label):
    return house.rows(f"MATCH (n:{label}) RETURN count(n)")[0][0]


def add_traces(house, number, *, first_day=0, kind="recall"):
    """Traces of a year, evenly."""
    house.rows(
        "UNWIND range(0, $number - 1) AS n CREATE (:Trace {uid: $tenant + $kind + n, kind: $kind,"
        " tenant: $name, created_at: datetime($start) + duration({minutes: n * $minutes})})",
        number=number,
        kind=kind,
        name=house.caller.tenant,
        start=(house.clock.now() + timedelta(days=first_day)).isoformat(),
        minutes=YEAR * 24 * 60 // number,
    )


def test_a_run_that_did_nothing_is_counted_and_not_kept(house):
    runner, before = house.graphmem.runner, number_of(house, "JobRun")
    succeeded = runs_of(house, "decay_commitments")
    for _ in range(10):
        house.clock.advance(days=1)
        record = runner.run_once("decay_commitments", slot=time.time_ns())
        assert RunStatus.SUCCEEDED is record.status

    assert number_of(house, "JobRun") <= before + 1  # the last one is shown
    assert record.uid == state_of(house, "decay_commitments").last_run.uid
    assert succeeded + 10 == runs_of(house, "decay_commitments")


def runs_of(house, job):
    return state_of(house, job).totals.get(RunStatus.SUCCEEDED, 0)


def state_of(house, job):
    return next(each for each in house.graphmem.runner.states() if each.name == job)


def test_a_run_by_hand_is_kept_also_when_it_did_nothing(house):
    record = house.graphmem.runner.run("decay_commitments", by_hand=True)

    assert [(1,)] == house.rows("MATCH (r:JobRun {uid: $uid}) RETURN count(r)", uid=record.uid)


def test_a_year_leaves_no_more_than_the_bounds_and_all_that_was_written(bounded):
    house = bounded
    memory = house.write(a_request("Kept.", uid="kept")).results[0].memory
    for n in range(3):
        house.write(a_request(f"Kept {n}.", uid="kept", source=Source(key=f"k-{n}")))
    add_traces(house, 5_000)
    house.rows(
        "UNWIND range(0, 4999) AS n CREATE (:IdempotencyKey {key: $tenant + n,"
        " expires_at: datetime($end) + duration({minutes: n})})",
        end=(house.clock.now() + timedelta(days=YEAR + 1)).isoformat(),
    )
    house.graphmem.runner.run("expire")
    house.rows(
        "UNWIND range(0, 999) AS n CREATE (:JobRun {uid: $tenant + n, job: 'expire', space: '',"
        " status: 'succeeded', started_at: datetime($start) + duration({hours: n})})",
        start=(house.clock.now() + timedelta(days=YEAR - 42)).isoformat(),
    )
    house.rows(
        "MATCH (m:Memory {uid: 'kept'})-[:HAS_REVISION]->(r:Revision)"
        " WHERE m.space STARTS WITH $tenant WITH r LIMIT 1"
        " UNWIND range(0, 999) AS n CREATE (:FormerChunk {key: $tenant + n, space: r.space,"
        " embedder: 'x', replaced_at: datetime($start) + duration({days: n % 365})})-[:OF]->(r)",
        start=house.clock.now().isoformat(),
    )
    revisions = number_of(house, "Revision")
    house.clock.advance(days=YEAR)

    dry = house.graphmem.runner.run("prune_traces", dry_run=True).counts
    wet = house.graphmem.runner.run("prune_traces").counts

    for counts in (dry, wet):
        assert all(
            counts[what] > 0
            for what in ("forgotten", "runs_forgotten", "vectors_forgotten", "retry_keys_forgotten")
        )
    assert number_of(house, "Trace") <= 1_000
    assert number_of(house, "IdempotencyKey") <= 1_000
    assert number_of(house, "FormerChunk") <= 300
    assert house.rows("MATCH (r:JobRun {job: 'expire'}) RETURN count(r)")[0][0] <= 50
    assert [(0,)] == house.rows(
        "MATCH (t:Trace) WHERE t.created_at < datetime($before) RETURN count(t)",
        before=(house.clock.now() - timedelta(days=30)).isoformat(),
    )
    assert revisions == number_of(house, "Revision")
    assert "Kept 2." == memory_of(house, memory.uid).content


def test_a_run_that_still_goes_on_keeps_its_record_whatever_its_age(bounded):
    house = bounded
    house.rows(
        "UNWIND ['running', 'failed'] AS status CREATE (:JobRun {uid: $tenant + status,"
        " job: $tenant, space: '', status: status, started_at: datetime($start)})",
        start=house.clock.now().isoformat(),
    )
    house.clock.advance(days=YEAR)

    house.graphmem.runner.run("prune_traces")

    assert [("running",)] == house.rows("MATCH (r:JobRun {job: $tenant}) RETURN r.status")


def test_the_oldest_go_first(bounded):
    house = bounded
    add_traces(house, 1_500, first_day=-1)
    house.rows(
        "MATCH (t:Trace {tenant: $name}) SET t.created_at = datetime($now)"
        " + duration({seconds: toInteger(split(t.uid, 'recall')[1])})",
        name=house.caller.tenant,
        now=house.clock.now().isoformat(),
    )

    house.graphmem.runner.run("prune_traces")

    numbers = house.rows(
        "MATCH (t:Trace {tenant: $name}) RETURN toInteger(split(t.uid, 'recall')[1]) AS n"
        " ORDER BY n",
        name=house.caller.tenant,
    )
    assert numbers == [(n,) for n in range(1_500 - len(numbers), 1_500)]


def test_a_trace_keeps_the_result_and_thirty_candidates_behind_it(house):
    house.write(*(a_request(f"Tea number {n}.", uid=f"m-{n:02}") for n in range(60)))

    bundle = house.recall("tea", limit=5, candidates_text=60, candidates_vector=60)
    house.graphmem.journal.flush()

    trace = house.graphmem.explainer.trace(house.caller.tenant, bundle.trace_id)
    assert (35, 5, 60) == (
        len(trace.events),
        trace.request["returned"],
        trace.request["candidates"],
    )
    kept = {uid for _, uid, _ in trace.events}
    reasons = {
        uid: house.graphmem.explainer.why(trace, memory_of(house, uid)).reason
        for uid in (f"m-{n:02}" for n in range(60))
    }
    assert {Reason.NOT_KEPT} == {reason for uid, reason in reasons.items() if uid not in kept}
    assert {Reason.RETURNED, Reason.CUT_BY_LIMIT} == {reasons[uid] for uid in kept}


def memory_of(house, uid):
    found = house.graphmem.memories.by_uid(house.caller.tenant, uid)
    return found[0]


def test_the_sixth_recall_of_a_second_keeps_the_uids_of_its_result_alone(house):
    house.write(*(a_request(f"Tea number {n}.") for n in range(10)))

    traces = []
    for _ in range(6):
        bundle = house.recall("tea", limit=3)
        traces.append(house.graphmem.explainer.trace(house.caller.tenant, bundle.trace_id))
    house.clock.advance(seconds=1)
    later = house.recall("tea", limit=3)
    traces.append(house.graphmem.explainer.trace(house.caller.tenant, later.trace_id))

    assert [10] * 5 + [3, 10] == [len(trace.events) for trace in traces]
    assert [None] * 3 == [score for _, _, score in traces[5].events]
    assert [uid for _, uid, _ in traces[4].events[:3]] == [uid for _, uid, _ in traces[5].events]


@pytest.mark.parametrize(
    ("said", "cue"),
    [
        ("Ada keeps bees in Lyon.", "keeping bees"),
        ("The library policy of the city.", "library policy"),
        ("Une crème au café.", "crème"),
    ],
)
def test_a_version_whose_vectors_were_forgotten_is_found_by_its_words(house, said, cue):
    house.write(a_request(said, uid="a"))
    then: datetime = house.clock.now()
    house.clock.advance(days=1)
    house.write(a_request("Ada paints boats.", uid="a"))
    assert [said] == house.contents(cue, known_at=then)

    house.clock.advance(days=91)
    counts = house.graphmem.runner.run("prune_traces").counts

    assert counts["vectors_forgotten"] >= 1
    assert [said] == house.contents(cue, known_at=then)
    assert [] == house.contents("boats", known_at=then)
