"""Every named query, on the real server."""

import re

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


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_can_be_explained(connection, second_slot, name):
    query = QUERIES[name]
    cypher_25 = query.text.startswith("CYPHER 25")
    text = (
        f"CYPHER 25 EXPLAIN {query.text.removeprefix('CYPHER 25')}"
        if cypher_25
        else f"EXPLAIN {query.text}"
    )

    connection.run_statement(text, **dict.fromkeys(query.parameters))


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
