"""Nodes to records and back; inflate and deflate need no server."""

from datetime import timedelta

from builders import NOW, a_memory
from neo4j.graph import Graph, Node
from neo4j.time import DateTime

from graphmem.model.entity import EntityRef
from graphmem.model.source import Source, SourceType
from graphmem.store.mapping import chunk_copies, memory_from_node, memory_labels, memory_properties
from graphmem.store.schema import ChunkNode, MemoryNode


def stored(memory):
    properties = {
        name: DateTime.from_native(value) if hasattr(value, "tzinfo") else value
        for name, value in memory_properties(memory).items()
        if value is not None
    }
    return Node(Graph(), "4:x:1", 1, ["Memory", "Fact"], properties)


def test_a_memory_comes_back_as_it_was():
    memory = a_memory(
        actor="Ada",
        context="around",
        entities=(EntityRef(key="person:ada", label="Ada"),),
        logical_key="k",
        pinned=True,
        tags=("a",),
        metadata={"n": {"x": [1, None]}},
        source=Source(type=SourceType.INGEST_FILE, path="/a/b.md", key="s"),
        occurred_at=NOW - timedelta(days=1, microseconds=3),
        valid_from=NOW,
        expires_at=NOW + timedelta(days=1),
        status_at=NOW,
    )

    assert memory == memory_from_node(stored(memory), [("person:ada", "Ada")])


def test_the_smallest_memory_comes_back_too():
    assert a_memory() == memory_from_node(stored(a_memory()))


def test_neomodel_describes_exactly_the_properties_that_are_stored():
    index = {
        "search_text",
        "search_context",
        "search_actor",
        "space_token",
        "native",
        "turns",
        "taken_words",
        "statement",
        "asserts",
        "memory_kind",
        "native_category",
        "unchecked",
        "feedback_up",
        "feedback_down",
        "negative_hits",
    }

    assert (
        set(MemoryNode.defined_properties(aliases=False, rels=False))
        == set(memory_properties(a_memory())) | index
    )
    assert set(chunk_copies(a_memory())) < set(
        ChunkNode.defined_properties(aliases=False, rels=False)
    )


def test_a_memory_without_vectors_is_labelled_as_waiting():
    assert ["Fact"] == memory_labels(a_memory())
    assert ["Fact", "EmbedPending"] == memory_labels(a_memory(embedded=False))
