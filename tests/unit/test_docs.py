"""What can be set, asked or go wrong has its entry in the docs."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from api.errors import HTTP_CODES
from graphmem.errors import GraphmemError
from graphmem.intake.manifests import RejectionCode
from graphmem.model.orchestrator_config import KEYS
from graphmem.model.policy import Policy
from graphmem.model.policy.overrides import policy_values
from graphmem.settings import SHORT_NAMES, Settings

DOCS = Path(__file__).parents[2] / "docs"
POLICY = (DOCS / "policy.md").read_text("utf-8")
OPERATIONS = (DOCS / "operations.md").read_text("utf-8")
ORCHESTRATORS = (DOCS / "orchestrators.md").read_text("utf-8")
HTTP_API = (DOCS / "http-api.md").read_text("utf-8")
INSIDE = {
    "internal",
    "settings_invalid",
    "embedded_server",
    "timeout",
    "too_many_requests",
}  # no answer has them


def codes():
    def below(kind):
        return {kind.code, *(code for child in kind.__subclasses__() for code in below(child))}

    return sorted((below(GraphmemError) | {code for code, _ in HTTP_CODES.values()}) - INSIDE)


ELSEWHERE = {
    "policy",
    "memory",
    "orchestrators",
    "variables",
}  # in pages of their own; the last is no setting


def section(page, heading):
    """The text below a heading, up to the next one of its level."""
    found = re.search(
        rf"^(#+) {re.escape(heading)}\n(.*?)(?=^\1 |\Z)", page, re.MULTILINE | re.DOTALL
    )
    assert found, heading
    return found[2]


def table(text, first):
    """The rows of the table whose first column has this head, as lists of cells."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    (start,) = [number for number, row in enumerate(rows) if row[0] == first]
    own = []
    for row in rows[start + 2 :]:
        if set("".join(row)) <= set("-: "):
            own.pop()  # the head of the next table
            break
        own.append(row)
    return own


SETTINGS = table(section(OPERATIONS, "Settings"), "Key in the file")
SETTING_KEYS = {key.strip() for row in SETTINGS for key in row[0].split(",")}


def short_names():
    """The short names of the settings' table; one with _ goes on from the one before."""
    for row in SETTINGS:
        before = ""
        for name in filter(None, (each.strip() for each in row[1].split(","))):
            whole = name
            if name.startswith("_"):
                stem = before.removeprefix("GRAPHMEM_").split("_")[0]
                whole = f"GRAPHMEM_{stem}{name}"
            before = whole
            yield whole


@pytest.mark.parametrize(
    "part", [each.name for each in fields(Settings) if each.name not in ELSEWHERE]
)
def test_every_setting_is_documented(part):
    names = {f"{part}.{setting.name}" for setting in fields(type(getattr(Settings(), part)))}

    assert names == {key for key in SETTING_KEYS if key.partition(".")[0] == part}


def test_every_row_of_the_settings_says_a_default_and_a_meaning():
    assert [] == [row for row in SETTINGS if not (row[0] and row[2] and row[3])]


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_memory_key_is_documented(key):
    assert f"| `memory.{key}` |" in ORCHESTRATORS


@pytest.mark.parametrize("code", list(RejectionCode))
def test_every_rejection_code_is_documented(code):
    assert f"| `{code}` |" in ORCHESTRATORS


@pytest.mark.parametrize("path", sorted(policy_values(Policy())))
def test_every_number_of_the_policy_is_documented(path):
    part, _, name = path.rpartition(".")
    assert re.search(rf"^\| {re.escape(part)} \|.*`{name}`", POLICY, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(SHORT_NAMES))
def test_every_short_name_is_documented(name):
    assert f"GRAPHMEM_{name}" in set(short_names())


@pytest.mark.parametrize("code", codes())
def test_every_error_code_is_documented(code):
    assert f"`{code}`" in HTTP_API


def test_every_decision_has_its_three_parts():
    for record in (DOCS / "decisions").glob("*.md"):
        text = record.read_text("utf-8")
        assert all(
            part in text for part in ("**Context.**", "**Decision.**", "**Consequences.**")
        ), record
