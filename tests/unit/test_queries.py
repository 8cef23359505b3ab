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
