"""A connection whose database does not answer: who waits, who is told, and its return."""

import threading
import time
from urllib.parse import urlparse

import pytest
from wire import Wire

from graphmem.errors import StoreUnavailable
from graphmem.store.connection import Connection


@pytest.fixture
def line(neo4j_address):
    """A connection over a line that can be cut."""
    uri, user, password = neo4j_address
    wire = Wire(urlparse(uri).port)
    wire.mend()
    opened = Connection(
        f"bolt://127.0.0.1:{wire.port}", user=user, password=password, retry_seconds=1.0
    )
    yield wire, opened
    opened.close()
    wire.cut()


def test_calls_after_an_outage_are_all_answered_although_they_come_together(line):
    wire, connection = line
    connection.check()
    wire.cut()
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            connection.check()
    wire.mend()
    connection._refused_until = 0.0  # noqa: SLF001 - as a second later
    failed = []

    def ask():
        try:
            connection.check()
        except StoreUnavailable as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failed


def test_a_query_that_fails_says_nothing_of_the_next_one(line):
    _, connection = line

    def too_slow(_):
        raise StoreUnavailable

    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            connection.read(too_slow)
        connection.check()


def test_a_write_that_waits_notices_within_two_seconds_that_the_database_is_back(neo4j_address):
    uri, user, password = neo4j_address
    wire = Wire(urlparse(uri).port)
    wire.mend()
    connection = Connection(f"bolt://127.0.0.1:{wire.port}", user=user, password=password)
    connection.check()
    wire.cut()
    back = {}

    def mend():
        wire.mend()
        back["at"] = time.monotonic()

    timer = threading.Timer(5.0, mend)
    timer.start()
    connection.run("keys.exist")

    assert time.monotonic() - back["at"] < 2.0
    timer.join()
    connection.close()
    wire.cut()
