from concurrent.futures import ThreadPoolExecutor

import pytest
from fakes import FixedClock

from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.errors import Conflict, SchemaMismatch
from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.store.leases import release_lease, take_lease, waited_lease
from graphmem.store.migrations import (
    SchemaState,
    apply_migrations,
    check_schema,
    core_migrations,
    schema_state,
)
from graphmem.store.schema import ChunkNode, ClaimKeyNode, EntityNode, MemoryNode, RevisionNode

NEWEST = core_migrations(CORE_STEPS).newest
SETS = [core_migrations(CORE_STEPS)]


def test_applying_again_and_from_several_processes_at_once_changes_nothing(connection):
    before = connection.run_statement("SHOW INDEXES YIELD name RETURN name ORDER BY name")

    def apply(number):
        return apply_migrations(
            connection,
            SETS,
            embedder=HashEmbedder(),
            clock=SystemClock(),
            holder=f"p{number}",
        )

    with ThreadPoolExecutor(4) as pool:
        states = list(pool.map(apply, range(4)))

    assert {NEWEST} == {state.version for state in states}
    assert before == connection.run_statement("SHOW INDEXES YIELD name RETURN name ORDER BY name")


def test_the_schema_remembers_the_embedder_of_its_vectors(connection):
    embedder = HashEmbedder()

    assert SchemaState(version=NEWEST, embedder=embedder.name, dimensions=384) == schema_state(
        connection
    )


def test_another_embedder_of_equal_size_is_refused_with_the_way_out():
    state = SchemaState(version=NEWEST, embedder="local:other", dimensions=384)

    with pytest.raises(SchemaMismatch, match=r"made by local:other.*Set GRAPHMEM_EMBEDDER back"):
        check_schema(state, SETS, HashEmbedder())


def test_a_newer_schema_is_refused():
    with pytest.raises(SchemaMismatch, match="install a newer graphmem"):
        check_schema(
            SchemaState(version=NEWEST + 1, embedder=None, dimensions=None), SETS, HashEmbedder()
        )


def test_an_older_schema_says_how_to_apply():
    with pytest.raises(SchemaMismatch, match="graphmem schema apply"):
        check_schema(SchemaState(version=0, embedder=None, dimensions=None), SETS, HashEmbedder())


@pytest.mark.parametrize("node", [MemoryNode, EntityNode, ClaimKeyNode, RevisionNode])
def test_what_neomodel_describes_is_what_the_constraints_cover(connection, node):
    rows = connection.run_statement(
        "SHOW CONSTRAINTS YIELD labelsOrTypes, properties, type"
        " WHERE type CONTAINS 'UNIQUENESS' RETURN labelsOrTypes[0] AS label, properties[0] AS"
        " property"
    )

    assert "key" in node.defined_properties()
    assert (node.__label__, "key") in {(row["label"], row["property"]) for row in rows}


def test_every_indexed_property_is_one_that_neomodel_describes(connection):
    described = {
        node.__label__: set(node.defined_properties())
        for node in (MemoryNode, ChunkNode, EntityNode)
    }
    rows = connection.run_statement(
        "SHOW INDEXES YIELD labelsOrTypes, properties RETURN labelsOrTypes, properties"
    )

    for row in rows:
        for label in row["labelsOrTypes"] or ():
            if label in described:
                assert set(row["properties"]) <= described[label]


def test_who_waits_for_a_lease_is_told_for_whom(connection):
    clock, name, told = FixedClock(), "waited-lease", []
    take_lease(connection, name, holder="a", clock=clock, seconds=60)

    def on_wait(holder):
        told.append(holder)
        clock.advance(seconds=61)  # it died

    with waited_lease(
        connection,
        name,
        holder="b",
        clock=clock,
        seconds=60,
        wait_seconds=30,
        on_wait=on_wait,
    ):
        assert ["a"] == told
        release_lease(connection, name, holder="a")  # which is no longer its own
        assert not take_lease(connection, name, holder="c", clock=clock, seconds=60).is_ours


def test_a_lease_has_one_holder_until_it_runs_out(connection):
    clock = FixedClock()
    name = "test-lease"

    assert take_lease(connection, name, holder="a", clock=clock, seconds=60).is_ours
    assert not take_lease(connection, name, holder="b", clock=clock, seconds=60).is_ours
    clock.advance(seconds=59)
    assert not take_lease(connection, name, holder="b", clock=clock, seconds=60).is_ours
    clock.advance(seconds=1)
    assert take_lease(connection, name, holder="b", clock=clock, seconds=60).is_ours
    release_lease(connection, name, holder="a")
    assert not take_lease(connection, name, holder="a", clock=clock, seconds=60).is_ours
    release_lease(connection, name, holder="b")
    assert take_lease(connection, name, holder="a", clock=clock, seconds=60).is_ours
    release_lease(connection, name, holder="a")


def test_waiting_for_a_lease_ends_with_a_sentence(connection):
    clock = FixedClock()
    take_lease(connection, "busy", holder="a", clock=clock, seconds=60)

    with (
        pytest.raises(Conflict, match="Another process has held the lease 'busy'"),
        waited_lease(connection, "busy", holder="b", clock=clock, seconds=1, wait_seconds=0.1),
    ):
        pass

    release_lease(connection, "busy", holder="a")
