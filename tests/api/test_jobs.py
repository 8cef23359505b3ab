"""Jobs over HTTP."""

from datetime import timedelta

import pytest

from graphmem.model.caller import Role
from graphmem.store.keys import FIRST_TENANT
from graphmem.store.leases import release_lease, take_lease

NAMES = {"archive", "decay_commitments", "embed_pending", "expire", "prune_traces"}


def add_expired(api, number=1):
    when = (api.house.clock.now() + timedelta(minutes=1)).isoformat()
    items = [
        {"space": "user:ada", "content": f"Fact {i}.", "expires_at": when} for i in range(number)
    ]
    assert 200 == api.post("/v1/memories/batch", {"items": items}).status_code
    api.house.clock.advance(minutes=2)


def test_every_job_is_listed_with_what_it_does(api):
    listed = api.get("/v1/jobs").get_json()

    assert {job["name"] for job in listed["items"]} >= NAMES
    assert all(job["does"] for job in listed["items"])


def test_a_run_answers_with_its_counts_and_is_found_again(api):
    add_expired(api, 2)

    run = api.post("/v1/jobs/expire/runs", {"space": "user:ada"}).get_json()["run"]

    assert ("expire", "succeeded", "user:ada", {"archived": 2, "spaces": 1}, None) == tuple(
        run[name] for name in ("job", "status", "space", "counts", "error")
    )
    assert run in api.get("/v1/jobs/expire/runs").get_json()["items"]


def test_a_dry_run_counts_the_same_and_touches_nothing(api):
    add_expired(api, 2)

    dry = api.post("/v1/jobs/expire/runs", {"space": "user:ada", "dry_run": True}).get_json()["run"]
    wet = api.post("/v1/jobs/expire/runs", {"space": "user:ada"}).get_json()["run"]

    assert (True, False) == (dry["dry_run"], wet["dry_run"])
    assert {"archived": 2, "spaces": 1} == dry["counts"] == wet["counts"]


def test_a_trace_of_a_job_can_be_read_by_who_may_read_the_space(api):
    add_expired(api)
    api.post("/v1/jobs/expire/runs", {"space": "user:ada"})
    ((uid,),) = api.house.rows(
        "MATCH (t:Trace {tenant: $name, kind: 'expire'}) RETURN t.uid", name=api.house.caller.tenant
    )

    assert "expire" == api.get(f"/v1/traces/{uid}").get_json()["kind"]
    assert 404 == api.with_key(Role.READER, "user:bob").get(f"/v1/traces/{uid}").status_code


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"dry_run": "perhaps"}, 422, "dry_run"),
        ({"space": "nonsense"}, 422, "space"),
        ({"spaces": ["user:ada"]}, 422, "spaces"),
        ([], 422, None),
    ],
)
def test_bad_input_is_named(api, body, status, field):
    answer = api.post("/v1/jobs/expire/runs", body)

    assert status == answer.status_code
    assert field is None or field in answer.get_json()["error"]["fields"]


def test_an_unknown_job_is_404_and_names_those_that_there_are(api):
    for answer in (api.post("/v1/jobs/nonsense/runs", {}), api.get("/v1/jobs/nonsense/runs")):
        assert 404 == answer.status_code
        assert "decay_commitments" in answer.get_json()["error"]["message"]


def test_a_job_that_is_running_elsewhere_is_409_with_the_holder(api):
    connection = api.house.graphmem.connection
    take_lease(connection, "job:archive", holder="elsewhere:7", clock=api.house.clock, seconds=60)
    try:
        answer = api.post("/v1/jobs/archive/runs", {"space": "user:ada"})
    finally:
        release_lease(connection, "job:archive", holder="elsewhere:7")

    assert 409 == answer.status_code
    assert "elsewhere:7" in answer.get_json()["error"]["message"]


def test_only_operators_run_a_job_everywhere(api):
    assert (
        403 == api.post("/v1/jobs/expire/runs", {}).status_code
    )  # an admin, of another tenant than the first
    assert (
        403
        == api.with_key(Role.WRITER, "*")
        .post("/v1/jobs/expire/runs", {"space": "user:ada"})
        .status_code
    )
    assert (
        403
        == api.with_key(Role.CURATOR, "user:bob")
        .post("/v1/jobs/expire/runs", {"space": "user:ada"})
        .status_code
    )
    assert (
        200
        == api.with_key(Role.CURATOR, "user:*")
        .post("/v1/jobs/expire/runs", {"space": "user:ada"})
        .status_code
    )


def test_what_works_on_all_spaces_is_for_operators_and_reembed_for_the_command_line(api):
    operator = api.with_key(Role.ADMIN, "*", tenant=FIRST_TENANT)

    assert 422 == api.post("/v1/jobs/prune_traces/runs", {"space": "user:ada"}).status_code
    assert 403 == api.post("/v1/jobs/reembed/runs", {"space": "user:ada"}).status_code
    assert 403 == operator.post("/v1/jobs/reembed/runs", {}).status_code
    assert 200 == operator.post("/v1/jobs/prune_traces/runs", {"dry_run": True}).status_code


def test_a_run_is_seen_only_by_who_may_see_its_space(api):
    uid = api.post("/v1/jobs/expire/runs", {"space": "user:ada"}).get_json()["run"]["uid"]

    def seen(key):
        return uid in {
            run["uid"] for run in key.get("/v1/jobs/expire/runs?limit=200").get_json()["items"]
        }

    assert (True, False) == (seen(api), seen(api.with_key(Role.CURATOR, "user:bob")))
    operator = api.with_key(Role.ADMIN, "*", tenant=FIRST_TENANT)
    assert seen(operator)


def test_metrics_show_how_jobs_went(api):
    api.post("/v1/jobs/expire/runs", {"space": "user:ada"})

    text = api.client.get("/metrics").get_data(as_text=True)

    assert 'graphmem_job_runs_total{job="expire",status="succeeded"}' in text
    assert 'graphmem_job_last_success_timestamp_seconds{job="expire"}' in text
