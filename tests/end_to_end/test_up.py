"""The whole service as its users run it."""

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path

import pytest
from waiting import eventually

from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.store.migrations import core_migrations

ROOT = Path(__file__).parents[2]
MIB = 1024 * 1024


def matches(expected, actual) -> bool:
    """Whether a shortened answer fits a real one; "…" fits everything."""
    if expected == "…":
        return True
    if isinstance(expected, dict):
        return all(
            name in actual and matches(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return len(expected) <= len(actual) and all(map(matches, expected, actual))
    return expected == actual


def test_the_examples_of_the_readme_give_what_it_says(service):
    blocks = re.findall(
        r"```(sh|json)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    examples = [
        (command, answer)
        for (kind, command), (next_kind, answer) in pairwise(blocks)
        if (kind, next_kind) == ("sh", "json")
    ]

    assert 2 == len(examples)
    for command, answer in examples:
        body = json.loads(re.search(r"-d '(.*?)'", command, re.DOTALL)[1])
        path = re.search(r"8474(/\S+)", command)[1]
        status, actual = service.call("POST", path, body)
        assert status in {200, 201}
        assert matches(json.loads(answer), actual), json.dumps(actual, indent=1)


def test_the_command_line_works_beside_the_running_service(service):
    def run(*arguments):
        command = [sys.executable, "-m", "graphmem", *arguments]
        return subprocess.run(
            command,
            env=service.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    assert 0 == run("add", "user:cli", "Written on the command line.").returncode
    found = json.loads(run("recall", "user:cli", "command line", "-o", "json").stdout)
    assert "Written on the command line." == found[0]["content"]
    assert (
        "ok"
        == {row["part"]: row["state"] for row in json.loads(run("doctor", "-o", "json").stdout)}[
            "schema"
        ]
    )
    assert (
        core_migrations(CORE_STEPS).newest
        == json.loads(run("schema", "status", "-o", "json").stdout)[0]["version"]
    )
    assert 2 == run("add", "nonsense", "x").returncode
    assert 2 == run("recall").returncode


def test_the_demo_answers_its_questions(service):
    command = [sys.executable, "-m", "graphmem", "demo"]
    environment = service.environment | {"COLUMNS": "200"}
    for outcome in ("created", "unchanged"):
        said = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=180
        ).stdout

        assert "60 turns to the space project:demo in" in said
        assert f"({outcome})" in said
    first_row = next(line for line in said.splitlines() if line.startswith("│"))
    assert "hazelnuts" in first_row


def test_message_a_creates_memory_message_b_in_same_orchestrator_recalls_it(service):
    context(service, "We drink green tea at noon.", message="a", conversation="one")

    answer = context(service, "What do we drink at noon?", message="b", conversation="two")

    assert "We drink green tea at noon." in answer["rendered"]
    assert 1 == len(answer["citations"])


def test_workflow_step_output_produces_decision_todo_memory_and_affects_subsequent_context(service):
    outputs = {
        "decision": "We release the parser on Friday.",
        "todo_list": "Write the notes of the parser release.",
    }
    body = {
        "space": "orchestrator:smoke",
        "workflow_run_id": "run-1",
        "step_id": "plan",
        "attempt": 1,
    }
    status, written = service.call(
        "POST", "/v1/write-backs/workflow-output", body | {"outputs": outputs}
    )
    assert (200, ["created", "created"]) == (
        status,
        [result["outcome"] for result in written["results"]],
    )

    sections = {
        section["name"]: section["lines"]
        for section in context(service, "When is the parser release?", purpose="step", message="c")[
            "sections"
        ]
    }

    assert sections["recent_decisions"][0].startswith("- We release the parser on Friday. [output-")
    assert sections["open_todos"][0].startswith("- Write the notes of the parser release. [output-")


def test_diagnostics_request_retrieves_bounded_evidence_from_memory_graph_with_provenance(service):
    outputs = {
        f"note {number}": f"The gateway timed out in attempt {number}." for number in range(12)
    }
    body = {
        "space": "orchestrator:smoke",
        "workflow_run_id": "run-2",
        "step_id": "deploy",
        "attempt": 1,
    }
    service.call("POST", "/v1/write-backs/workflow-output", body | {"outputs": outputs})

    answer = context(service, "Why did the gateway time out?", purpose="diagnostics", message="d")

    assert (8, "full_text_only") == (len(answer["evidence"]), answer["mode"])
    assert {("workflow_output", "run-2", "deploy")} == {
        tuple(item["citation"][name] for name in ("source_type", "workflow_run_id", "step_id"))
        for item in answer["evidence"]
    }
    assert len(answer["rendered"]) <= 4_000


def context(service, content, *, purpose="selector", message, conversation=None):
    body = {
        "space": "orchestrator:smoke",
        "purpose": purpose,
        "message_id": message,
        "content": content,
    }
    status, answer = service.call("POST", "/v1/context", body | {"conversation_id": conversation})
    assert (200, None) == (status, answer["fallback"])
    return answer


def test_a_second_service_on_the_same_folder_is_refused_with_a_sentence(service):
    environment = service.environment
    second = subprocess.run(
        [sys.executable, "-m", "graphmem", "up"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert 1 == second.returncode
    assert f"Port {service.port}" in second.stderr
    assert "Traceback" not in second.stderr


def test_the_start_says_where_neo4j_and_its_password_are_but_not_the_password(service):
    said = (service.folder / "up.log").read_text("utf-8")
    path = service.folder / "data" / "neo4j" / "password"

    assert (
        f"  Neo4j      bolt://127.0.0.1:{service.environment['GRAPHMEM_NEO4J_BOLT_PORT']}\n" in said
    )
    assert f"  its login  neo4j, password in {path}\n" in said
    assert path.read_text("utf-8").strip() not in said


def test_neo4j_browser_is_served_at_the_address_that_the_start_says(service):
    said = (service.folder / "up.log").read_text("utf-8")
    if "Neo4j Browser is not served" in said:
        pytest.skip("The jar of Neo4j Browser cannot be had here.")
    address = f"http://127.0.0.1:{service.environment['GRAPHMEM_NEO4J_HTTP_PORT']}/browser/"

    assert f"  Browser    {address}\n" in said
    with urllib.request.urlopen(address, timeout=30) as page:
        policy = page.headers["Content-Security-Policy"]
    assert f" http://127.0.0.1:{service.port} " in policy


@pytest.mark.parametrize("is_chunked", [False, True])
def test_the_refusal_of_a_huge_body_can_be_read(service, is_chunked):
    parts = [b"x" * MIB] * 40
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    headers = {"X-API-Key": service.key, "Content-Type": "application/json"}
    length = {} if is_chunked else {"Content-Length": str(len(parts) * MIB)}

    connection.request(
        "POST", "/v1/memories", iter(parts), headers | length, encode_chunked=is_chunked
    )

    assert "too_large" == json.load(connection.getresponse())["error"]["code"]
    connection.close()


def test_a_body_in_chunks_is_taken(service):
    body = json.dumps({"space": "user:chunks", "content": "Said in two parts."}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)

    connection.request(
        "POST",
        "/v1/memories",
        iter([body[:20], body[20:]]),
        {"X-API-Key": service.key, "Content-Type": "application/json"},
        encode_chunked=True,
    )

    assert HTTPStatus.CREATED == connection.getresponse().status
    connection.close()


def raw(service, request: bytes) -> tuple[int, http.client.HTTPMessage, object]:
    """The answer to the bytes of a request: status, headers, JSON."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(request)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.headers, json.loads(answer.read())


def test_any_id_that_can_be_written_can_be_asked_for(service):
    conversation = "\U0001f600" * 512
    source = {"conversation_id": conversation, "key": "\u00e9" * 512}
    body = {"space": "user:long", "content": "Ada likes tea.", "source": source}
    assert 201 == service.call("POST", "/v1/memories", body)[0]

    tag = urllib.parse.quote(conversation)
    assert len(tag) > 6_000
    status, found = service.call("GET", f"/v1/memories?space=user:long&conversation_id={tag}")
    assert (200, 1) == (status, found["total"])


@pytest.mark.parametrize(
    ("request_", "expected", "code"),
    [
        (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n", 414, "too_large"),
        (b"GET / HTTP/1.1\r\nX-A: " + b"a" * 70_000 + b"\r\n\r\n", 431, "too_large"),
        (b"GET\r\n\r\n", 400, "malformed"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "malformed"),
        (b"GET / HTTP/1.1\r\nNo colon\r\n\r\n", 400, "malformed"),
    ],
    ids=["long line", "long header", "no path", "no version", "no header"],
)
def test_what_is_no_request_is_answered_in_the_form_of_all_errors(
    service, request_, expected, code
):
    status, headers, body = raw(service, request_)

    assert (expected, code) == (status, body["error"]["code"])
    assert "application/json" == headers["Content-Type"]
    assert headers["X-Request-ID"] == body["error"]["request_id"]


def test_a_malformed_chunk_is_malformed(service):
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: x\r\nX-API-Key: {service.key}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )

    status, _, body = raw(service, head.encode() + b"zz\r\n{}\r\n0\r\n\r\n")

    assert (400, "malformed") == (status, body["error"]["code"])


def test_logs_hold_no_memory_contents(service):
    service.call(
        "POST", "/v1/memories", {"space": "user:log", "content": "Xylophone confidential."}
    )
    service.call("POST", "/v1/recall", {"spaces": ["user:log"], "query": "Xylophone?"})
    service.call("POST", "/v1/memories", {"space": "user:log", "content": "Xylophone " * 5_000})

    for log in (service.folder / "data").rglob("*.log"):
        assert "ylophone" not in log.read_text(errors="replace"), log


@pytest.mark.parametrize("victim", ["-m api", "-m jobs", "Neo4jCommunity"])
def test_what_dies_comes_back_and_nothing_acknowledged_is_lost(service, victim):
    contents = [f"Survivor {number} of {victim}." for number in range(5)]
    for content in contents:
        assert (
            201
            == service.call("POST", "/v1/memories", {"space": "user:crash", "content": content})[0]
        )

    killed = service.children(victim)
    assert killed
    for process in killed:
        process.send_signal(signal.SIGKILL)

    def is_another():
        alive = service.children(victim)
        return alive and not set(killed) & set(alive)

    assert eventually(is_another, seconds=90)
    service.wait_ready()

    for content in contents:
        status, answer = service.call(
            "POST", "/v1/recall", {"spaces": ["user:crash"], "query": content, "limit": 1}
        )
        assert (200, content) == (status, answer["items"][0]["memory"]["content"])
    total = service.call("GET", "/v1/memories?space=user:crash&limit=200")[1]
    found = [item["content"] for item in total["items"]]
    assert sorted(set(found)) == sorted(found)
    assert set(contents) <= set(found)


def test_a_damaged_store_stops_memory_and_nothing_else_until_it_is_back(service):
    memory = {"space": "orchestrator:main", "content": "Written before the damage."}
    service.call("POST", "/v1/memories", memory)
    service.call("POST", "/v1/ingest/scan", {"space": "orchestrator:main"})
    assert [] == service.stop()
    store, kept = service.folder / "data" / "neo4j" / "data", service.folder / "kept"
    shutil.copytree(store, kept)
    for name in ("neostore", "neostore.nodestore.db"):
        (store / "databases" / "neo4j" / name).write_bytes(b"damaged " * 1_024)

    service.begin()

    assert eventually(lambda: reason(service) == "memory_db_corrupt", seconds=90)
    assert 200 == service.call("GET", "/health/live")[0]
    assert "neo4j" in (answer := service.call("GET", "/health/ready")[1])["checks"]
    assert "ok" != answer["status"]
    log = service.folder / "data" / "orchestrators" / "main" / "memory" / "logs" / "memory.log"
    assert eventually(
        lambda: log.exists() and "memory.worker.degraded" in log.read_text("utf-8"), seconds=90
    )
    shutil.rmtree(store)
    shutil.copytree(kept, store)
    service.wait_ready()
    body = {"spaces": ["orchestrator:main"], "query": "before the damage"}
    answer = service.call("POST", "/v1/recall", body)[1]
    assert "Written before the damage." == answer["items"][0]["memory"]["content"]


def reason(service):
    """Why a memory call is refused; None where the API does not listen yet."""
    try:
        answer = service.call(
            "POST", "/v1/recall", {"spaces": ["orchestrator:main"], "query": "before"}
        )[1]
    except OSError:
        return None
    return answer.get("error", {}).get("code")


def test_an_interrupt_leaves_no_process_and_the_next_start_finds_everything(service):
    service.call(
        "POST", "/v1/memories", {"space": "user:last", "content": "Written before the end."}
    )

    assert [] == service.stop()
    service.start()
    answer = service.call(
        "POST", "/v1/recall", {"spaces": ["user:last"], "query": "written before the end"}
    )[1]

    assert "Written before the end." == answer["items"][0]["memory"]["content"]


def test_a_killed_owner_leaves_no_process(service):
    assert [] == service.stop(signal.SIGKILL)
    service.start()
    assert [] == service.stop(signal.SIGHUP)
