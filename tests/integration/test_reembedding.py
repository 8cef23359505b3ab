"""Changing the embedder: vectors beside vectors, a switch, and the old ones removed."""

import threading

import pytest
from builders import a_request
from fakes import BreakableEmbedder, FixedClock
from uuid6 import uuid7

from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.bootstrap import build
from graphmem.errors import SchemaMismatch
from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.model.caller import Caller, Role
from graphmem.model.job import RunStatus
from graphmem.recall.request import RecallRequest
from graphmem.store.migrations import apply_migrations, check_schema, core_migrations, schema_state

SETS = [core_migrations(CORE_STEPS)]


class OtherEmbedder(BreakableEmbedder):
    """Another model: other vectors, of another length."""

    def __init__(self):
        super().__init__()
        self.name = "other:100@1"
        self.dimensions = 100
        self.batches = 0
        self.on_batch = lambda: None

    def embed(self, texts):
        self.batches += 1
        self.on_batch()
        return [self._shortened(vector) for vector in super().embed(texts)]

    def embed_query(self, text):
        return self._shortened(super().embed_query(text))

    @staticmethod
    def _shortened(vector):
        folded = tuple(sum(vector[place::100]) for place in range(100))
        return folded if any(folded) else (1.0, *folded[1:])


@pytest.fixture
def services(connection, settings):
    """An old and a new service over the shared database, which has the old one afterwards."""
    clock = FixedClock()
    caller = Caller(key_id="test", tenant=f"t-{uuid7()}", role=Role.ADMIN, spaces=("*",))
    old = build(settings, connection, clock=clock, embedder=BreakableEmbedder())
    new = build(settings, connection, clock=clock, embedder=OtherEmbedder())
    yield old, new, caller
    back = build(settings, connection, clock=clock, embedder=HashEmbedder())
    for _ in range(2):
        assert RunStatus.SUCCEEDED == back.runner.run("reembed", by_hand=True).status
    connection.run_statement(
        "MATCH (n) WHERE n.space STARTS WITH $t DETACH DELETE n", t=f"{caller.tenant}/"
    )
    assert "" == vector_slot(connection) or apply_back(settings, connection, clock)
    for service in (old, new, back):
        service.journal.close()


def vector_slot(connection):
    return connection.fetch("vectors.state")[0]["slot"]


def apply_back(settings, connection, clock):
    """Over a third embedder, so that the vectors of later tests lie in the first place again."""
    for embedder in (OtherEmbedder(), HashEmbedder()):
        service = build(settings, connection, clock=clock, embedder=embedder)
        for _ in range(2):
            assert RunStatus.SUCCEEDED == service.runner.run("reembed", by_hand=True).status
    return vector_slot(connection) == ""


def write(service, caller, *contents):
    return service.writing.write([a_request(content) for content in contents], caller=caller)


def found(service, caller, query):
    bundle = service.recall.recall(RecallRequest(spaces=("user:ada",), query=query), caller=caller)
    return [(item.memory.content, item.explanation.vector is not None) for item in bundle.items]


def test_the_vectors_of_a_new_embedder_are_made_beside_the_old_and_taken_over(services, connection):
    old, new, caller = services
    write(
        old,
        caller,
        *[f"Memory number {number} is about tea." for number in range(150)],
        "Ada likes coffee. And milk.",
    )
    seen = []
    new.embedder.on_batch = lambda: seen.append(found(old, caller, "likes coffee")[0])

    assert 151 <= new.runner.run("reembed", dry_run=True).counts["embedded"]
    record = new.runner.run("reembed", by_hand=True)

    assert (RunStatus.SUCCEEDED, 1, 0) == (
        record.status,
        record.counts["switched"],
        record.counts["remaining"],
    )
    assert {("Ada likes coffee. And milk.", True)} == set(
        seen
    )  # the old one was searched all the while
    assert ("Ada likes coffee. And milk.", True) == found(new, caller, "likes coffee")[0]
    assert ("Ada likes coffee. And milk.", True) == found(old, caller, "likes coffee")[
        0
    ]  # until it stops
    check_schema(schema_state(connection), SETS, new.embedder)
    with pytest.raises(SchemaMismatch, match="graphmem jobs run reembed"):
        check_schema(schema_state(connection), SETS, old.embedder)

    write(old, caller, "Written by the old service.")
    write(new, caller, "Written by the new service.")
    again = new.runner.run("reembed", by_hand=True)

    assert (1, 0) == (again.counts["embedded"], again.counts["remaining"])
    assert again.counts["vectors_removed"] >= 151
    assert {("Written by the old service.", True), ("Written by the new service.", True)} <= set(
        found(new, caller, "written by the service")
    )
    assert [("other:100@1",)] == [
        tuple(row.values())
        for row in connection.run_statement(
            "MATCH (c:Chunk) WHERE c.space STARTS WITH $t RETURN DISTINCT c.embedder",
            t=f"{caller.tenant}/",
        )
    ]


def test_it_can_be_stopped_and_goes_on_without_doing_anything_twice(services):
    old, new, caller = services
    write(old, caller, *[f"Memory number {number}." for number in range(350)])
    new.embedder.on_batch = lambda: new.embedder.batches == 2 and new.runner.stop()

    first = new.runner.run("reembed", by_hand=True)
    assert RunStatus.PARTIAL == first.status
    assert 0 < first.counts["embedded"] < 350
    assert first.counts["remaining"] > 0

    fresh = build(new.settings, new.connection, clock=new.clock, embedder=OtherEmbedder())
    second = fresh.runner.run("reembed", by_hand=True)

    assert (RunStatus.SUCCEEDED, 1) == (second.status, second.counts["switched"])
    assert first.counts["remaining"] == second.counts["embedded"]


def test_what_changes_while_it_works_gets_the_vectors_of_its_new_text(services):
    old, new, caller = services
    write(old, caller, *[f"Memory number {number}." for number in range(3)])
    once = threading.Event()

    def change():
        if not once.is_set():
            once.set()
            old.writing.write([a_request("Now about chess.", uid="late")], caller=caller)
            old.writing.write([a_request("Now about rowing.", uid="late")], caller=caller)

    new.embedder.on_batch = change
    new.runner.run("reembed", by_hand=True)

    assert ("Now about rowing.", True) == found(new, caller, "rowing")[0]


def test_a_silent_model_switches_nothing_and_one_that_refuses_a_text_lets_it_wait(
    services, connection
):
    old, new, caller = services
    write(
        old, caller, *[f"Memory number {number}." for number in range(5)], "Refused by the model."
    )
    new.embedder.is_broken = True

    failed = new.runner.run("reembed", by_hand=True)
    assert (RunStatus.FAILED, "The model does not answer.") == (failed.status, failed.error)
    check_schema(schema_state(connection), SETS, old.embedder)

    new.embedder.is_broken = False
    new.embedder.refuses = "Refused"
    record = new.runner.run("reembed", by_hand=True)
    assert (1, 1) == (record.counts["switched"], record.counts["waiting"])
    assert record.degraded
    new.embedder.refuses = None
    assert (
        1
        == new.runner.run("embed_pending", space_key=f"{caller.tenant}/user:ada").counts["embedded"]
    )


def test_migrations_leave_the_new_index_alone(services, connection):
    _, new, _ = services
    new.runner.run("reembed", by_hand=True)

    state = apply_migrations(
        connection, SETS, embedder=new.embedder, clock=SystemClock(), holder="tests"
    )

    assert "other:100@1" == state.embedder
