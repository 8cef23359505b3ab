"""The loader of named queries."""

import pytest

from graphmem.store.queries import QUERIES, QueryFileError, parse_queries

GOOD = "// name: one\n// Says one.\n// parameters: a\nRETURN $a AS one; // not $b\n"


def test_a_query_has_its_name_text_doc_and_parameters():
    query = parse_queries("noun", GOOD)["noun.one"]

    assert ("noun.one", "Says one.", frozenset({"a"})) == (query.name, query.doc, query.parameters)
    assert query.text.startswith("RETURN $a AS one")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD + GOOD, "two of that name"),
        ("// name: one\n// Says one.\n// parameters:\n", "is empty"),
        ("// name: one\n// parameters:\nRETURN 1;", "does not say"),
        ("// name: one\n// Says.\n// parameters: a\nRETURN 1;", "declares"),
        ("// name: one\n// Says.\n// parameters:\nRETURN $a;", "declares"),
    ],
)
def test_a_malformed_file_is_refused_with_the_name(text, problem):
    with pytest.raises(QueryFileError, match=rf"noun\.one.*{problem}"):
        parse_queries("noun", text)


def test_the_packaged_queries_are_there():
    assert {"recall.candidates", "writes.create_memories", "service.ping"} <= set(QUERIES)


def test_a_query_about_vectors_is_there_for_both_places():
    text = (
        "// name: near\n// Says one.\n// parameters: v\n// also in slot: _b\n"
        "MATCH (c) SEARCH c IN (VECTOR INDEX chunk_embedding FOR $v LIMIT 1) RETURN c.embedding;"
    )

    queries = parse_queries("noun", text)

    assert {"noun.near", "noun.near_b"} == set(queries)
    assert "VECTOR INDEX chunk_embedding FOR" in queries["noun.near"].text
    assert "VECTOR INDEX chunk_embedding_b FOR" in queries["noun.near_b"].text
    assert queries["noun.near_b"].text.endswith("RETURN c.embedding_b")
    assert {"Says one."} == {query.doc for query in queries.values()}


def test_no_query_names_only_one_of_the_places():
    named = {name for name, query in QUERIES.items() if "chunk_embedding" in query.text}

    assert {name.removesuffix("_b") for name in named} == {
        name for name in named if not name.endswith("_b")
    }
