"""Failure Modes and Recovery (002): the store gone, the embedder away for a while.

The API and the jobs are the real processes; between them and the real Neo4j is a line that can be
cut.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from urllib.parse import urlparse

import pytest
from builders import a_request
from waiting import eventually
from wire import Wire

from graphmem.adapters.tcp import free_port
from graphmem.errors import ValueDamaged
from graphmem.model.caller import Role

SPACE = "orchestrator:main"


@pytest.fixture
def processes(house, neo4j_address, tmp_path):
    """The API and the jobs as processes, begun while the line to the database is cut."""
    uri, user, password = neo4j_address
    wire = Wire(urlparse(uri).port)
    key = house.graphmem.keys.create(
        name="test", role=Role.ADMIN, tenant=house.caller.tenant, spaces=["*"]
    )["key"]
    environment = dict(os.environ) | {
        "GRAPHMEM_NEO4J_URI": f"bolt://127.0.0.1:{wire.port}",
        "GRAPHMEM_NEO4J_USER": user,
        "GRAPHMEM_NEO4J_PASSWORD": password,
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_DATA_DIR": str(tmp_path / "data"),
        "GRAPHMEM_PORT": str(free_port()),
        "GRAPHMEM__MEMORY__WORKER_INTERVAL_SECONDS": "1",
    }
    memory = (
        tmp_path / "data" / "tenants" / house.caller.tenant / "orchestrators" / "main" / "memory"
    )
    for folder in ("ingest", "logs"):
        (memory / folder).mkdir(parents=True)
    started = []
    with (tmp_path / "output.log").open("wb") as output:
        for name in ("api", "jobs"):
            command = (sys.executable, "-m", name)
            started.append(subprocess.Popen(command, env=environment, stdout=output, stderr=output))
    yield Processes(wire, environment["GRAPHMEM_PORT"], key, memory)
    for process in started:
        process.terminate()
    for process in started:
        process.wait(20)
    wire.cut()
    house.rows(
        "MATCH (l:Lease) WHERE $tenant <> '' DELETE l"
    )  # those that an outage kept from being given back


class Processes:
    """Ways to ask the processes, and to read what they said."""

    def __init__(self, wire, port, key, memory):
        self.wire, self.port, self.key, self.memory = wire, port, key, memory

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-API-Key": self.key, "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def add(self, content):
        status, answer = self.call("POST", "/v1/memories", {"space": SPACE, "content": content})
        return status, answer.get("error", {}).get("code")

    def recalled(self, query):
        status, answer = self.call("POST", "/v1/recall", {"spaces": [SPACE], "query": query})
        return status, [item["memory"]["content"] for item in answer.get("items", [])]

    def events(self):
        log = self.memory / "logs" / "memory.log"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        return [
            line for line in map(json.loads, lines) if line["event"] != "memory.worker.heartbeat"
        ]


def test_a_store_that_is_gone_at_the_start_and_during_a_run_stops_memory_and_nothing_else(
    processes,
):
    assert eventually(lambda: processes.call("GET", "/health/live")[0] == 200)
    assert (503, "store_unavailable") == processes.add("Too early.")
    assert 503 == processes.call("GET", "/health/ready")[0]
    degraded = eventually(processes.events)
    assert ("memory.worker.degraded", "store_unavailable") == (
        degraded[0]["event"],
        degraded[0]["reason_code"],
    )

    processes.wire.mend()
    assert eventually(lambda: processes.call("GET", "/health/ready")[0] == 200)
    assert (201, None) == processes.add("We drink green tea.")
    assert (200, ["We drink green tea."]) == processes.recalled("What do we drink?")
    back = eventually(
        lambda: [
            line for line in processes.events() if line["event"].endswith("bootstrap_complete")
        ]
    )
    assert back[0]["recovered"]

    processes.wire.cut()
    (processes.memory / "ingest" / "meanwhile.txt").write_text("Dropped while it was away.")
    assert (503, "store_unavailable") == processes.add("During the outage.")
    assert 200 == processes.call("GET", "/health/live")[0]
    body = {"space": SPACE, "message_id": "m-1", "query": "tea"}
    status, bulletin = processes.call("POST", "/v1/bulletins", body)
    assert (200, "empty_bulletin") == (status, bulletin["fallback"])
    assert eventually(
        lambda: [line["event"] for line in processes.events()].count("memory.worker.degraded") == 2
    )

    processes.wire.mend()
    dropped = "Dropped while it was away."
    assert eventually(lambda: dropped in processes.recalled(dropped)[1])
    assert [] == list((processes.memory / "ingest").glob("*.txt"))


def test_an_embedder_that_fails_for_a_while_leaves_recall_by_words_and_the_vectors_come_later(
    house,
):
    house.embedder.is_broken = True
    result = house.graphmem.writing.write(
        [request("We drink green tea.")], caller=house.caller
    ).results[0]
    assert ("created", False) == (result.outcome.value, result.memory.embedded)
    by_words = house.recall("green tea", SPACE)
    assert ("full_text_only", ["We drink green tea."]) == (
        by_words.mode.value,
        [item.memory.content for item in by_words.items],
    )

    house.embedder.is_broken = False
    assert house.graphmem.runner.run("embed_pending").counts["embedded"] >= 1
    found = house.recall("green tea", SPACE)
    assert ("hybrid", True) == (found.mode.value, found.items[0].memory.embedded)


@pytest.mark.parametrize(
    ("change", "failure"),
    [
        ("SET m.type = 'Idea'", "InvalidNodeType"),
        ("SET m.status = 'gone', m.space_token = m.space_token", "InvalidStatus"),
        ("SET m.source_type = 'rumour'", "InvalidSourceType"),
        ("SET m.captured_by = 'nobody'", "InvalidCapturedBy"),
    ],
)
def test_a_stored_value_that_is_none_fails_by_its_name_and_not_as_an_internal_error(
    house, change, failure
):
    uid = house.graphmem.writing.write([request("Tea.")], caller=house.caller).results[0].memory.uid
    house.rows(
        f"MATCH (m:Memory {{uid: $uid}}) WHERE m.space STARTS WITH $tenant {change}", uid=uid
    )

    with pytest.raises(ValueDamaged, match=failure):
        house.graphmem.memories.by_uid(house.caller.tenant, uid)


def request(content):
    return a_request(content, space=SPACE)
