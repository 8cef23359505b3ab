"""Every named query, on the real server."""

import re
from collections.abc import Iterator

import neo4j
import pytest

from graphmem.store.queries import QUERIES

_MEMORY = re.compile(r":(Memory|Chunk|EmbedPending)\b|memory_text|chunk_embedding")
_SCHEMA = re.compile(
    r"\b(CREATE VECTOR|DROP) INDEX\b"
)  # an index holds every space, and filters within
_SPACE = {
    "space",
    "spaces",
    "space_key",
    "space_keys",
    "space_rows",
    "space_prefix",
    "space_prefixes",
    "space_patterns",
    "space_part",
    "other_spaces",
    "claims",
    "conversations",
}


@pytest.fixture(scope="module")
def second_slot(connection):
    """The second place for vectors, which is there only while an embedder is changed."""
    connection.run_named("vectors.create_index_b", dimensions=384)
    yield
    connection.run_named("vectors.drop_index_b")


# what is counted or removed as a whole, or has as many nodes as there are jobs and keys
_WHOLE = {
    "governance.forget_tenant",
    "jobs.count_older_runs",
    "jobs.count_runs",
    "jobs.count_runs_before",
    "jobs.forget_older_runs",
    "jobs.forget_runs",
    "jobs.states",
    "keys.exist",
    "service.schema",
    "spaces.outdated",
    "spaces.policies",
    "traces.count",
    "vectors.lacking_count",
    "vectors.mark_waiting",
    "vectors.remove_others",
}


@pytest.fixture(scope="module")
def driver(connection, neo4j_address) -> Iterator[neo4j.Driver]:
    uri, *auth = neo4j_address
    with neo4j.GraphDatabase.driver(uri, auth=tuple(auth)) as opened:
        yield opened


def operators(plan) -> Iterator[str]:
    """The names of all operators of a plan."""
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_can_be_explained_and_reads_by_an_index(driver, second_slot, name):
    text = QUERIES[name].text
    version = "CYPHER 25" if text.startswith("CYPHER 25") else ""
    explained = f"{version} EXPLAIN {text.removeprefix(version)}"

    plan = driver.execute_query(explained, dict.fromkeys(QUERIES[name].parameters)).summary.plan

    scans = {each for each in operators(plan) if "Scan" in each}
    assert not scans or name in _WHOLE or name.startswith("schema.")


def test_what_may_read_a_whole_label_is_still_there():
    assert set(QUERIES) >= _WHOLE


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, query in QUERIES.items()
        if _MEMORY.search(query.text)
        and not _SCHEMA.search(query.text)
        and not name.startswith("schema.")  # migrations, which work through all spaces
    ),
)
def test_every_query_that_touches_memories_has_a_space_parameter(name):
    assert _SPACE & QUERIES[name].parameters


@pytest.mark.parametrize(
    "name", sorted(name for name, query in QUERIES.items() if "LIMIT" in query.text)
)
def test_every_bounded_list_has_a_total_order(name):
    assert "ORDER BY" in QUERIES[name].text or "_uid" in name or name.endswith("by_uid")
