"""A process that is killed while it brings the schema up to date: the next one goes on."""

import subprocess
import sys
from dataclasses import replace
from itertools import count

import pytest
from builders import a_request

from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.errors import SchemaMismatch
from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.model.entity import EntityRef
from graphmem.model.source import Source
from graphmem.store.migrations import Migration, apply_migrations, core_migrations, schema_state

SETS = [core_migrations(CORE_STEPS)]
# Brings the schema up to date and kills itself after so many statements; says how many there were.
# Its clock is late, so that nobody waits for the lease that it leaves.
MIGRATES = """
import os, signal, sys
from datetime import UTC, datetime
from graphmem.adapters.embedders import HashEmbedder
from graphmem.errors import SchemaMismatch
from graphmem.gateway.migration_steps import CORE_STEPS
from graphmem.store.connection import Connection
from graphmem.store.migrations import apply_migrations, core_migrations

uri, user, password, most = sys.argv[1:]
done = 0

def counted(run):
    def wrapper(self, *arguments, **options):
        global done
        found = run(self, *arguments, **options)
        done += 1
        if done == int(most):
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    return wrapper

for name in ("run_long_statement", "run_named", "write"):
    setattr(Connection, name, counted(getattr(Connection, name)))

class Late:
    def now(self):
        return datetime(2020, 1, 1, tzinfo=UTC)

connection = Connection(uri, user=user, password=password)
apply_migrations(
    connection,
    [core_migrations(CORE_STEPS)],
    embedder=HashEmbedder(),
    clock=Late(),
    holder="killed",
)
print(done)
"""


def migrate_in_a_process(neo4j_address, *, killed_after):
    """Its exit status, and how many statements it ran if it came to its end."""
    done = subprocess.run(
        [sys.executable, "-c", MIGRATES, *neo4j_address, str(killed_after)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip()


def without_schema(connection):
    """Take away all that migrations made, and what stands for their results."""
    for row in connection.run_statement("SHOW CONSTRAINTS YIELD name RETURN name"):
        connection.run_statement("DROP CONSTRAINT $name", name=row["name"])
    for row in connection.run_statement("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
        connection.run_statement("DROP INDEX $name IF EXISTS", name=row["name"])
    connection.run_statement("MATCH (n:Schema|Lease|Space) DETACH DELETE n")
    connection.run_statement("MATCH (c:Chunk) REMOVE c.valid_from, c.valid_until")
    connection.run_statement("MATCH (:Memory)-[x:MENTIONS]->() REMOVE x.space, x.begins, x.ends")


def schema_of(connection):
    rows = connection.run_statement(
        "SHOW INDEXES YIELD name, type, state, owningConstraint"
        " RETURN name, type, state, owningConstraint ORDER BY name"
    )
    return [tuple(row.values()) for row in rows]


def graph_of(house):
    """All memories of the tenant with what hangs on them."""
    return house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " OPTIONAL MATCH (c:Chunk)-[:OF]->(m) WITH m, c ORDER BY c.key"
        " WITH m, collect([c.key, c.valid_from, c.valid_until, c.status]) AS chunks"
        " OPTIONAL MATCH (m)-[x:MENTIONS]->(e) WITH m, chunks, x, e ORDER BY e.key"
        " RETURN m.key, properties(m), chunks, collect([e.key, properties(x)]) ORDER BY m.key"
    )


@pytest.fixture
def filled(house, connection):
    """A house with memories of all that migrations touch; the schema is whole afterwards."""
    house.write(
        *(
            a_request(
                f"Tea fact {n}.",
                uid=f"m-{n}",
                entities=(EntityRef(key="project:tea"),),
                source=Source(key=f"k-{n}", conversation_id="c"),
            )
            for n in range(40)
        )
    )
    house.graphmem.journal.flush()
    without_schema(connection)  # also that of other tests' rooms
    apply(connection)
    yield house
    without_schema(connection)
    apply(connection)


def apply(connection):
    return apply_migrations(
        connection, SETS, embedder=HashEmbedder(), clock=SystemClock(), holder="next"
    )


def check_killed_after(number, filled, connection, neo4j_address):
    """Whether the kill came before the end; what it left is brought to the same end."""
    expected, schema = graph_of(filled), schema_of(connection)
    without_schema(connection)
    status, _ = migrate_in_a_process(neo4j_address, killed_after=number)

    apply(connection)

    assert schema == schema_of(connection)
    assert SETS[0].newest == schema_state(connection).version
    assert expected == graph_of(filled)
    key = f"{filled.caller.tenant}/user:ada"
    counts = filled.graphmem.runner.run("integrity", space_key=key).counts
    assert {"inspected": 40} == {name: n for name, n in counts.items() if n and name != "spaces"}
    return status != 0


@pytest.mark.parametrize("number", [4, 23, 40])
def test_after_a_kill_the_next_start_brings_the_schema_to_its_end(
    number, filled, connection, neo4j_address
):
    assert check_killed_after(number, filled, connection, neo4j_address)


@pytest.mark.torture
def test_after_a_kill_behind_each_statement(filled, connection, neo4j_address):
    for number in count(1):
        if not check_killed_after(number, filled, connection, neo4j_address):
            assert number > 50
            return


@pytest.mark.parametrize("name", ["memory_key", "lease_name", "source_key"])
def test_an_index_that_lost_its_constraint_stands_in_nobodys_way(name, filled, connection):
    schema = schema_of(connection)
    without_schema(connection)
    label, key = {
        "memory_key": ("Memory", "key"),
        "lease_name": ("Lease", "name"),
        "source_key": ("Source", "key"),
    }[name]
    connection.run_statement(f"CREATE INDEX {name} FOR (n:{label}) ON (n.{key})")

    apply(connection)

    assert schema == schema_of(connection)


def test_a_migration_that_the_database_refuses_is_told_in_a_sentence(filled, connection):
    broken = Migration(number=10_000, name="broken", statements=("NO CYPHER",))
    sets = [replace(SETS[0], migrations=(*SETS[0].migrations, broken))]

    with pytest.raises(SchemaMismatch, match=r"The migration graphmem broken failed: Neo\.Client"):
        apply_migrations(
            connection, sets, embedder=HashEmbedder(), clock=SystemClock(), holder="next"
        )
