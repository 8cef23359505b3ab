"""The gate: no call is let in before the database has answered, and each is told why."""

from unittest.mock import patch

from flask import Flask

from api.app import create_app
from api.readiness import Readiness
from api.server import open_when_ready
from graphmem.errors import SchemaMismatch, StoreDamaged, StoreUnavailable
from graphmem.store.connection import Connection

KEYS = {"X-API-Key": "gm_" + "k" * 40}


def asked(app: Flask, path="/v1/jobs"):
    answer = app.test_client().get(path, headers=KEYS)
    return answer.status_code, answer.get_json().get("error", {}).get("code")


def test_a_closed_gate_says_why_and_the_process_lives(house):
    gate = Readiness.closed()
    app = create_app(house.graphmem, gate)

    assert (503, "store_unavailable") == asked(app)
    gate.close(StoreDamaged())
    assert (503, "memory_db_corrupt") == asked(app)
    gate.close(StoreUnavailable())  # says less
    assert (503, "memory_db_corrupt") == asked(app)
    assert 200 == asked(app, "/health/live")[0]
    assert 503 == asked(app, "/health/ready")[0]
    gate.open()
    assert (401, "unauthenticated") == asked(app)


def test_a_database_that_does_not_fit_is_looked_at_again(house):
    gate = Readiness.closed()
    app = create_app(house.graphmem, gate)
    answers = [SchemaMismatch("It is newer."), RuntimeError("odd"), None]
    seen = []

    def prepared(*_, **__):
        if seen:
            seen.append(asked(app))
        else:
            seen.append(None)
        if problem := answers.pop(0):
            raise problem

    open_when_ready(house.graphmem, gate, wait=prepared, again_seconds=0.01)

    assert [None, (503, "schema_mismatch"), (503, "store_unavailable")] == seen
    assert (401, "unauthenticated") == asked(app)


def test_a_key_that_was_used_gets_an_empty_bulletin_while_the_database_is_away_and_nothing_else(
    api,
):
    body = {"space": "orchestrator:main", "message_id": "m", "query": "tea"}
    assert 200 == api.post("/v1/bulletins", body).status_code
    api.house.graphmem.keys._callers.clear()  # noqa: SLF001 - as five seconds later

    with patch.object(Connection, "fetch", side_effect=StoreUnavailable()):
        assert (
            503
            == api.post("/v1/recall", {"spaces": ["orchestrator:main"], "query": "tea"}).status_code
        )
        upload = {"space": "orchestrator:main", "filename": "a.txt", "content": "Tea."}
        assert 503 == api.post("/v1/ingest", upload).status_code
        assert "empty_bulletin" == api.post("/v1/bulletins", body).get_json()["fallback"]

    (key,) = [
        key
        for key in api.house.graphmem.keys.listing(api.house.caller.tenant)
        if not key["revoked_at"]
    ]
    api.house.graphmem.keys.revoke(key["id"], tenant=api.house.caller.tenant)
    with patch.object(Connection, "fetch", side_effect=StoreUnavailable()):
        assert 503 == api.post("/v1/bulletins", body).status_code


def test_labels_of_metrics_come_from_a_closed_list(api):
    for number in range(3):
        api.client.open(f"/v1/nowhere-{number}", method=f"BREW{number}")

    text = api.get("/metrics").get_data(as_text=True)

    assert "BREW" not in text
    assert "nowhere" not in text
    assert 'method="other",route="unknown"' in text
    assert "graphmem_disk_free_bytes" in text
