"""Jobs on a real graph."""

from datetime import timedelta

import pytest
from builders import a_request

from graphmem.errors import Conflict, NotFound
from graphmem.store.leases import release_lease, take_lease
from graphmem.upkeep.runs import JobRunner


def space_key(house):
    return f"{house.caller.tenant}/user:ada"


def test_expired_memories_are_archived_with_the_reason_ttl(house):
    house.write(
        a_request("Gone.", expires_at=house.clock.now() + timedelta(hours=1)),
        a_request("Later.", expires_at=house.clock.now() + timedelta(hours=3)),
        a_request("Stays."),
    )
    house.clock.advance(hours=2)

    report = house.graphmem.runner.run("expire", space_key=space_key(house))

    assert (1, 1, None) == (report.counts["archived"], report.counts["spaces"], report.error)
    assert [("Gone.", "archived", "ttl"), ("Later.", "active", None), ("Stays.", "active", None)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN m.content, m.status, m.status_reason ORDER BY m.content"
    )
    assert 0 == house.graphmem.runner.run("expire", space_key=space_key(house)).counts["archived"]


def test_what_expired_frees_its_claim(house):
    house.write(a_request("Again.", expires_at=house.clock.now() + timedelta(hours=1)))
    house.clock.advance(hours=2)
    house.graphmem.runner.run("expire", space_key=space_key(house))

    assert "created" == house.write(a_request("Again.")).results[0].outcome


def test_a_dry_run_counts_the_same_and_touches_nothing(house):
    house.write(*[a_request(f"M{number}.", expires_at=house.clock.now()) for number in range(3)])

    dry = house.graphmem.runner.run("expire", dry_run=True, space_key=space_key(house))

    assert [("active", 3)] == house.rows("MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.status, count(m)")
    wet = house.graphmem.runner.run("expire", space_key=space_key(house))
    assert dry.counts["archived"] == wet.counts["archived"] == 3


def test_what_waits_for_vectors_gets_them_when_the_model_is_back(house):
    house.embedder.is_broken = True
    house.write(a_request("Ada likes tea. She drinks it hot."))
    assert 1 == house.graphmem.runner.run("embed_pending", space_key=space_key(house)).counts["pending"]

    house.embedder.is_broken = False
    report = house.graphmem.runner.run("embed_pending", space_key=space_key(house))

    assert {"embedded": 1, "pending": 0} == report.counts
    bundle = house.recall("she drinks it hot")
    assert ((), 1) == (bundle.degraded, bundle.items[0].explanation.vector.rank)
    assert bundle.items[0].memory.embedded


def test_a_run_is_recorded_with_its_counts(house):
    report = house.graphmem.runner.run("expire", space_key=space_key(house))

    newest = next(run for run in house.graphmem.runs.newest("expire", limit=20) if run["uid"] == report.uid)
    assert ("succeeded", dict(report.counts), None) == (newest["status"], newest["counts"], newest["error"])


def test_a_job_that_raises_is_recorded_and_its_lease_is_free_again(house):
    def boom(**_):
        message = "boom, with what was in the query"
        raise ValueError(message)

    runner = JobRunner(
        house.graphmem.connection,
        functions={"boom": boom},
        clock=house.clock,
        ids=house.graphmem.ids,
        holder="test",
    )

    # only the kind: the text of a driver error may hold a query with its parameters
    assert "ValueError" == runner.run("boom").error
    assert "ValueError" == runner.run("boom").error


def test_one_process_at_a_time_runs_a_job(house):
    connection = house.graphmem.connection
    take_lease(connection, "job:expire", holder="other", clock=house.clock, seconds=60)
    try:
        with pytest.raises(Conflict, match="running in another process"):
            house.graphmem.runner.run("expire")
    finally:
        release_lease(connection, "job:expire", holder="other")


def test_an_unknown_job_is_not_found(house):
    with pytest.raises(NotFound, match="embed_pending, expire"):
        house.graphmem.runner.run("nonsense")


def test_one_text_that_the_model_refuses_holds_up_no_other(house):
    house.embedder.is_broken = True
    house.write(a_request("Refused by the model."), a_request("Fine."))
    house.embedder.is_broken = False
    house.embedder.refuses = "Refused"

    report = house.graphmem.runner.run("embed_pending", space_key=space_key(house))

    assert {"embedded": 1, "pending": 1} == report.counts
