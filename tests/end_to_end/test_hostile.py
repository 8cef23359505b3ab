"""Hostile callers of all kinds at once, while a client with another key goes on as if alone."""

import contextlib
import http.client
import json
import random
import socket
import time
from itertools import cycle

import hypothesis
import pytest
import schemathesis
from crowds import Crowd
from schemathesis import GenerationMode

from graphmem.model.caller import Role

MIB = 1 << 20
ASKED_SECONDS = 0.1
LONGEST_SECONDS = 2.0
PSS_MAX = 600 * MIB
MARKS = "e" + "\u0301" * 60_000


def bodies():
    """Bodies that have hurt services: sizes, depths, marks, lists, numbers, encodings."""
    memory = '{"space": "user:ada", "content": %s}'
    yield b"[" * 200_000
    yield b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    yield (memory % json.dumps(MARKS)).encode()
    yield (memory % json.dumps(MARKS, ensure_ascii=False)).encode()
    yield (memory % json.dumps("-eyJ" * 30_000)).encode()
    yield (memory % json.dumps("\n" * 30_000 + "password:")).encode()
    yield (memory % json.dumps("a" * 5_000_000)).encode()
    yield (memory % ("[" + "1," * 500_000 + "1]")).encode()
    yield (memory % ('"x", "tags": [' + '"",' * 300_000 + '""]')).encode()
    yield (memory % ('"x", "entities": [' + "{}," * 300_000 + "{}]")).encode()
    yield (memory % ('"x", "metadata": ' + '{"a":' * 5_000 + "1" + "}" * 5_000)).encode()
    yield (memory % ('"x", "importance": ' + "9" * 400_000)).encode()
    yield (memory % '"x", "embedding": [1e999, NaN, -Infinity]').encode()
    yield (memory % '"x", "embedding": [5e-324]').encode()
    yield (memory % '"\\ud800 lone"').encode()
    yield b'{"space": "user:ada", "content": "\xff\xfe"}'
    yield "{}".encode("utf-16")
    yield b"\0" * 100_000
    yield b'{"items": [' + b"{}," * 200_000 + b"{}]}"
    yield b'{"spaces": ["user:ada"], "query": "' + b"tea " * 500_000 + b'"}'
    yield b'{"spaces": [' + b'"user:ada",' * 100_000 + b'"user:ada"], "query": "x"}'
    yield b" " * 40 * MIB


PATHS = ("/v1/memories", "/v1/memories/batch", "/v1/recall", "/v1/edges", "/v1/ingest")
HALVES = (
    b"",
    b"P",
    b"POST /v1/memories HTTP/1.1\r\nHost: x\r\n",
    b"POST /v1/memories HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{",
    b"POST /v1/memories HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n{",
    b"POST /v1/memories HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/memories HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"a" * 50_000,
    b"POST /v1/memories HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 9_000,
)


class Bystander:
    """A client that asks every tenth of a second and notes how long it waited."""

    def __init__(self, service, key):
        self.service, self.key = service, key
        self.waits, self.statuses = [], set()

    def run(self):
        calls = cycle(
            (
                ("POST", "/v1/memories", {"space": "user:eve", "content": "Eve likes tea."}),
                ("POST", "/v1/recall", {"spaces": ["user:eve"], "query": "tea"}),
                ("GET", "/v1/memories?space=user:eve", None),
                ("GET", "/health/live", None),
            )
        )
        while not self.stop.wait(ASKED_SECONDS):
            began = time.monotonic()
            status, _ = self.service.call(*next(calls), **{"X-API-Key": self.key})
            self.waits.append(time.monotonic() - began)
            self.statuses.add(status)

    @contextlib.contextmanager
    def asking(self):
        """Ask until the end of the with statement."""
        self.waits.clear()
        asking = Crowd([self.run])
        self.stop = asking.stop
        with asking:
            yield

    def ask_for(self, seconds):
        """Ask for some time; the longest wait."""
        with self.asking():
            time.sleep(seconds)
        return max(self.waits)


class Attackers(Crowd):
    """Threads that send hostile things until they are told to stop."""

    def __init__(self, service, key, seed=1):
        self.service, self.key = service, key
        self.chosen = random.Random(seed)  # noqa: S311 - nothing secret
        self.failures, self.sent = [], 0
        super().__init__([self.send_bodies, self.hold_connections] * 2)

    def send_bodies(self):
        while not self.stop.is_set():
            for body in bodies():
                if self.stop.is_set():
                    return
                self.send(self.chosen.choice(PATHS), body)

    def send(self, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        headers = {"X-API-Key": self.key, "Content-Type": "application/json"}
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("POST", path, body=body, headers=headers)
            answer = connection.getresponse()
            text = answer.read()
            self.sent += 1
            if answer.status >= 500:
                self.failures.append((path, body[:60], answer.status, text[:200]))

    def hold_connections(self):
        while not self.stop.is_set():
            with contextlib.ExitStack() as held:
                for _ in range(60):
                    with contextlib.suppress(OSError):
                        made = socket.create_connection(("127.0.0.1", self.service.port), timeout=5)
                        held.enter_context(made)
                        made.sendall(self.chosen.choice(HALVES))
                self.stop.wait(3)


def made_up(service, number):
    """So many requests that the OpenAPI document allows, or nearly; gives server errors."""
    url = f"http://127.0.0.1:{service.port}/openapi.json"
    document = schemathesis.openapi.from_url(url)
    operations = [found.ok() for found in document.get_all_operations()]
    failures = []

    def ask(operation):
        @hypothesis.settings(
            max_examples=max(1, number // len(operations)),
            suppress_health_check=list(hypothesis.HealthCheck),
            deadline=None,
            database=None,
        )
        @hypothesis.given(
            case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
            | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
        )
        def one(case):
            answer = case.call(headers={"X-API-Key": service.key})
            if answer.status_code >= 500:
                failures.append((operation.label, answer.status_code, answer.text[:200]))

        one()

    for operation in operations:
        ask(operation)
    return failures


def pss_of_the_api(service):
    processes = [each for each in service.children("-m api") if "guard" not in str(each.cmdline())]
    return max(each.memory_full_info().pss for each in processes)


def another_key(service):
    """A key of another tenant."""
    body = {"name": "bystander", "role": Role.WRITER, "spaces": ["*"], "tenant": "bystander"}
    status, made = service.call("POST", "/v1/admin/keys", body)
    assert 201 == status, made
    return made["key"]


def check(service, *, alone, attacked, requests):
    """Attack a service for some time; a bystander hardly notices, and nothing breaks."""
    bystander = Bystander(service, another_key(service))
    bystander.ask_for(2)  # plans are made
    slowest = bystander.ask_for(alone)
    began = time.monotonic()
    with bystander.asking(), Attackers(service, service.key) as attackers:
        failures = made_up(service, requests) if requests else []
        while time.monotonic() - began < attacked:
            time.sleep(0.1)
    longest = max(bystander.waits)
    pss = pss_of_the_api(service)

    print(  # noqa: T201 - figures for docs/benchmark.md
        f"bystander alone {slowest:.2f} s, attacked {longest:.2f} s ({len(bystander.waits)} calls),"
        f" {attackers.sent} hostile bodies, API {pss // MIB} MiB"
    )
    assert [] == attackers.failures
    assert [] == failures
    assert {200, 201} >= bystander.statuses
    assert longest <= max(LONGEST_SECONDS, 5 * slowest)
    assert pss <= PSS_MAX
    assert attackers.sent > 10


def test_hostile_callers_stop_nobody(service):
    check(service, alone=3, attacked=12, requests=0)


@pytest.mark.fuzz
def test_hostile_callers_and_ten_thousand_made_up_requests_stop_nobody(service):
    check(service, alone=20, attacked=120, requests=10_000)
