"""The tables of docs/conformance name tests that exist, and leave out no requirement."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "docs" / "conformance").glob("*.md"))
ROW = re.compile(r"^\| (?P<requirement>[^|]+?) \| (?P<tests>`.+`) \|$", re.MULTILINE)
ASKED_BY_002 = 6 + 7 + 3  # unit tests, integration tests, smoke tests
FAILURE_MODES = 4


def rows(table):
    return [
        (row["requirement"], re.findall(r"`([^`]+)`", row["tests"]))
        for row in ROW.finditer(table.read_text("utf-8"))
    ]


def names_in(path):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("requirement", "named"),
    [pytest.param(*row, id=f"{table.stem}: {row[0]}") for table in TABLES for row in rows(table)],
)
def test_a_requirement_names_tests_that_exist(requirement, named):
    assert named
    for name in named:
        path, _, test = name.partition("::")
        assert test in names_in(path), f"{requirement}: {name}"


def test_the_table_of_002_has_every_test_that_it_asks_for_under_its_name():
    text = (ROOT / "docs" / "conformance" / "002.md").read_text("utf-8")
    asked = ROW.findall(text.partition("## Tests that it asks for")[2].partition("\n## ")[0])
    failures = ROW.findall(text.partition("## Failure modes")[2].partition("\n## ")[0])

    assert (ASKED_BY_002, FAILURE_MODES) == (len(asked), len(failures))
    for requirement, named in asked:
        words = re.sub(r"[^a-z0-9]+", "_", requirement.lower()).strip("_")
        assert f"::test_{words}`" in named
