"""Connections over real sockets: no slow sender and no single key stops the others."""

import contextlib
import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask, jsonify, request
from waiting import eventually
from waitress import wasyncore

from api.bodies import limit_bodies
from api.connections import adjustments, listen
from api.dispatching import FairDispatcher
from api.errors import register_error_handlers
from graphmem.adapters.tcp import free_port

THREADS = 4
HEADER_SECONDS, BODY_SECONDS = 1.0, 2.0
BODY_BYTES = 100_000
POST = b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def an_app(may_end):
    """An app with a call that lasts, one that reads its body, and health."""
    app = Flask("slow")
    limit_bodies(app, BODY_BYTES)
    register_error_handlers(app)

    @app.get("/slow")
    def slow():
        may_end.wait(10)
        return jsonify(done=True)

    @app.post("/length")
    def length():
        return jsonify(length=len(request.get_data()))

    @app.get("/quick")
    @app.get("/health/live")
    def quick():
        return jsonify(status="ok")

    return app


@pytest.fixture
def server():
    """A server of four threads, three for a key, and what lets its slow calls end."""
    may_end, port = threading.Event(), free_port()
    adjusted = adjustments(
        host="127.0.0.1",
        port=port,
        threads=THREADS,
        connections=120,
        header_seconds=HEADER_SECONDS,
        body_seconds=BODY_SECONDS,
        body_bytes=BODY_BYTES,
    )
    dispatcher = FairDispatcher(THREADS, most=3)
    loop = listen(an_app(may_end), adjusted, dispatcher)
    ended = threading.Event()

    def run():
        while not ended.is_set():
            wasyncore.loop(0.1, use_poll=True, map=loop, count=1)

    thread = threading.Thread(target=run)
    thread.start()
    yield Server(port, may_end)
    may_end.set()
    ended.set()
    thread.join()
    dispatcher.shutdown(timeout=5)
    wasyncore.close_all(loop)


class Server:
    """Where it listens."""

    def __init__(self, port, may_end):
        self.port = port
        self.may_end = may_end

    def ask(self, path, *, key="", method="GET", body=None, headers=None, timeout=20):
        """Status, headers, JSON and how long it took."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        began = time.monotonic()
        with contextlib.closing(connection):
            sent = {"X-API-Key": key} if key else {}
            connection.request(method, path, body=body, headers=sent | (headers or {}))
            answer = connection.getresponse()
            text = answer.read()
            return (
                answer.status,
                dict(answer.getheaders()),
                json.loads(text),
                time.monotonic() - began,
            )

    @contextlib.contextmanager
    def connected(self, number, first=b""):
        """Some connections that have sent no more than this."""
        with contextlib.ExitStack() as stack:
            sockets = []
            for _ in range(number):
                made = socket.create_connection(("127.0.0.1", self.port), timeout=20)
                stack.enter_context(made)
                if first:
                    made.sendall(first)
                sockets.append(made)
            yield sockets


def is_closed(connection):
    """Whether the server has ended a connection; what it said before is read."""
    connection.settimeout(0.01)
    try:
        return connection.recv(1 << 16) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize(
    ("first", "seconds"),
    [
        (b"", HEADER_SECONDS),
        (b"G", HEADER_SECONDS),
        (b"GET /quick HTTP/1.1\r\nHost: x\r\n", HEADER_SECONDS),
        (POST + b"Content-Length: 90\r\n\r\n{", BODY_SECONDS),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", BODY_SECONDS),
    ],
    ids=["nothing", "one byte", "half a header", "half a body", "half a chunk"],
)
def test_slow_senders_hold_no_thread_and_are_ended(server, first, seconds):
    with server.connected(80, first) as connections:
        waits = [server.ask("/quick")[3] for _ in range(10)]

        assert max(waits) < 0.5
        assert not is_closed(connections[0])
        assert eventually(lambda: all(map(is_closed, connections)), seconds=seconds + 5)


@pytest.mark.parametrize(
    "endless", [b"a" * 8_000, b"0\r\n" + b"X-A: b\r\n" * 8_000], ids=["chunk line", "trailer"]
)
def test_a_chunk_without_end_is_refused_before_it_grows(server, endless):
    with server.connected(1, POST + b"Transfer-Encoding: chunked\r\n\r\n") as (connection,):
        with contextlib.suppress(OSError):
            for _ in range(3):
                connection.sendall(endless)
        answer = connection.recv(1 << 16)

        assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "request_",
    [
        b"GET http://[x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        POST + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    ],
    ids=["no address", "no length"],
)
def test_what_cannot_be_parsed_is_answered(server, request_):
    with server.connected(1, request_) as (connection,):
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400 ")


def test_unfinished_requests_make_room_when_there_are_too_many(server):
    with server.connected(125, POST + b"Content-Length: 1000\r\n\r\n"):
        assert server.ask("/quick")[3] < BODY_SECONDS


def test_a_sender_that_never_stops_sending_a_header_is_ended(server):
    with server.connected(1, b"GET /quick HTTP/1.1\r\n") as (connection,):
        began = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - began < HEADER_SECONDS + 5:
                connection.sendall(b"X-A: b\r\n")
                time.sleep(0.05)
                if is_closed(connection):
                    break

        assert time.monotonic() - began < HEADER_SECONDS + 2


def test_connections_on_which_nothing_is_asked_make_room_for_others(server):
    ask = b"GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"
    with server.connected(130, ask) as connections:
        connections[0].recv(1 << 16)

        assert 200 == server.ask("/quick")[0]


def test_one_key_leaves_threads_for_the_others_and_is_told_when_it_asks_too_much(server):
    with ThreadPoolExecutor(20) as pool:
        flood = [pool.submit(server.ask, "/slow", key="mine") for _ in range(12)]
        time.sleep(0.2)
        waits = [server.ask("/quick", key="other")[3] for _ in range(10)]
        refused = [future.result() for future in flood[:12] if _ends(future)]
        server.may_end.set()
        answers = [future.result() for future in flood]

    assert max(waits) < 0.5
    assert {200, 429} == {status for status, *_ in answers}
    assert 3 == sum(status == 200 for status, *_ in answers)
    for _, headers, body, seconds in refused:
        assert "1" == headers["Retry-After"]
        assert "too_many_requests" == body["error"]["code"]
        assert 0.9 < seconds < 3


def _ends(future):
    return eventually(future.done, seconds=3)


def test_health_is_answered_while_all_threads_are_busy(server):
    with ThreadPoolExecutor(8) as pool:
        busy = [pool.submit(server.ask, "/slow", key=f"k-{n}") for n in range(8)]
        time.sleep(0.2)

        assert (200, True) == (server.ask("/health/live")[0], server.ask("/health/live")[3] < 0.5)
        server.may_end.set()
        assert {200} == {future.result()[0] for future in busy}


@pytest.mark.parametrize("length", [BODY_BYTES, BODY_BYTES + 1, 5 * BODY_BYTES])
@pytest.mark.parametrize("in_chunks", [False, True])
def test_a_body_above_the_limit_is_refused_in_words_that_can_be_read(server, length, in_chunks):
    body = b'"' + b"a" * (length - 2) + b'"'
    sent = iter([body[:10], body[10:]]) if in_chunks else body

    status, _, answer, _ = server.ask(
        "/length", method="POST", body=sent, headers={"Content-Type": "application/json"}
    )

    if length <= BODY_BYTES:
        assert (200, {"length": length}) == (status, answer)
    else:
        assert (413, "too_large") == (status, answer["error"]["code"])
