"""Jobs on a real graph."""

import json
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from builders import a_request
from waiting import eventually

from graphmem.adapters.clock import SystemClock
from graphmem.bootstrap import build
from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.migration_steps import note_kinds
from graphmem.model.job import ByHand, Job, Run, RunStatus
from graphmem.model.memory import MemoryType
from graphmem.model.space import space_from_key
from graphmem.store.leases import release_lease, take_lease
from graphmem.upkeep.job_runner import JobRunner
from jobs.process import JobsProcess
from jobs.schedule import scheduled


def space_key(house):
    return f"{house.caller.tenant}/user:ada"


def a_runner(house, function, *, name="probe", holder="test", **options):
    """A runner with one job.

    Each test gives it a name of its own, because all share one database.
    """
    job = Job(
        name=name, does="probes", schedule=ByHand(), function=function, **options.pop("job", {})
    )
    values = {"clock": house.clock, "ids": house.graphmem.ids, "holder": holder} | options
    return JobRunner(house.graphmem.connection, jobs=[job], **values)


def test_expired_memories_are_archived_with_the_reason_ttl(house):
    house.write(
        a_request("Gone.", expires_at=house.clock.now() + timedelta(hours=1)),
        a_request("Later.", expires_at=house.clock.now() + timedelta(hours=3)),
        a_request("Stays."),
    )
    house.clock.advance(hours=2)

    report = house.graphmem.runner.run("expire", space_key=space_key(house))

    assert (1, 1, None) == (report.counts["archived"], report.counts["spaces"], report.error)
    assert [
        ("Gone.", "archived", "ttl"),
        ("Later.", "active", None),
        ("Stays.", "active", None),
    ] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN m.content, m.status, m.status_reason ORDER BY m.content"
    )
    assert "archived" not in house.graphmem.runner.run("expire", space_key=space_key(house)).counts


def test_what_expired_frees_its_claim(house):
    house.write(a_request("Again.", expires_at=house.clock.now() + timedelta(hours=1)))
    house.clock.advance(hours=2)
    house.graphmem.runner.run("expire", space_key=space_key(house))

    assert "created" == house.write(a_request("Again.")).results[0].outcome


def test_a_dry_run_counts_the_same_and_touches_nothing(house):
    house.write(*[a_request(f"M{number}.", expires_at=house.clock.now()) for number in range(3)])

    dry = house.graphmem.runner.run("expire", dry_run=True, space_key=space_key(house))

    assert [("active", 3)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.status, count(m)"
    )
    wet = house.graphmem.runner.run("expire", space_key=space_key(house))
    assert dry.counts["archived"] == wet.counts["archived"] == 3


def test_what_waits_for_vectors_gets_them_when_the_model_is_back(house):
    house.embedder.is_broken = True
    house.write(a_request("Ada likes tea. She drinks it hot."))
    assert (
        1
        == house.graphmem.runner.run("embed_pending", space_key=space_key(house)).counts["pending"]
    )

    house.embedder.is_broken = False
    report = house.graphmem.runner.run("embed_pending", space_key=space_key(house))

    assert {"embedded": 1, "pending": 0, "spaces": 1} == report.counts
    bundle = house.recall("she drinks it hot")
    assert ((), 1) == (bundle.degraded, bundle.items[0].explanation.vector.rank)
    assert bundle.items[0].memory.embedded


def test_a_run_is_recorded_with_its_counts(house):
    report = house.graphmem.runner.run("expire", space_key=space_key(house))

    newest = next(
        run for run in house.graphmem.runs.newest("expire", limit=20).items if run.uid == report.uid
    )
    assert report == newest
    assert (RunStatus.SUCCEEDED, {"spaces": 0}, None) == (
        newest.status,
        newest.counts,
        newest.error,
    )


def test_a_job_that_raises_is_recorded_and_its_lease_is_free_again(house):
    def boom(_):
        message = "boom, with what was in the query"
        raise ValueError(message)

    runner = a_runner(house, boom)

    # only the kind: the text of a driver error may hold a query with its parameters
    assert (RunStatus.FAILED, "ValueError") == (
        runner.run("probe").status,
        runner.run("probe").error,
    )


def test_one_process_at_a_time_runs_a_job(house):
    connection = house.graphmem.connection
    take_lease(connection, "job:expire", holder="other", clock=house.clock, seconds=60)
    try:
        with pytest.raises(Conflict, match="is running already, in the process other"):
            house.graphmem.runner.run("expire")
    finally:
        release_lease(connection, "job:expire", holder="other")


def test_an_unknown_job_is_not_found(house):
    with pytest.raises(NotFound, match="archive, companion_curate, companion_judge"):
        house.graphmem.runner.run("nonsense")


def test_one_text_that_the_model_refuses_holds_up_no_other(house):
    house.embedder.is_broken = True
    house.write(a_request("Refused by the model."), a_request("Fine."))
    house.embedder.is_broken = False
    house.embedder.refuses = "Refused"

    report = house.graphmem.runner.run("embed_pending", space_key=space_key(house))

    assert {"embedded": 1, "pending": 1, "spaces": 1} == report.counts


def test_a_second_run_of_a_job_is_refused_and_says_who_holds_it(house):
    inside = threading.Event()
    leave = threading.Event()

    def wait(_):
        inside.set()
        leave.wait(10)

    first = a_runner(house, wait, name="slow", holder="one")
    thread = threading.Thread(target=first.run, args=("slow",))
    thread.start()
    inside.wait(10)
    try:
        with pytest.raises(Conflict, match="in the process one:"):
            a_runner(house, wait, name="slow", holder="two").run("slow")
    finally:
        leave.set()
        thread.join()


def test_two_processes_that_fire_together_run_a_job_once(house):
    runs = []
    runners = [
        a_runner(house, lambda run: runs.append(run.uid), name="twice", holder=name)
        for name in ("one", "two")
    ]
    slot = house.graphmem.connection.run_statement(
        "MATCH (j:Job {name: 'twice'}) RETURN j.slot AS slot"
    )
    slot = (slot[0]["slot"] if slot else 0) + 1

    def try_once(runner, number):
        with suppress(Conflict):  # the other one is at it
            runner.run_once("twice", number)

    def fire(number):
        threads = [threading.Thread(target=try_once, args=(runner, number)) for runner in runners]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    fire(slot)
    assert 1 == len(runs)
    fire(slot + 1)
    assert 2 == len(runs)
    fire(slot)  # one that comes late
    assert 2 == len(runs)


def lease_end(house, name):
    """When a lease runs out if nobody renews it."""
    return house.rows("MATCH (l:Lease {name: $name}) RETURN l.expires_at", name=name)[0][
        0
    ].to_native()


def test_a_long_run_keeps_its_lease_and_shows_how_far_it_is(house):
    clock = SystemClock()
    inside = threading.Event()
    leave = threading.Event()

    def work(run):
        run.counts["done"] = 7
        inside.set()
        leave.wait(20)

    runner = a_runner(house, work, name="long", lease_seconds=0.4, clock=clock)
    thread = threading.Thread(target=runner.run, args=("long",))
    thread.start()
    inside.wait(10)
    begun = clock.now()
    try:
        # three times the lease
        assert eventually(lambda: lease_end(house, "job:long") > begun + timedelta(seconds=1.2))
        with pytest.raises(Conflict):
            a_runner(house, work, name="long", lease_seconds=0.4, clock=clock).run("long")
        assert {"done": 7} == house.graphmem.runs.newest("long", limit=1).items[0].counts
    finally:
        leave.set()
        thread.join()


def test_the_lease_of_a_process_that_died_is_taken_over_and_its_run_marked(house):
    connection, clock = house.graphmem.connection, house.clock
    take_lease(connection, "job:orphan", holder="dead", clock=clock, seconds=60)
    house.graphmem.runs.start(
        Run(uid=f"run-{house.caller.tenant}", job="orphan"), holder="dead", now=clock.now()
    )
    runner = a_runner(house, lambda _: None, name="orphan")

    with pytest.raises(Conflict, match="dead"):
        runner.run("orphan")
    clock.advance(seconds=61)

    assert RunStatus.SUCCEEDED == runner.run("orphan").status
    statuses = {
        run.uid: run.status for run in house.graphmem.runs.newest("orphan", limit=200).items
    }
    assert RunStatus.ABANDONED == statuses[f"run-{house.caller.tenant}"]


def test_a_stop_ends_the_present_batch_and_the_next_run_goes_on(house):
    house.write(*[a_request(f"M{number}.", expires_at=house.clock.now()) for number in range(3)])
    rules = house.graphmem.runner.named("expire").function

    def stop_first(run):
        runner.stop()
        rules(run)

    runner = a_runner(house, stop_first, name="stopped")
    assert RunStatus.PARTIAL == runner.run("stopped", space_key=space_key(house)).status
    with pytest.raises(Conflict, match="about to end"):
        runner.run("stopped")
    fresh = build(
        house.graphmem.settings,
        house.graphmem.connection,
        clock=house.clock,
        embedder=house.embedder,
    )
    record = fresh.runner.run("expire", space_key=space_key(house))
    assert (RunStatus.SUCCEEDED, 3) == (record.status, record.counts["archived"])


def test_a_run_whose_time_is_up_ends_and_says_so(house):
    house.write(a_request("Gone.", expires_at=house.clock.now()))
    rules = house.graphmem.runner.named("expire").function

    record = a_runner(house, rules, name="hurried", job={"budget_seconds": 0.0}).run(
        "hurried", space_key=space_key(house)
    )

    assert (RunStatus.PARTIAL, {"spaces": 0}) == (record.status, record.counts)


def test_a_run_in_one_space_does_not_keep_the_job_from_the_others(house):
    inside = threading.Event()
    leave = threading.Event()

    def wait(run):
        if run.space:
            inside.set()
            leave.wait(10)

    runner = a_runner(house, wait, name="apart")
    thread = threading.Thread(
        target=runner.run, args=("apart",), kwargs={"space_key": space_key(house)}
    )
    thread.start()
    inside.wait(10)
    try:
        assert RunStatus.SUCCEEDED == runner.run("apart").status
        with pytest.raises(Conflict):
            runner.run("apart", space_key=space_key(house))
    finally:
        leave.set()
        thread.join()
    assert RunStatus.SUCCEEDED == house.graphmem.runs.newest("apart", limit=2).items[0].status


def test_a_job_that_works_on_all_spaces_takes_none(house):
    with pytest.raises(InvalidInput, match="space"):
        house.graphmem.runner.run("prune_traces", space_key=space_key(house))


def test_a_persona_has_the_policy_of_its_owner(house):
    house.write(
        a_request("Trivia.", importance=10, space="user:ada/coach"),
        a_request("Trivia.", importance=10, space="user:bob"),
    )
    house.clock.advance(days=100)
    house.graphmem.policies.save(space_from_key(space_key(house)), {"upkeep.archive.enabled": True})

    house.graphmem.runner.run("archive")

    assert [("archived",), ("active",)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.status ORDER BY m.space"
    )
    house.graphmem.policies.save(space_from_key(space_key(house)), {})


@pytest.mark.parametrize("confidence", [0.4, 0.9])
def test_what_is_believed_after_all_does_not_expire(house, confidence):
    house.clock.advance(
        microseconds=123_456
    )  # times are kept in milliseconds where they are indexed
    house.write(a_request("Maybe.", confidence=0.3), a_request("Perhaps.", confidence=0.3, uid="p"))
    house.write(a_request("Maybe."))
    house.write(a_request("Perhaps.", confidence=confidence, uid="p"))
    house.clock.advance(days=31)

    assert {"spaces": 0} == house.graphmem.runner.run("expire", space_key=space_key(house)).counts


def test_a_daily_job_that_was_missed_today_is_caught_up_once(house):
    runner, runs = house.graphmem.runner, house.graphmem.runs
    now = datetime.now(UTC)
    process = JobsProcess(runner=runner, runs=runs, schedule=scheduled(runner.jobs))
    daily = [job for job in process.schedule if job.is_daily]
    for job in daily:
        runs.claim_slot(job.name, job.slot(now) - 1)
        house.graphmem.connection.run_statement(
            "MATCH (j:Job {name: $name}) SET j.slot = $slot", name=job.name, slot=job.slot(now) - 1
        )
    evening = now.replace(hour=23, minute=59)

    assert {job.name for job in daily} == {job.name for job in process.missed_today(evening)}
    assert [] == process.missed_today(now.replace(hour=0, minute=1))
    runs.claim_slot("archive", next(job for job in daily if job.name == "archive").slot(now))
    assert "archive" not in {job.name for job in process.missed_today(evening)}


def test_a_missed_run_is_recorded_and_leaves_the_one_that_is_on_alone(house):
    runner = a_runner(house, lambda _: runner.note_missed("missing"), name="missing")

    runner.run("missing", by_hand=True)

    assert {RunStatus.MISSED, RunStatus.SUCCEEDED} == {
        run.status for run in house.graphmem.runs.newest("missing", limit=2).items
    }


def test_each_changed_memory_has_a_trace_that_names_the_run(house):
    house.write(*[a_request(f"M{number}.", expires_at=house.clock.now()) for number in range(2)])

    record = house.graphmem.runner.run("expire", space_key=space_key(house))

    traces = house.rows(
        "MATCH (t:Trace {tenant: $name, kind: 'expire'}) RETURN t.spaces, t.events, t.request",
        name=house.caller.tenant,
    )
    assert 2 == len(traces)
    assert all([space_key(house)] == spaces and "ttl" in events for spaces, events, _ in traces)
    assert {record.uid} == {json.loads(request)["run"] for _, _, request in traces}


def test_a_job_in_one_space_reads_no_other(house):
    for space in ("user:ada", "user:bob"):
        house.write(a_request("Gone.", space=space, expires_at=house.clock.now()))

    assert 1 == house.graphmem.runner.run("expire", space_key=space_key(house)).counts["archived"]
    assert [("active",)] == house.rows(
        "MATCH (m:Memory) WHERE m.space = $tenant + 'user:bob' RETURN m.status"
    )


def test_commitments_decay_after_a_hundred_days_unless_they_were_refreshed(house):
    house.write(
        a_request("Call Bob.", type=MemoryType.TODO),
        a_request("Water the plants.", type=MemoryType.TODO),
        a_request("Pinned promise.", type=MemoryType.TODO, pinned=True),
    )
    house.clock.advance(days=60)
    house.write(a_request("Water the plants.", type=MemoryType.TODO))
    house.clock.advance(days=40)

    dry = house.graphmem.runner.run("decay_commitments", space_key=space_key(house), dry_run=True)
    wet = house.graphmem.runner.run("decay_commitments", space_key=space_key(house))

    assert {"archived": 1, "spaces": 1} == dry.counts == wet.counts
    assert [("Call Bob.", "commitment_decay")] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.status = 'archived' RETURN"
        " m.content, m.status_reason"
    )


def test_archival_is_off_until_a_space_wants_it_and_spares_corrections(house):
    old = house.write(
        a_request("Trivia.", importance=10), a_request("The old name.", importance=10)
    )
    house.write(a_request("The new name.", importance=10, updates=(old.results[1].memory.uid,)))
    house.clock.advance(days=100)
    runner = house.graphmem.runner

    assert {"spaces": 0} == runner.run("archive", space_key=space_key(house)).counts
    house.graphmem.policies.save(space_from_key(space_key(house)), {"upkeep.archive.enabled": True})
    assert {"archived": 1, "spaces": 1} == runner.run("archive", space_key=space_key(house)).counts
    assert ["The new name."] == [
        content
        for (content,) in house.rows(
            "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.status = 'active' RETURN"
            " m.content"
        )
    ]


def test_archival_reads_the_category_also_of_what_an_older_version_stored(house):
    def write(content, category, **values):
        native = {"category": category}
        house.write(a_request(content, importance=10, native=native, **values))

    write("Ada is direct.", "principle")  # of the type of a fact
    write("Ada likes tea.", "fact", type=MemoryType.PREFERENCE)
    house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant REMOVE m.native_category, m.memory_kind"
    )
    note_kinds(house.graphmem.connection, lambda _: None)
    house.clock.advance(days=100)
    house.graphmem.policies.save(space_from_key(space_key(house)), {"upkeep.archive.enabled": True})

    house.graphmem.runner.run("archive", space_key=space_key(house))

    assert [("Ada is direct.", "active"), ("Ada likes tea.", "archived")] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.content, m.status"
        " ORDER BY m.content"
    )


def test_what_is_hardly_believed_goes_quiet_after_30_days_unless_it_is_said_again(house):
    house.write(a_request("Maybe.", confidence=0.39), a_request("Perhaps.", confidence=0.39))
    house.write(
        a_request("Likely.", confidence=0.40), a_request("Kept.", confidence=0.1, pinned=True)
    )
    house.write(a_request("Perhaps.", confidence=0.39))
    house.clock.advance(days=31)

    house.graphmem.runner.run("expire", space_key=space_key(house))

    assert [("Maybe.",)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.status = 'archived' RETURN"
        " m.content"
    )
