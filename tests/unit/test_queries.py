"""The loader of named queries."""

from collections import Counter
from pathlib import Path

import pytest

from graphmem.model.edge import EdgeType, LineageType
from graphmem.model.tokens import ALWAYS_MS, NEVER_MS
from graphmem.store.queries import CONSTANTS, QUERIES, QueryFileError, parse_queries

FILES = sorted((Path(__file__).parents[2] / "cypher").glob("*.cypher"))
GOOD = "// name: one\n// Says one.\n// parameters: a\nRETURN $a AS one; // not $b\n"
SHARED = "// fragment: live\n// Says which.\nm.status = 'active'\nAND m.space = $space\n"
FIRST = "// name: first\n// Says one.\n// parameters: space\n"
SECOND = "// name: second\n// Says two.\n// parameters: space\n"
NONE = "// name: one\n// Says one.\n// parameters:\nRETURN 1;\n"


def queries_of(files, *texts):
    return parse_queries(files, *texts).queries


def test_a_query_has_its_name_text_doc_and_parameters():
    query = queries_of({"noun": GOOD})["noun.one"]

    assert ("noun.one", "Says one.", frozenset({"a"})) == (query.name, query.doc, query.parameters)
    assert "RETURN $a AS one" == query.text


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
        queries_of({"noun": text})


def test_a_fragment_stands_where_queries_of_any_file_name_it():
    queries = queries_of(
        {
            "noun": FIRST + "MATCH (m:Memory)\nWHERE @live AND m.pinned\nRETURN m;\n",
            "shared": SHARED,
            "verb": SECOND + "MATCH (m:Memory {uid: ''}) WHERE @live RETURN m;\n",
        }
    )

    assert {"noun.first", "verb.second"} == set(queries)
    assert (
        "MATCH (m:Memory)\nWHERE m.status = 'active'\nAND m.space = $space AND m.pinned\nRETURN m"
    ) == queries["noun.first"].text
    assert "WHERE m.status = 'active'\nAND m.space = $space RETURN m" in queries["verb.second"].text


def test_a_fragment_is_set_in_as_far_as_the_line_that_names_it():
    query = queries_of({"noun": SHARED + FIRST + "CALL () {\n  @live\n}\nRETURN 1;"})["noun.first"]

    assert "CALL () {\n  m.status = 'active'\n  AND m.space = $space\n}\nRETURN 1" == query.text


def test_a_fragment_may_use_others():
    text = (
        "// fragment: row\n// Says row.\n[@uid, m.key]\n"
        "// fragment: uid\n// Says uid.\nm.uid\n"
        "// name: one\n// Says one.\n// parameters:\nMATCH (m) RETURN @row AS row;"
    )

    assert "MATCH (m) RETURN [m.uid, m.key] AS row" == queries_of({"noun": text})["noun.one"].text


def test_a_query_says_what_it_does_and_not_what_its_fragments_do():
    query = queries_of(
        {"noun": SHARED + FIRST + "// In two lines.\nMATCH (m) WHERE @live RETURN m;"}
    )

    assert "Says one. In two lines." == query["noun.first"].doc


def test_the_parameters_of_fragments_are_those_of_the_query():
    text = FIRST.replace("parameters: space", "parameters:") + "MATCH (m) WHERE @live RETURN m;"

    with pytest.raises(QueryFileError, match=r"noun\.first: declares \[\] and uses \['space'\]"):
        queries_of({"noun": SHARED + text})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FIRST + "RETURN @live;", r"noun\.first: there is no fragment or constant \['live'\]"),
        (SHARED + FIRST + "RETURN $space;", r"noun\.live: nobody uses it"),
        (SHARED + NONE, r"noun\.live: nobody uses it"),
        (SHARED + SHARED + FIRST + "RETURN @live;", r"noun\.live: there are two"),
        ("// fragment: live\n// Says which.\n" + FIRST + "RETURN @live;", r"noun\.live: is empty"),
        ("// fragment: live\nm.uid\n" + FIRST + "RETURN @live;", r"noun\.live: does not say"),
        (
            SHARED.replace("which.\n", "which.\n// parameters: space\n") + FIRST + "RETURN @live;",
            r"noun\.live: only a query says its parameters",
        ),
        (
            SHARED.replace("which.\n", "which.\n// also in slot: _b\n") + FIRST + "RETURN @live;",
            r"noun\.live: only a query is there in two slots",
        ),
        (
            NONE.replace("1", "@NEVR_MS"),
            r"noun\.one: there is no fragment or constant \['NEVR_MS'\]",
        ),
    ],
)
def test_a_fragment_that_is_not_what_files_say_is_refused_with_the_name(text, problem):
    with pytest.raises(QueryFileError, match=problem):
        queries_of({"noun": text})


def test_one_name_is_one_fragment_in_all_files():
    with pytest.raises(QueryFileError, match=r"verb\.live: there are two fragments"):
        queries_of({"noun": SHARED + FIRST + "MATCH (m) WHERE @live RETURN m;", "verb": SHARED})


@pytest.mark.parametrize("others", ["egg", "hen"])
def test_a_fragment_that_uses_itself_is_refused(others):
    text = (
        f"// fragment: hen\n// Says hen.\n@{others}\n"
        "// fragment: egg\n// Says egg.\n@hen\n"
        "// name: one\n// Says one.\n// parameters:\nRETURN @egg;"
    )

    with pytest.raises(QueryFileError, match=r"noun\.(hen|egg): uses itself, by way of .*hen"):
        queries_of({"noun": text})


def test_a_constant_stands_for_what_the_model_says_and_is_not_declared():
    text = NONE.replace(
        "RETURN 1", "MATCH ()-[e:@EDGE_TYPES|NEXT]->() RETURN @NEVER_MS, @ALWAYS_MS"
    )

    assert (
        f"MATCH ()-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF|NEXT]->() "
        f"RETURN {NEVER_MS}, {ALWAYS_MS}"
    ) == queries_of({"noun": text})["noun.one"].text


def test_no_file_spells_a_constant_out():
    texts = "".join(path.read_text("utf-8") for path in FILES)

    assert {
        "EDGE_TYPES",
        "LINEAGE_TYPES",
        "NEVER_MS",
        "ALWAYS_MS",
        "MADE_UID",
        "SHARED_NAME",
        "WHOLE_EVERY",
    } == set(CONSTANTS)
    assert set(EdgeType) == set(CONSTANTS["EDGE_TYPES"].split("|"))
    assert set(LineageType) == set(CONSTANTS["LINEAGE_TYPES"].split("|"))
    assert [] == [value for value in CONSTANTS.values() if value in texts]


def test_nothing_is_left_to_put_in():
    assert [] == [name for name, query in QUERIES.items() if "@" in query.text]


def test_no_eight_lines_stand_twice():
    runs = Counter(
        run
        for path in FILES
        for lines in [_code(path)]
        for run in zip(*(lines[start:] for start in range(8)), strict=False)
    )

    assert [] == [run for run, times in runs.items() if times > 1]


def test_a_line_of_cypher_has_at_most_120_characters():
    assert [] == [
        (path.name, line)
        for path in FILES
        for line in path.read_text("utf-8").splitlines()
        if len(line) > 120
    ]


def test_the_packaged_queries_are_there():
    assert {"recall.candidates", "writes.save_memories", "service.ping"} <= set(QUERIES)


def test_a_query_about_vectors_is_there_for_both_places():
    text = (
        "// name: near\n// Says one.\n// parameters: v\n// also in slot: _b\n"
        "MATCH (c) SEARCH c IN (VECTOR INDEX chunk_embedding FOR $v LIMIT 1) RETURN c.embedding;"
    )

    queries = queries_of({"noun": text})

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


def test_a_fragment_about_vectors_is_there_for_both_places():
    text = (
        "// fragment: vectors\n// Says which.\nc.embedding\n"
        "// name: near\n// Says one.\n// parameters:\n// also in slot: _b\n"
        "MATCH (c) RETURN @vectors;"
    )

    queries = queries_of({"noun": text})

    assert "MATCH (c) RETURN c.embedding" == queries["noun.near"].text
    assert "MATCH (c) RETURN c.embedding_b" == queries["noun.near_b"].text


def _code(path):
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def test_the_files_of_a_room_may_use_the_fragments_of_the_core():
    core = parse_queries({"noun": SHARED + FIRST + "MATCH (m) WHERE @live RETURN m;"})
    queries = queries_of({"room": FIRST + "MATCH (m) WHERE @live RETURN m;"}, core.texts)

    assert core.queries["noun.first"].text == queries["room.first"].text
